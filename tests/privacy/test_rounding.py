"""Rounding goes against the program, always, and hardly further than it must."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.conditioning import conditioned_total
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.rounding import float_above, float_below, log_above, shown_above
from headcount.results.release import spent_of

numbers = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30)


@given(numbers)
def test_float_above_is_the_next_float_up(value):
    above = float_above(value)
    assert Fraction(above) >= value > Fraction(math.nextafter(above, -math.inf))


@given(numbers)
def test_float_below_is_the_next_float_down(value):
    below = float_below(value)
    assert Fraction(below) <= value < Fraction(math.nextafter(below, math.inf))


def test_nothing_is_not_minus_nothing():
    """JSON would say -0.0 of a budget of which nothing is left."""
    for rounded in (float_above(Fraction(0)), float_below(Fraction(0))):
        assert str(rounded) == "0.0"


@given(numbers)
def test_log_above_is_above_and_close(value):
    above = log_above(value)
    with localcontext() as context:
        context.prec = 100
        exact = (Decimal(value.numerator) / Decimal(value.denominator)).ln()
        assert Decimal(above) > exact or exact == above == 0
        assert Decimal(above) - exact <= 2 * Decimal(math.ulp(above))


@given(numbers)
def test_what_was_spent_is_published_and_charged_rounded_up(value):
    spent = spent_of(Cost(value, min(value, Fraction(1, 3))))
    assert Fraction(spent["rho"]) >= value
    assert Fraction(spent["delta"]) >= min(value, Fraction(1, 3))
    assert spent_of(Cost(Fraction(1, 3)))["rho"] > 1 / 3


@given(st.floats(1e-3, 100))
def test_a_transcript_spends_no_more_than_the_decimal_that_was_typed(rho):
    """The float may be above it, and a ledger charges the decimal."""
    assert conditioned_total(Budget(rho=rho, delta=1e-300)).rho <= Fraction(repr(rho))
    assert conditioned_total(Budget(rho=0.1, delta=1e-300)).rho <= Fraction(1, 10) < Fraction(0.1)


def test_rounding_is_not_to_the_nearest():
    third, root = Fraction(1, 3), Fraction(10**6)
    assert Fraction(1 / 3) < third < float_above(third)
    assert float_below(Fraction(2, 3)) <= Fraction(2, 3)
    assert log_above(root) > math.log(10**6)


@given(st.floats(1e-12, 1e12))
def test_a_number_is_never_shown_smaller_than_it_is(value):
    shown = float(shown_above(value))
    assert shown >= value or math.isclose(shown, value, rel_tol=1e-15)
    assert math.isclose(shown, value, rel_tol=1.1e-5)


def test_short_numbers_are_shown_as_they_are():
    assert [shown_above(x) for x in (0.1, 1.0, 1e-6, 3.0)] == ["0.1", "1", "1e-06", "3"]
