"""Totals of all users: what they cost, and that nothing else of the truth comes out."""

import os
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import headcount as hc
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.gaussian import measure_cost
from headcount.privacy.accounting.sensitivity import Together
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import MechanismResult
from headcount.privacy.mechanisms.further import Further, Totals
from headcount.privacy.mechanisms.further.totals import TOTAL_SHARE
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.audit import HalfTheNoise, epsilon_of_gaussians
from tests.privacy.replaying import published
from tests.privacy.stats import assert_noise_of_this_scale

BUDGET = Budget(rho=2.0)
BOTH = Further(Totals(total=True, other=True))


class Everybody:
    """True numbers of users, and what was asked."""

    several_passes = True

    def __init__(self, users=1000, other=300):
        self.numbers, self.asked = (users, other), []

    def everybody(self):
        return self

    def users(self):
        self.asked.append("users")
        return self.numbers[0]

    def with_other_items(self, released):
        self.asked.append(released)
        return self.numbers[1]


def made(spent=Fraction(1)):
    none = np.zeros(0)
    return MechanismResult.of_counts(
        items="the released items",
        estimates=none,
        errors=none,
        noisy=none,
        sigmas=none,
        spent=Cost(spent, Fraction(1, 10**7)),
        settings={"r": 0.1},
    )


def added(everybody, entropy, further=BOTH, budget=BUDGET):
    gate = Gate(budget.whole, entropy)
    return further.prepare(made, everybody, budget, gate, lambda message: None)()


def test_each_total_gets_its_share_and_is_charged():
    assert BOTH.share == 2 * TOTAL_SHARE
    result = added(Everybody(), SeededEntropy(1))
    each = [measure_cost(total.sigma) for total in result.totals]
    assert result.spent == Cost(1 + sum(each), Fraction(1, 10**7))
    assert result.spent_on["totals"] == Cost(sum(each))
    for cost in each:
        assert 0.999 * TOTAL_SHARE * BUDGET.rho_for_filter <= cost
        assert cost <= TOTAL_SHARE * BUDGET.rho_for_filter


def test_what_is_asked_for_is_asked_of_the_view_and_nothing_else():
    everybody = Everybody()
    result = added(everybody, SeededEntropy(1))
    assert everybody.asked == ["users", "the released items"]
    assert [total.name for total in result.totals] == ["total", "other"]
    everybody = Everybody()
    added(everybody, SeededEntropy(1), Further(Totals(other=True)))
    assert everybody.asked == ["the released items"]
    nothing = Everybody()
    assert published(added(nothing, SeededEntropy(1), Further())) == published(made())
    assert nothing.asked == []


class Played:
    """Answers with what another run released."""

    private = False

    def __init__(self, answers):
        self.answers, self.sigmas = iter(answers), []

    def discrete_gaussian(self, values, sigma):
        self.sigmas.append(sigma)
        return [next(self.answers) for _ in values]


def test_what_comes_out_follows_from_what_was_released():
    results = [added(Everybody(users, users // 2), Played([12, 5])) for users in (0, 10, 10**6)]
    first, *others = [(published(result), result.totals) for result in results]
    assert others == [first, first]


def test_the_noise_is_the_one_that_is_paid_for():
    entropy = SeededEntropy(7)
    noisy = [added(Everybody(), entropy).totals for _ in range(1500)]
    parts = np.array([[total.noisy for total in each] for each in noisy], dtype=float)
    assert_noise_of_this_scale(((parts - [1000, 300]) / noisy[0][0].sigma).ravel())


def test_nothing_is_asked_that_a_user_moves_further_than_there_is_budget_for(monkeypatch):
    monkeypatch.setattr("headcount.privacy.mechanisms.further.totals.ONE_USER", Together(3))
    everybody = Everybody()
    with pytest.raises(hc.BudgetExceededError, match="more than is left"):
        added(everybody, SeededEntropy(1))
    assert everybody.asked == []


def test_totals_that_take_more_than_their_share_are_refused(monkeypatch):
    monkeypatch.setattr("headcount.privacy.mechanisms.further.totals.TOTAL_SHARE", Fraction(1, 10))
    with pytest.raises(hc.BudgetExceededError):
        added(Everybody(), SeededEntropy(1))


def test_a_gate_that_is_used_up_grants_no_total():
    gate = Gate(Cost(), SeededEntropy(1))
    with pytest.raises(hc.BudgetExceededError):
        Totals(total=True).release(Everybody(), None, BUDGET.rho_for_filter, gate, print)


@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(98, 100), Fraction(1)])
@pytest.mark.parametrize("budget", [Budget(rho=0.1), Budget(epsilon=1), Budget(rho=50)], ids=str)
def test_a_part_of_a_budget_is_no_more_than_that(budget, share):
    part = budget.part(share)
    assert Fraction(part.rho) <= share * Fraction(budget.rho)
    assert part.rho == pytest.approx(float(share) * budget.rho)
    assert part.delta_selection == budget.delta_selection
    assert part.epsilon <= budget.epsilon


@pytest.mark.parametrize(
    ("method", "bound"),
    [("auto", None), ("pcr", None), ("pcr-paper", None), ("rationed", None), ("threshold", 3)],
)
@pytest.mark.parametrize("budget", [Budget(rho=3), Budget(epsilon=4)], ids=["rho", "epsilon"])
def test_a_release_with_totals_stays_within_its_budget(method, bound, budget):
    users = np.arange(6000) // 2
    table = pa.table({"u": users, "i": (np.arange(6000) * 7) % 30})
    release = hc.release(
        table,
        user="u",
        item="i",
        budget=budget,
        method=method,
        max_items_per_user=bound,
        total=True,
        other=True,
    )
    assert release.spent["rho"] <= budget.rho
    assert release.spent["delta"] <= budget.delta
    assert release.guarantee.rho == budget.rho
    total = release.totals["total"]
    assert abs(total["count"] - 3000) < 8 * total["std_error"]  # 1e-15
    assert set(release.totals) == {"total", "other"}


def test_the_counts_have_less_of_the_budget():
    asked = {"source": "x.parquet", "user": "u", "item": "i", "budget": Budget(rho=1)}
    alone, both = hc.Question(**asked), hc.Question(**asked, total=True, other=True)
    assert alone.mechanism.pcr.budget == Budget(rho=1)
    assert both.mechanism.pcr.budget.rho == pytest.approx(0.98)
    assert both.mechanism.rationed.budget.rho == pytest.approx(0.98)


@pytest.mark.parametrize("wrong", [1, "yes", None])
def test_totals_are_asked_for_with_true(wrong):
    with pytest.raises(hc.SettingsError, match="total and other"):
        hc.Question(source="x", user="u", item="i", budget=Budget(rho=1), total=wrong)


@pytest.mark.parametrize("limit", [{"top": 3}, {"min_users": 10}])
def test_other_items_and_a_limit_on_rows_are_not_asked_for_together(limit):
    asked = {"source": "x", "user": "u", "item": "i", "budget": Budget(rho=1)}
    hc.Question(**asked, **limit, total=True)
    with pytest.raises(hc.SettingsError, match="items that are not listed"):
        hc.Question(**asked, **limit, other=True)


def test_totals_beside_a_known_list():
    table = pa.table({"u": [1, 1, 2, 3] * 2, "i": ["a", "b", "a", "c"] * 2})
    made = hc.release(
        table,
        user="u",
        item="i",
        budget=Budget(rho=2000),
        items_from=["a", "z"],
        total=True,
        other=True,
    )
    assert made.spent["rho"] <= 2000
    # 8 standard errors of 0.16 users are less than 2: 1e-15.
    assert abs(made.totals["total"]["count"] - 3) < 2
    assert abs(made.totals["other"]["count"] - 2) < 2


# --- an audit ----------------------------------------------------------------------------------

AUDITED = Budget(epsilon=1.5, delta=0.1)
RUNS = int(os.environ.get("AUDIT_RUNS", "10000")) // 2


def told_apart(noise):
    """The user counts in both numbers: for all users, and for those of other items."""
    budget = Budget(rho=float(Fraction(AUDITED.rho) / BOTH.share), delta=AUDITED.delta)
    true, found = np.array([[1000, 300], [1001, 301]]), []
    for seed, numbers in enumerate(true):
        everybody, entropy = Everybody(*numbers.tolist()), noise(seed)
        runs = [added(everybody, entropy, budget=budget).totals for _ in range(RUNS)]
        found.append(np.array([[total.noisy for total in totals] for totals in runs]))
    sigma = runs[0][0].sigma
    return epsilon_of_gaussians(found, true, sigma, AUDITED.delta)


def test_neighbours_are_told_apart_no_better_than_is_claimed():
    assert told_apart(SeededEntropy) <= AUDITED.epsilon


def test_half_the_noise_is_found():
    assert told_apart(HalfTheNoise) > AUDITED.epsilon
