"""The filter: no sequence of steps overspends."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.errors import BudgetExceededError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.mechanisms.pcr.schedule import levels
from headcount.privacy.mechanisms.pcr.settings import settings_for

amounts = st.fractions(min_value=0, max_value=2, max_denominator=10**6)
costs = st.builds(Cost, amounts, amounts)


@given(costs, st.lists(st.tuples(costs, costs, st.booleans())))
def test_no_sequence_overspends(total, steps):
    """Steps that reserve, settle for more or less, or die before they settle."""
    privacy_filter, paid = PrivacyFilter(total), Cost()
    for place, (reserved, settled, dies) in enumerate(steps):
        room = privacy_filter.left
        try:
            privacy_filter.reserve(reserved, f"purpose {place % 2}")
        except BudgetExceededError:
            assert not reserved.fits(room) or privacy_filter.spent != paid
            continue
        assert reserved.fits(room)
        if dies:
            paid += reserved
            assert privacy_filter.spent == paid
            with pytest.raises(BudgetExceededError):
                privacy_filter.reserve(Cost())
            break
        try:
            privacy_filter.settle(settled)
            paid += settled
        except BudgetExceededError:
            assert not settled.fits(reserved)
            privacy_filter.settle(reserved)
            paid += reserved
        assert privacy_filter.spent == paid
        assert sum(privacy_filter.spent_on.values(), Cost()) == paid
        assert paid.fits(total)
        assert privacy_filter.left == Cost(total.rho - paid.rho, total.delta - paid.delta)


def test_what_was_spent_is_kept_by_its_purpose():
    privacy_filter = PrivacyFilter(Cost(Fraction(1)))
    for purpose, tenths in (("one", 1), ("other", 2), ("one", 3)):
        privacy_filter.reserve(Cost(Fraction(1, 2)), purpose)
        privacy_filter.settle(Cost(Fraction(tenths, 10)))
    assert privacy_filter.spent_on == {
        "one": Cost(Fraction(4, 10)),
        "other": Cost(Fraction(2, 10)),
    }


def test_what_is_not_reserved_cannot_be_settled():
    with pytest.raises(BudgetExceededError):
        PrivacyFilter(Cost(Fraction(1))).settle(Cost())


def test_a_cost_is_not_negative():
    with pytest.raises(ValueError, match="negative"):
        Cost(Fraction(-1))


@given(st.floats(1, 10), st.floats(1e-4, 10))
def test_more_noise_is_charged_as_what_it_is(factor, rho):
    plain = next(levels(settings_for("pcr"), Budget(rho=rho)))
    level = plain.with_noise(factor)
    assert level.sigma == plain.sigma * factor
    assert level.measure >= 1 / (2 * Fraction(level.sigma) ** 2)
    assert level.required == level.pick + level.measure


@given(
    method=st.sampled_from(["pcr", "pcr-paper"]),
    rho=st.floats(1e-6, 100),
    r=st.floats(0.001, 0.999),
    k_bar=st.integers(1, 10**7),
    outcomes=st.lists(st.integers(0, 10**6), min_size=1, max_size=400),
)
def test_no_outcome_of_the_levels_overspends(method, rho, r, k_bar, outcomes):
    """However many items each level gives, what the schedule allows is within the filter."""
    budget, settings = Budget(rho=rho), settings_for(method, r=r, k_bar=k_bar)
    total = Cost(budget.rho_for_filter, budget.delta_selection)
    privacy_filter = PrivacyFilter(total)
    for level, items in zip(levels(settings, budget), outcomes, strict=False):
        most = level.most_picks(privacy_filter.left)
        if most == 0:
            break
        items = min(items, most)
        cut = items == most
        privacy_filter.reserve(level.picks(most))
        privacy_filter.settle(level.picks(items + (not cut)))
        measured = Cost(items * level.measure)
        privacy_filter.reserve(measured)
        privacy_filter.settle(measured)
        assert privacy_filter.spent.fits(total)
        if cut:
            # Nothing was left for one more pick with its measurement.
            assert level.most_picks(privacy_filter.left) == 0
            break
