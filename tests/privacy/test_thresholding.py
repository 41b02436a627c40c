"""Noise and a threshold: the exact tail, the charge, and how close the counts come."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from headcount.errors import BudgetError, BudgetExceededError, SettingsError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.gaussian import reach
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.threshold.threshold_release import (
    ACCURATE,
    LARGEST_BOUND,
    Thresholding,
    threshold_release,
)
from headcount.privacy.randomness import OsEntropy
from tests.privacy.stats import ALPHA, chi_square_p, false_failure, fits
from tests.privacy.test_entropy import discrete_gaussian

BUDGET = Budget(rho=1)


def released(counts, how, budget=BUDGET):
    return threshold_release(counts, how, Gate(budget.for_filter, OsEntropy()))


def tail(sigma, above):
    """P[X > above] of the discrete Gaussian, by its definition."""
    far = int(45 * sigma) + 45
    weights = [math.exp(-((x / sigma) ** 2) / 2) for x in range(far)]
    return math.fsum(weights[above + 1 :]) / (2 * math.fsum(weights) - weights[0])


CASES = [
    (rho, delta, most)
    for rho in (0.001, 0.1, 1.0, 7.0, 60.0)
    for delta in (1e-3, 1e-6, 1e-12, 1e-40)
    for most in (1, 5, 1000)
]


@pytest.mark.parametrize(("rho", "delta", "most"), CASES)
def test_what_one_user_brings_comes_out_with_delta_at_most(rho, delta, most):
    budget = Budget(rho=rho, delta=delta)
    for r in (0.1, 0.99):  # with the second, privacy and not accuracy decides where T is
        how = Thresholding.of(most, r, budget)
        assert how.looked_at >= 1
        brought = tail(how.sigma, how.threshold - how.looked_at)
        assert most * brought <= float(budget.delta_selection)


def test_a_lower_threshold_would_be_too_low():
    """At some σ there is nothing to spare: without the last 1 or 2, δ does not hold."""
    too_low = 0
    for sigma in np.geomspace(0.2, 300, 60).tolist():
        margin = reach(sigma, Fraction(1, 10**6))
        assert tail(sigma, margin) <= 1e-6
        if margin > 2:
            too_low += tail(sigma, margin - 2) > 1e-6
    assert too_low > 30


@given(
    st.floats(1e-6, 1e6),
    st.floats(1e-12, 0.5),
    st.integers(1, LARGEST_BOUND),
    st.floats(0.001, 0.999),
)
def test_sigma_pays_for_as_many_counts_as_a_user_changes(rho, delta, most, r):
    budget = Budget(rho=rho, delta=delta)
    how = Thresholding.of(most, r, budget)
    exact = most / (2 * Fraction(how.sigma) ** 2)
    assert exact <= how.cost.rho <= budget.rho_for_filter
    assert exact > budget.rho_for_filter * Fraction(999_999_999, 10**9)
    assert how.cost.delta == budget.delta_selection
    assert how.sigma <= ACCURATE * r * how.threshold * (1 + 1e-9)


def test_everything_is_charged_whatever_there_is():
    how = Thresholding.of(3, 0.1, BUDGET)
    for counts in ([], [how.looked_at], [10**6] * 50):
        assert released(counts, how).spent == how.cost
    used = Gate(BUDGET.for_filter, OsEntropy())
    threshold_release([], how, used)
    with pytest.raises(BudgetExceededError):
        threshold_release([], how, used)


def test_the_threshold_is_exceeded_and_not_reached():
    how = Thresholding.of(1, 0.1, Budget(rho=1e9))  # no noise to speak of
    counts = [how.threshold, how.threshold + 1, 10**6]
    run = released(counts, how, Budget(rho=1e9))
    assert run.positions.tolist() == [1, 2]
    assert run.counts.tolist() == counts[1:]


def test_counts_that_are_not_looked_at_are_refused():
    how = Thresholding.of(1, 0.1, BUDGET)
    with pytest.raises(ValueError, match="looked at"):
        released([how.looked_at - 1], how)


def test_counts_carry_noise_of_the_sigma_that_was_charged():
    how = Thresholding.of(9, 0.1, BUDGET)
    run = released([10**6] * 20_000, how)
    noise = (run.counts - 10**6).tolist()
    assert len(noise) == 20_000
    observed = {x: noise.count(x) for x in set(noise)}
    p = chi_square_p(observed, discrete_gaussian(how.sigma))
    assert fits(p), false_failure(p)
    for wrong in (how.sigma * 1.1, how.sigma / 1.1):
        assert not fits(chi_square_p(observed, discrete_gaussian(wrong)))


def test_counts_at_the_threshold_are_as_close_as_promised():
    """At least 91 % of them within r; a right implementation fails with probability 1e-6."""
    how = Thresholding.of(50, 0.1, BUDGET)
    at_threshold = dataclasses.replace(how, threshold=0)  # all come out, without selection
    run = released([how.threshold] * 20_000, at_threshold)
    near = int((np.abs(run.counts - how.threshold) <= how.r * how.threshold).sum())
    promised = 2 * stats.norm.cdf(1 / ACCURATE) - 1
    assert promised > 0.91
    assert near >= stats.binom.ppf(ALPHA, 20_000, promised - 0.005)
    assert near <= stats.binom.ppf(1 - ALPHA, 20_000, promised + 0.02)  # nor much noise too little


@pytest.mark.parametrize("most", [None, 0, -1, LARGEST_BOUND + 1, True, 2.0, "5"])
def test_bounds_that_are_none(most):
    with pytest.raises(SettingsError):
        Thresholding.of(most, 0.1, BUDGET)


def test_budgets_at_the_ends():
    with pytest.raises(BudgetError, match="too small"):
        Thresholding.of(1, 0.1, Budget(rho=1e-250))
    tiny = Thresholding.of(LARGEST_BOUND, 1e-9, Budget(rho=1e-150, delta=1e-300))
    assert released([], tiny, Budget(rho=1e-150, delta=1e-300)).positions.size == 0
    large = Thresholding.of(1, 0.5, Budget(rho=1e12))
    assert released([50], large, Budget(rho=1e12)).counts.tolist() == [50]
