"""Audits run on the same real engines as the tests of engines."""

import numpy as np
import pytest

from headcount.privacy.mechanisms.rationed.hidden import HiddenLosers, HiddenUsers
from tests.engines import servers


@pytest.fixture(autouse=True)
def _auditor():
    servers.needs("jax_privacy.auditing")


@pytest.fixture(autouse=True)
def _nobody_hides(monkeypatch):
    """Items with as few users as a canary's are released: nobody is taken to hide among them.

    Which items come out follows from noisy answers, and is not what is audited.
    """

    def none(self, most_lost):
        return 0.0 * most_lost, 0.0 * most_lost

    def no_cases(self):
        return [(1.0, np.zeros(self.asked[0].noisy.size))]

    monkeypatch.setattr(HiddenLosers, "losses", none)
    monkeypatch.setattr(HiddenUsers, "cases", no_cases)
