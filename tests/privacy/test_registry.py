"""Mechanisms are known by one registry: a new one is a class, and a line."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import headcount as hc
from headcount.privacy.accounting.sensitivity import EachByOne
from headcount.privacy.mechanisms import (
    DEFAULT,
    Mechanism,
    MechanismResult,
    mechanism,
    names,
    register,
)

PACKAGE = Path(hc.__file__).parent
EVENTS = pa.table({"u": range(300), "i": ["a"] * 200 + ["b"] * 100})


class Tiny(Mechanism):
    """Releases the items that were in the test's own list, with noise on their counts."""

    name = "tiny"
    summary = "a mechanism from outside the package"

    def __init__(self, r, budget):
        self._r, self.budget = r, budget

    @classmethod
    def of(cls, options, budget):
        return cls(options.relative_error or 0.1, budget)

    @property
    def r(self):
        return self._r

    def to_dict(self):
        return {"r": self.r}

    def prepare(self, view, gate, progress):
        top = view.highest_counts(2)

        def run():
            part = gate.part(self.budget.for_filter)
            noisy = part.noisy(lambda: top.values, EachByOne(2), 5.0).astype(np.float64)
            places, sigmas = np.arange(noisy.size), np.full(noisy.size, 5.0)
            return MechanismResult.of_counts(
                items=top.named(places),
                estimates=noisy,
                errors=sigmas,
                noisy=noisy,
                sigmas=sigmas,
                spent=part.spent,
                settings=self.to_dict(),
            )

        return run


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr("headcount.privacy.mechanisms._registered", dict(_all()))
    return register(Tiny)


def _all():
    return {name: mechanism(name) for name in names()}


def test_a_mechanism_from_outside_releases(tiny):
    made = hc.release(EVENTS, user="u", item="i", budget=hc.Budget(rho=1), method="tiny")
    assert sorted(made.table["i"].to_pylist()) == ["a", "b"]
    assert made.guarantee.method == "tiny"
    assert made.settings == {"r": 0.1}


def test_a_mechanism_from_outside_is_forecast(tiny):
    forecast = hc.plan(budget=hc.Budget(rho=1), like=EVENTS, user="u", item="i", method="tiny")
    assert forecast.method == "tiny"
    assert forecast.released == (2, 2, 2)
    assert forecast.chosen == ()


def test_a_mechanism_without_a_proof_is_charged_in_full(tiny, tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    asked = {"user": "u", "item": "i", "budget": hc.Budget(rho=0.5), "method": "tiny"}
    hc.release(EVENTS, **asked, ledger=ledger, dataset="shop")
    assert ledger.books().left("shop").rho == 0.5
    with pytest.raises(hc.SettingsError, match="the method tiny needs events"):
        hc.release_counts({"a": 9}, budget=hc.Budget(rho=1), method="tiny")


def test_a_name_is_taken_once(tiny):
    with pytest.raises(ValueError, match="already"):
        register(Tiny)
    with pytest.raises(hc.SettingsError, match="there is no method 'none'; there are: auto, pcr"):
        mechanism("none")


def test_the_default_is_there_and_all_say_what_they_are():
    assert DEFAULT in names()
    assert all(kind.summary and kind.name == name for name, kind in _all().items())


def test_no_other_module_compares_the_name_of_a_mechanism():
    """What depends on which it is belongs into its class."""
    quoted = "|".join(map(re.escape, names()))
    compared = re.compile(rf"""(==|!=|\bin\b|\bcase\b) *\(? *["']({quoted})["']""")
    found = [
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for path in PACKAGE.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if compared.search(line)
    ]
    assert found == []
    assert compared.search('if method == "auto":')
