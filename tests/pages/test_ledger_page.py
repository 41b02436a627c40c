"""The page of a ledger says what the ledger says."""

from datetime import UTC, datetime, timedelta

import pytest

from headcount import Budget
from headcount.errors import BudgetRefusedError
from headcount.ledger import Ledger
from headcount.ledger.entries import Kind
from headcount.pages import ledger_page
from headcount.pages.ledger_page import KINDS
from tests.outputs.releases import BUDGET, release_of
from tests.pages.made import NASTY
from tests.pages.parsed import Page

START = datetime(2026, 1, 1, tzinfo=UTC)
ASKED = {"source": "events.parquet", "user": "u", "item": ["i"], "method": "pcr"}


class Days:
    """A clock that goes on by a day each time it is asked."""

    def __init__(self):
        self.now = START

    def __call__(self):
        self.now += timedelta(days=1)
        return self.now


def used_ledger(path, *, reason="more"):
    """Return a ledger with two budgets, charges of two actors, a cap and an open reservation."""
    clock = Days()
    ada = Ledger(path, actor="ada", clock=clock)
    bob = Ledger(path, actor="bob <b>", clock=clock)
    ada.init("searches", budget=Budget(rho=5, delta=1e-5))
    ada.init("old", "new", budget=Budget(rho=2, delta=1e-5), group="plays")
    ada.cap("searches", "bob <b>", rho=3)
    for ledger in (ada, bob):
        reservation = ledger.reserve("searches", BUDGET, ASKED, "u")
        ledger.settle(reservation, release_of({"i": ["a"]}), None, "u")
    ada.extend("searches", rho=1, reason=reason)
    bob.reserve("searches", BUDGET, ASKED, "u")
    ada.retire("old", reason="ended")
    return ada, clock


@pytest.fixture
def ledger(tmp_path):
    return used_ledger(tmp_path / "budget.db")


def text_of(ledger, clock):
    return Page(ledger_page(ledger.log(), clock()).decode())


def test_budgets_actors_and_what_is_left(ledger):
    page = text_of(*ledger)
    for words in (
        "searches",
        "Shared by old , new .",
        "No more releases of old .",
        # pcr is charged what it spent, which is half of its budget
        "ρ : 1 of 6 spent (16.7 %), 1 reserved, 4 left",
        "ρ : 0 of 2 spent (0 %), 2 left",
        "Reserved but not yet charged: entry 9.",
        "searches ada 1 0.5 5e-7 none",
        "ρ limits how much the releases may depend on any one person",
        "reserve sets aside the most that a release can cost, before it runs",
        "searches bob <b> 1 1.5",
        "ρ = 3",
        "All of them, the newest first",
    ):
        assert words in page.text, words


def test_a_closed_budget_says_what_was_not_spent(ledger):
    ledger, clock = ledger
    ledger.retire("new", reason="ended")
    page = text_of(ledger, clock)
    assert "ρ : 0 of 2 spent (0 %), closed; 2 unspent" in page.text
    assert "Nothing: this budget is closed." in page.text


def test_every_kind_of_entry_is_explained():
    assert set(KINDS) == set(Kind)


@pytest.mark.parametrize(
    ("later", "ends"),
    [
        (timedelta(days=40), ("2026-01-01", "2026-02-10")),
        (timedelta(hours=5), ("2026-01-01 00:00", "2026-01-01 05:00")),
        (timedelta(seconds=9), ("2026-01-01 00:00:00", "2026-01-01 00:00:09")),
    ],
)
def test_the_ends_of_a_chart_are_told_apart(tmp_path, later, ends):
    ledger = Ledger(tmp_path / "budget.db", actor="ada", clock=lambda: START)
    ledger.init("searches", budget=Budget(rho=5, delta=1e-5))
    page = Page(ledger_page(ledger.log(), START + later).decode())
    assert [word for word in page.words if word.startswith("2026")][:2] == list(ends)


def test_what_is_said_to_fit_fits_and_no_more(ledger):
    ledger, clock = ledger
    assert (
        "One release with --rho 4, or --epsilon 18.08, with --delta 1e-6 ."
        in text_of(ledger, clock).text
    )
    assert "Or 4 more like the last one." in text_of(ledger, clock).text
    with pytest.raises(BudgetRefusedError):
        ledger.reserve("searches", Budget(rho=4.01), ASKED, "u")
    ledger.init("tiny", budget=Budget(rho=1, delta=1e-5))
    ledger.reserve("tiny", BUDGET, ASKED, "u")
    assert "Nothing more would fit." in text_of(ledger, clock).text


def test_names_and_reasons_are_inert(tmp_path):
    plain = text_of(*used_ledger(tmp_path / "plain.db"))
    for number, reason in enumerate(NASTY[1:4]):
        page = text_of(*used_ledger(tmp_path / f"{number}.db", reason=reason))
        assert page.elements == plain.elements
        assert page.scripts == []
        assert page.addresses == ["#content"]


def test_a_dataset_that_joins_takes_its_history_along(tmp_path):
    clock = Days()
    ledger = Ledger(tmp_path / "budget.db", actor="ada", clock=clock)
    ledger.init("a", budget=Budget(rho=2, delta=1e-5))
    ledger.init("b", budget=Budget(rho=4, delta=1e-5), group="g")
    ledger.reserve("a", BUDGET, ASKED, "u")
    ledger.join("a", "g", reason="the same people")
    page = text_of(ledger, clock)
    assert "ρ : 0 of 4 spent (0 %), 1 reserved, 3 left" in page.text
    assert page.text.count("over time") == 1
