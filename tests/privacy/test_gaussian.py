"""σ, its cost, and how far noise reaches."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from headcount.privacy.accounting.gaussian import measure_cost, reach, sigma_for


@given(st.floats(1e-9, 1e9), st.integers(1, 2**40))
def test_sigma_costs_what_it_is_for_and_no_more(rho, squared):
    rho = Fraction(rho)
    cost = measure_cost(sigma_for(rho, squared), squared)
    assert cost <= rho
    assert float(cost) == pytest.approx(float(rho), rel=1e-9)


@given(st.floats(0.1, 1e9), st.integers(1, 2**40))
def test_a_cost_is_never_below_the_exact_one(sigma, squared):
    assert measure_cost(sigma, squared) >= squared / (2 * Fraction(sigma) ** 2)


@given(st.floats(1, 1e6), st.floats(1e-200, 0.4))
def test_noise_exceeds_its_reach_as_rarely_as_it_may(sigma, probability):
    m = reach(sigma, Fraction(probability))
    assert m >= 1
    assert stats.norm.sf(m / sigma) <= probability
    assert m == 1 or stats.norm.sf((m - 1) / sigma) > probability * (1 - 1e-6)
