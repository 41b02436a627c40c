"""Whatever counts the highest k̄ items also asks for the next, whose count is the cut-off.

Without it, nothing would stand in the way of k̄ items that are as frequent as others left out.
"""

import numpy as np
import pyarrow as pa
import pytest

import headcount
from headcount.engines import Session
from headcount.inputs import Request, open_source
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.auto import Auto
from headcount.privacy.mechanisms.auto import choice as choosing
from headcount.privacy.mechanisms.pcr import PCR
from headcount.privacy.mechanisms.pcr.settings import Settings, settings_for
from headcount.privacy.mechanisms.rationed import Rationed
from headcount.privacy.randomness import SeededEntropy
from headcount.views.engine_view import EngineView

K_BAR = 10
BUDGET = Budget(rho=0.5)
USERS = 800
SETTINGS = {
    "auto": Settings(k_bar=K_BAR, ranks=(1, K_BAR)),
    "pcr": settings_for("pcr", k_bar=K_BAR),
    "pcr-paper": settings_for("pcr-paper", k_bar=K_BAR),
}


def released_from_events(method, items):
    rows = [(user, f"i{item}") for item in range(items) for user in range(USERS)]
    events = pa.table({"who": [user for user, _ in rows], "what": [item for _, item in rows]})
    how = PCR(SETTINGS[method], BUDGET)
    if method == "auto":
        how = Auto(how, Rationed(how.r, BUDGET), BUDGET)
    with Session() as session:
        gate = Gate(BUDGET.whole, SeededEntropy(1))
        view = EngineView(open_source(session, events, Request()), "who", ["what"])
        return how.prepare(view, gate, lambda said: None)().items.num_rows


def released_from_counts(method, items):
    counts = {f"i{item}": USERS for item in range(items)}
    more = {"method": method, "candidates": K_BAR, "unsafe_seed": 1}
    return len(headcount.release_counts(counts, budget=BUDGET, **more))


@pytest.mark.parametrize("method", SETTINGS)
@pytest.mark.parametrize("released", [released_from_events, released_from_counts])
def test_items_that_are_as_frequent_as_one_left_out_are_not_released(method, released, monkeypatch):
    nothing = choosing.Promises(np.ones(1), np.zeros(1), 1)
    monkeypatch.setattr(choosing, "promises", lambda *given: nothing)  # `auto` goes on with pcr
    assert released(method, K_BAR + 1) == 0
    assert released(method, K_BAR) > K_BAR // 2
