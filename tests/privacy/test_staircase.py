"""What the sampler's proposals rest on: bounds of exp that hold, and stairs above the Gaussian."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headcount.privacy.sampling.blocks import LARGEST_SHAPE, QUARTERS, staircase
from headcount.privacy.sampling.exponential import FLOAT_ERROR, exp_bounds, exp_of_minus
from headcount.privacy.sampling.gaussian import law_of
from headcount.privacy.sampling.uniform import uniform_below
from tests.privacy.scripted import ScriptedEntropy

SHAPES = range(1, LARGEST_SHAPE * QUARTERS + 1)


@given(st.fractions(0, 400, max_denominator=10**6), st.integers(1, 400))
@example(Fraction(1, 10**40), 300)
@example(Fraction(0), 5)
@example(Fraction(10**400), 64)
@example(Fraction(399999, 1000), 400)
@example(Fraction(1, 2), 192)
@example(Fraction(8), 9)
def test_exp_is_between_its_bounds_and_they_are_close(exponent, bits):
    low, high = exp_bounds(exponent, bits)
    with localcontext() as context:
        context.prec = 400
        exact = (-Decimal(exponent.numerator) / exponent.denominator).exp() * 2**bits
        slack = exact * Decimal(10) ** -390  # how far off the decimal may be
        assert low <= exact + slack
        assert high >= exact - slack
    assert 0 <= low <= high <= low + 2


def test_exp_in_floats_is_within_its_error():
    exponents = np.concatenate(
        [np.linspace(0, 32, 3000), [-(2.0**-44), 29.999, 30.0, 30.001, 745.0, 1e300, math.inf]]
    )
    for given_, found in zip(exponents.tolist(), exp_of_minus(exponents).tolist(), strict=True):
        low, _ = exp_bounds(Fraction(min(max(given_, 0.0), 1e9)), 90)
        assert abs(Fraction(found) - Fraction(low, 2**90)) <= FLOAT_ERROR


@pytest.mark.parametrize("quarters", SHAPES)
def test_the_stairs_are_above_the_gaussian(quarters):
    """Of every shape, in the tail too; where they end, they are 2^−64 high or lower."""
    stairs = staircase(quarters)
    for block in range(stairs.tail + 40):
        exponent = Fraction(block * QUARTERS, quarters) ** 2 / 2
        _, above = exp_bounds(exponent, 420)
        assert stairs.height(block) >= Fraction(above, 2**420)
    shape = quarters / QUARTERS
    # From there on exp(−(b/s)²/2) falls by more than a half from each block to the next.
    assert (2 * stairs.tail + 1) / (2 * shape**2) > math.log(2)
    assert sum(stairs.weights) + 2 == int(stairs.ends[-1]) < 2**64
    assert int(stairs.ends[-1]) > 2**64 - 400
    assert np.diff(stairs.ends.astype(object)).tolist() == [*stairs.weights[1:], 2]
    assert int(stairs.ends[0]) == stairs.weights[0]


@given(st.floats(min_value=5e-324, max_value=1.7e308))
@example(16.0)
@example(math.nextafter(16.0, 17))
@example(math.nextafter(0.25, 1))
@example(2.0**58)
def test_the_stairs_of_a_sigma_are_wide_enough(sigma):
    """σ ≤ s·w, exactly; and no wider than they need be."""
    law = law_of(sigma)
    shape = next(s for s in SHAPES if staircase(s) is law.stairs)
    assert Fraction(sigma) <= Fraction(shape, QUARTERS) * law.width
    assert Fraction(sigma) > Fraction(shape - 1, QUARTERS) * law.width
    assert law.width < Fraction(sigma) / LARGEST_SHAPE + 1


def test_a_uniform_number_of_any_size():
    assert uniform_below(10, ScriptedEntropy([23])) == 3
    # 2^64 = 10·n + 6: the last six words would make the small results likelier.
    assert uniform_below(10, ScriptedEntropy([2**64 - 6, 2**64 - 7])) == 9
    assert uniform_below(1, ScriptedEntropy([2**64 - 1])) == 0
    assert uniform_below(2**64, ScriptedEntropy([5, 7])) == 5
    assert uniform_below(2**100, ScriptedEntropy([5, 7])) == 7 * 2**64 + 5
    words = np.random.default_rng(1).integers(0, 2**64, 3000, dtype=np.uint64)
    drawn = [uniform_below(3, ScriptedEntropy([int(word)])) for word in words]
    assert min(np.bincount(drawn)) > 850
