"""What a ledger does, in SQLite and in PostgreSQL."""

from fractions import Fraction

import pyarrow as pa
import pytest

import headcount as hc
from headcount.ledger.entries import Kind
from headcount.privacy.mechanisms import names, pays_what_it_gets
from tests.ledger.conftest import COUNTS, kinds, release


def test_a_release_is_reserved_and_settled_at_what_it_spent(opened):
    ledger = opened()
    result = release(ledger)
    assert kinds(ledger) == ["open", "reserve", "settle"]
    _, reserved, settled = ledger.log()
    assert reserved.facts["rho"] == "1/10"
    assert float(Fraction(settled.facts["rho"])) == result.spent["rho"]
    assert float(Fraction(settled.facts["delta"])) == result.spent["delta"]
    assert settled.facts["guarantee"] == result.guarantee.to_dict()["guarantee"]
    assert settled.time == "2026-01-31T12:00:00+00:00"
    assert settled.actor == "owner"
    balance = ledger.books().balance("shop")
    assert float(balance.spent.rho) == result.spent["rho"] < 0.1
    assert balance.reserved.rho == 0
    assert ledger.verify().entries == 3


def test_a_method_of_which_nothing_is_proved_is_charged_in_full(opened):
    ledger = opened()
    result = release(hc.Ledger(ledger._where))
    reservation = ledger.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})
    object.__setattr__(result.guarantee, "method", "another")
    ledger.settle(reservation, result, None)
    assert ledger.log()[-1].facts["rho"] == "1/10"


@pytest.mark.parametrize("method", names())
def test_every_method_pays_what_it_got(opened, method):
    ledger = opened()
    events = pa.table({"u": range(300), "i": ["common"] * 290 + ["rare"] * 10})
    bound = {"max_items_per_user": 1} if method == "threshold" else {}
    asked = {"user": "u", "item": "i", "budget": hc.Budget(rho=1), "method": method, **bound}
    result = hc.release(events, **asked, ledger=ledger, dataset="shop")
    settled = ledger.log()[-1].facts
    assert float(Fraction(settled["rho"])) == result.spent["rho"] <= 1
    assert float(Fraction(settled["delta"])) == result.spent["delta"] <= 1e-6


@pytest.mark.parametrize("amount", ["rho", "delta"])
def test_a_release_that_spent_more_than_was_reserved_is_not_settled(opened, amount):
    """No filter grants that; if one did, the ledger would not hide it."""
    ledger = opened()
    result = release(hc.Ledger(ledger._where))
    reservation = ledger.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})
    result.spent[amount] *= 100
    with pytest.raises(hc.LedgerUnavailableError, match="more than was reserved"):
        ledger.settle(reservation, result, None)
    assert kinds(ledger)[-1] == "reserve"


def test_which_methods_pay_what_they_get():
    """Each needs a proof in ledger.md; a method that joins them needs it first."""
    proven = ("auto", "pcr", "pcr-paper", "pcr-noise-reduction", "rationed", "threshold")
    assert [name for name in names() if pays_what_it_gets(name)] == list(proven)
    assert not pays_what_it_gets("another")


def test_a_budget_ends(opened):
    ledger = opened(rho=0.3)
    release(ledger, 0.2)
    with pytest.raises(hc.BudgetRefusedError) as refusal:
        release(ledger, 0.2)
    assert refusal.value.exit_code == 3
    said = str(refusal.value)
    assert "too little ρ is left. It needs ρ = 0.2 and δ = 1e-06; ρ = 0." in said
    fits = float(said.partition("would fit: rho ")[2].partition(",")[0])
    assert 0.1 < fits < 0.2
    release(ledger, fits)
    assert len(ledger.log()) == 5


def test_a_refusal_says_that_delta_is_short_and_what_it_counts_as(opened):
    ledger = opened(delta=1e-6)
    release(ledger)
    with pytest.raises(hc.BudgetRefusedError, match="too little δ is left"):
        release(ledger)
    ledger.init("strict", budget=hc.Budget(epsilon=1, delta=1e-6))
    with pytest.raises(hc.BudgetRefusedError, match="too little ρ and δ is left") as refusal:
        release(ledger, 1, dataset="strict")
    assert "needs ρ = 1 and δ = 1e-06, equivalent to ρ = 1 and δ = 2.7e-06" in str(refusal.value)
    with pytest.raises(hc.BudgetRefusedError, match=r"needs ε = 2 and δ = 1e-06, equivalent to"):
        ledger.reserve("strict", hc.Budget(epsilon=2, delta=1e-6), {})


def test_a_run_that_fails_before_any_noise_costs_nothing(opened):
    ledger = opened()
    budget = hc.Budget(rho=1)
    with pytest.raises(hc.SourceError):
        hc.release_counts(
            pa.table({"item": ["a"]}), budget=budget, ledger=ledger, dataset="shop", user="u"
        )
    assert kinds(ledger) == ["open", "reserve", "return"]
    assert ledger.books().left("shop").rho == 1


def test_a_run_that_is_interrupted_while_noise_is_drawn_says_that_it_counts(where, monkeypatch):
    said = []
    ledger = hc.Ledger(where, tell=said.append)
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-6))
    said.clear()

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "headcount.privacy.mechanisms.pcr.mechanism.private_count_release", interrupted
    )
    with pytest.raises(KeyboardInterrupt):
        release(ledger)
    assert kinds(ledger) == ["open", "reserve"]
    (sentence,) = said
    assert "(entry 2 of the ledger) counts as spent" in sentence


def test_what_died_counts_as_spent_until_the_owner_decides(opened):
    ledger = opened()
    dead = ledger.reserve("shop", hc.Budget(rho=0.9), {})
    with pytest.raises(hc.BudgetRefusedError, match=r"ρ = 0\.9 .* are reserved by releases"):
        release(ledger, 0.2)
    with pytest.raises(hc.LedgerError, match="reason"):
        ledger.give_back(dead.number, reason=" ")
    ledger.give_back(dead.number, reason="the machine was switched off before it ran")
    result = release(ledger, 0.2)
    with pytest.raises(hc.LedgerUnavailableError, match="it was returned, or the ledger was repl"):
        ledger.settle(dead, result, None)  # it had not died after all, and is not released


def test_a_seeded_release_is_refused(opened):
    ledger = opened()
    with pytest.raises(hc.NotPrivateError):
        hc.release_counts(
            COUNTS,
            budget=hc.Budget(rho=0.1),
            ledger=ledger,
            dataset="shop",
            user="u",
            unsafe_seed=1,
        )
    assert kinds(ledger) == ["open"]
    seeded = hc.release_counts(COUNTS, budget=hc.Budget(rho=0.1), unsafe_seed=1)
    reservation = ledger.reserve("shop", hc.Budget(rho=0.1), {})
    with pytest.raises(hc.NotPrivateError):
        ledger.settle(reservation, seeded, None)
    assert kinds(ledger) == ["open", "reserve"]


@pytest.mark.parametrize("given", [{"ledger": "x.db"}, {"dataset": "shop"}])
def test_a_ledger_and_a_dataset_go_together(given):
    with pytest.raises(hc.LedgerError, match="must be given together"):
        hc.release_counts(COUNTS, budget=hc.Budget(rho=0.1), user="u", **given)


def test_extend_retire_cap_and_join(opened):
    ledger = opened(rho=0.1)
    ledger.extend("shop", rho=0.1, reason="the board agreed")
    assert ledger.books().left("shop").rho == Fraction(1, 5)
    ledger.cap("shop", "ann", rho=0.05)
    ann = hc.Ledger(ledger._where, actor="ann")
    with pytest.raises(hc.BudgetRefusedError, match=r"cap of 'ann' leaves ρ = 0\.05"):
        release(ann, 0.1)
    release(ann, 0.05)
    release(ledger, 0.1)
    ledger.init("x", "y", group="both", budget=hc.Budget(rho=1, delta=1e-5))
    ledger.join("shop", "both", reason="the same people")
    assert list(ledger.books().totals) == ["both"]
    ledger.retire("shop", reason="the survey is over")
    with pytest.raises(hc.BudgetRefusedError, match="retired"):
        release(ledger, 0.001)
    for change_it in (
        lambda: ledger.extend("shop", rho=1, reason="more"),
        lambda: ledger.retire("shop", reason="once more"),
        lambda: ledger.cap("shop", "ann", rho=1),
    ):
        with pytest.raises(hc.LedgerError, match="is retired"):
            change_it()
    release(ledger, 0.01, dataset="x")
    ledger.verify()
    assert {e.kind for e in ledger.log("y")} == {Kind.OPEN}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda ledger: ledger.init("shop", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init("a", "a", group="g", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init("a", group="shop", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init("a", "b", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init("\n", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init("a", "b", group="a", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init(budget=hc.Budget(rho=1)),
        lambda ledger: ledger.join("shop", "nowhere", reason="none"),
        lambda ledger: ledger.join("shop", "shop", reason="none"),
        lambda ledger: ledger.retire("nothing", reason="none"),
        lambda ledger: ledger.cap("nothing", "ann", rho=1),
        lambda ledger: ledger.give_back(1, reason="none"),
        lambda ledger: ledger.log("nothing"),
    ],
)
def test_what_cannot_be_done_leaves_no_entry(opened, wrong):
    ledger = opened()
    with pytest.raises(hc.LedgerError):
        wrong(ledger)
    assert len(ledger.log()) == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda ledger: ledger.init("shop", budget=hc.Budget(rho=1)), "`headcount ledger extend`"),
        (
            lambda ledger: ledger.init("c", group="g", budget=hc.Budget(rho=1)),
            "`headcount ledger j",
        ),
        (lambda ledger: ledger.retire("g", reason="no"), "name one of its datasets: 'a', 'b'"),
        (lambda ledger: ledger.init("c", budget=3), "must be a headcount.Budget"),
        (lambda ledger: hc.Ledger(3), "the path of a SQLite file"),
    ],
)
def test_what_to_do_instead_is_said(opened, wrong, says):
    ledger = opened()
    ledger.init("a", "b", group="g", budget=hc.Budget(rho=1))
    with pytest.raises(hc.HeadcountError, match=says):
        wrong(ledger)


@pytest.mark.parametrize(
    "amounts",
    [{}, {"rho": -1.0}, {"rho": float("inf")}, {"delta": 1.0}, {"rho": 1.0, "delta": float("nan")}],
)
def test_a_total_is_raised_by_something(opened, amounts):
    with pytest.raises(hc.BudgetError):
        opened().extend("shop", reason="no", **amounts)
