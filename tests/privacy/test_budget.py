"""Budgets and their conversion, against independent libraries."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from dp_accounting.rdp import rdp_privacy_accountant as rdp
from hypothesis import given
from hypothesis import strategies as st

from headcount.errors import BudgetError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.conversion import chance_beyond, epsilon_of, rho_of

RHOS = [1e-4, 0.01, 0.1, 0.5, 1.0, 5.0, 50.0]
DELTAS = [1e-12, 1e-9, 1e-6, 1e-3, 0.1]


def reference_epsilon(rho, delta):
    """dp-accounting's conversion of the Rényi curve α·ρ, on a fine grid of orders."""
    orders = [1 + math.exp(i / 50) for i in range(-600, 800)]
    return rdp.compute_epsilon(orders, [order * rho for order in orders], delta)[0]


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_agrees_with_dp_accounting(rho, delta):
    ours, theirs = epsilon_of(rho, delta), reference_epsilon(rho, delta)
    assert ours <= theirs + 1e-9
    assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("rho", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_what_selection_uses_of_delta_is_not_used_again(rho, delta, share):
    """δ = δₛ + (1 − δₛ)·δ', and only δ' is there for the conversion."""
    left = delta * (1 - share) / (1 - delta * share)
    ours, theirs = epsilon_of(rho, delta, delta * share), reference_epsilon(rho, left)
    assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-6)
    assert ours > reference_epsilon(rho, delta) * 1.001
    assert rho_of(ours, delta, delta * share) == pytest.approx(rho, rel=1e-6)


@pytest.mark.parametrize("rho", [0.01, 0.1, 0.5, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
def test_epsilon_agrees_with_opendp(rho, delta):
    from opendp.combinators import make_fix_delta, make_zCDP_to_approxDP
    from opendp.domains import atom_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import absolute_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    gaussian = make_gaussian(
        atom_domain(T="i64"), absolute_distance(T="f64"), scale=1 / math.sqrt(2 * rho)
    )
    theirs, _ = make_fix_delta(make_zCDP_to_approxDP(gaussian), delta=delta).map(1.0)
    assert epsilon_of(rho, delta) == pytest.approx(theirs, rel=2e-3)


def exact_epsilon(rho, delta, selection):
    """ε of corollary 13 to 40 digits, with α by a search; `conversion` has the formula."""
    with localcontext() as context:
        context.prec = 45
        rho, delta, selection = Decimal(rho), Decimal(delta), Decimal(selection)
        log_left = ((delta - selection) / (1 - selection)).ln()

        def at(log_excess):
            excess = log_excess.exp()
            order = 1 + excess
            return order * rho + (excess / order).ln() - (order.ln() + log_left) / excess

        low, high = Decimal(-36), Decimal(69)
        for _ in range(160):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if at(left) < at(right) else (left, high)
        return at((low + high) / 2)


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
@pytest.mark.parametrize("share", [0.0, 1 / 3, 0.9])
@pytest.mark.parametrize("amount", [0.001, 0.3, 1.0, 7.0])
def test_conversions_are_rounded_against_the_program(amount, share, delta):
    """By a little more than floating point may be off."""
    selection = delta * share
    exact = exact_epsilon(amount, delta, selection)
    if exact > 0:
        assert exact < Decimal(epsilon_of(amount, delta, selection)) < exact + Decimal("1e-9")
    back = exact_epsilon(rho_of(amount, delta, selection), delta, selection)
    assert Decimal(amount) - Decimal("1e-9") < back < Decimal(amount)


def reference_chance(epsilon, rho, selection):
    """The least bound of order α: the p with (p−δₛ)^α·p^(1−α) = (1−δₛ)·exp((α−1)(αρ−ε)).

    Rényi divergence can only shrink if all that is seen is whether the loss exceeds ε.
    """
    best = 1.0
    for excess in (math.exp(i / 20) for i in range(-120, 240)):
        limit = math.log1p(-selection) + excess * ((1 + excess) * rho - epsilon)
        low, high = math.log(selection or 1e-300), 0.0
        for _ in range(80):
            middle = (low + high) / 2
            beyond = (1 + excess) * math.log1p(-selection / math.exp(middle)) + middle
            low, high = (middle, high) if beyond < limit else (low, middle)
        best = min(best, math.exp(high) * (1 + math.exp(-epsilon)))  # in either direction
    return best


@pytest.mark.parametrize("given", [{"epsilon": 0.1}, {"epsilon": 1}, {"rho": 1}, {"rho": 0.01}])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3])
def test_the_chance_of_a_larger_loss(given, delta):
    budget = Budget(**given, delta=delta)
    selection = float(budget.delta_selection)
    chance = chance_beyond(budget.epsilon, budget.rho, delta, selection)
    assert (
        delta
        < chance
        == pytest.approx(reference_chance(budget.epsilon, budget.rho, selection), rel=0.02)
    )
    chernoff = math.exp(-((budget.epsilon - budget.rho) ** 2) / (4 * budget.rho))
    without_selection = chance_beyond(budget.epsilon, budget.rho, delta)
    assert without_selection >= chernoff * (1 + math.exp(-budget.epsilon))


def test_nothing_is_known_of_a_loss_that_rho_does_not_bound():
    assert chance_beyond(1, 5, 1e-6) == 1


def test_the_papers_conversion_is_unsafe_where_privacy_md_says():
    """At ρ = 5, δ' = 1e-6 the paper's last theorem gives 15.5, which is too little."""
    rho, delta = 5.0, 1e-6
    papers = rho + 2 * math.sqrt(2 * math.log(1 / delta))
    simple = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert papers < 15.6 < epsilon_of(rho, delta) < simple


@given(st.floats(1e-5, 100), st.floats(1e-15, 0.5), st.floats(0, 0.99))
def test_rho_and_epsilon_are_inverse_and_safe(epsilon, delta, share):
    rho = rho_of(epsilon, delta, delta * share)
    back = epsilon_of(rho, delta, delta * share)
    assert back <= epsilon * (1 + 1e-9)
    assert back == pytest.approx(epsilon, rel=1e-6)


@given(st.floats(1e-6, 1e4), st.floats(1e-15, 0.999))
def test_both_statements_of_a_budget_hold_with_its_delta(rho, delta):
    budget = Budget(rho=rho, delta=delta)
    assert budget.delta_selection < Fraction(delta)
    assert budget.epsilon == epsilon_of(rho, delta, float(budget.delta_selection))
    assert budget.rho_for_filter <= Fraction(rho) * (1 - budget.delta_selection)


@given(st.floats(1e-4, 100), st.floats(1e-15, 0.5))
def test_a_budget_from_epsilon_stays_within_it(epsilon, delta):
    budget = Budget(epsilon=epsilon, delta=delta)
    assert (budget.epsilon, budget.delta) == (epsilon, delta)
    assert epsilon_of(budget.rho, delta, float(budget.delta_selection)) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"rho": 1, "epsilon": 1},
        {"rho": 0},
        {"rho": -1},
        {"rho": math.inf},
        {"rho": math.nan},
        {"epsilon": 0},
        {"epsilon": -3},
        {"epsilon": math.inf},
        {"epsilon": math.nan},
        {"rho": 1, "delta": 0},
        {"rho": 1, "delta": 1},
        {"rho": 1, "delta": -1e-6},
        {"rho": 1, "delta": math.nan},
        {"rho": "1"},
        {"rho": True},
        {"rho": 1, "delta": None},
        {"rho": 1, "delta": 5e-324},
        {"rho": 1e308},
        {"rho": 1e300},
        {"epsilon": 1e300},
        {"rho": 1.1e12},
    ],
)
def test_what_is_no_budget_is_refused(wrong):
    with pytest.raises(BudgetError):
        Budget(**wrong)


def test_a_budget_is_frozen():
    with pytest.raises(AttributeError):
        Budget(rho=1).rho = 2  # type: ignore[misc]
