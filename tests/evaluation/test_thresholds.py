"""Noise and thresholds, against the formulas of their papers."""

import math

import numpy as np
import pytest
from scipy import stats

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.partition_selection import SELECTIONS, SIPS_SHARES
from headcount.evaluation.thresholds import (
    gaussian_sigma,
    gaussian_threshold,
    laplace_scale,
    laplace_threshold,
    share_of_delta,
    weighted_threshold,
)

DELTA = 1e-6


def chance_that_any_exceeds(tail, items):
    return -math.expm1(items * math.log1p(-tail))


@pytest.mark.parametrize("items", [1, 7, 390])
def test_delta_is_what_a_user_with_items_of_their_own_risks(items):
    sigma = gaussian_sigma(math.sqrt(items), 0.5)
    tail = stats.norm.sf(gaussian_threshold(sigma, items, DELTA) - 1, scale=sigma)
    assert chance_that_any_exceeds(tail, items) == pytest.approx(DELTA, rel=1e-6)
    scale = laplace_scale(items, 0.5)
    tail = stats.laplace.sf(laplace_threshold(scale, items, DELTA) - 1, scale=scale)
    assert chance_that_any_exceeds(tail, items) == pytest.approx(DELTA, rel=1e-6)


@pytest.mark.parametrize("items", [1, 7, 390])
@pytest.mark.parametrize("sigma", [0.05, 1.0, 20.0])
def test_no_number_of_own_items_beats_the_weighted_threshold(items, sigma):
    threshold = weighted_threshold(sigma, items, DELTA)
    risks = [
        chance_that_any_exceeds(stats.norm.sf(threshold - t**-0.5, scale=sigma), t)
        for t in range(1, items + 1)
    ]
    assert max(risks) == pytest.approx(DELTA, rel=1e-6)


def test_gaussian_noise_costs_rho():
    """Bun & Steinke 2016: Δ²/(2σ²) = ρ."""
    sigma = gaussian_sigma(math.sqrt(12), 0.3)
    assert 12 / (2 * sigma**2) == pytest.approx(0.3)


def test_laplace_noise_costs_rho():
    """ε-DP with ε = m/b is ε²/2-CDP."""
    assert (12 / laplace_scale(12, 0.3)) ** 2 / 2 == pytest.approx(0.3)


def test_laplace_threshold_is_that_of_wilson_et_al():
    """Their τ = 1 − ln(2 − 2(1 − δ)^(1/κ))·κ/ε, here in plain arithmetic at a large δ."""
    epsilon, bound, delta = 0.7, 3, 0.01
    expected = 1 - math.log(2 - 2 * (1 - delta) ** (1 / bound)) * bound / epsilon
    assert laplace_threshold(bound / epsilon, bound, delta) == pytest.approx(expected)


def test_a_single_item_needs_no_share_of_delta():
    assert share_of_delta(DELTA, 1) == pytest.approx(DELTA, rel=1e-9)


def test_the_rounds_of_sips_spend_what_there_is():
    assert sum(SIPS_SHARES) == pytest.approx(1)


def one_item_counts(counts):
    """Return data in which everybody has one item, and item j has counts[j] users."""
    items = np.repeat(np.arange(len(counts)), counts)
    return Dataset.of(np.arange(items.size), items)


@pytest.mark.parametrize("name", ["weighted", "gaussian"])
def test_half_of_the_items_at_the_threshold_are_found(name):
    """With one item each both are the same: noise of σ = 1/√(2ρ) on counts."""
    rho = 0.005  # σ = 10
    users = round(gaussian_threshold(gaussian_sigma(1, rho), 1, DELTA))
    data = one_item_counts([users] * 4000)
    found = SELECTIONS[name](data, 1, rho, DELTA, np.random.default_rng(1)).mean()
    shift = users - gaussian_threshold(10.0, 1, DELTA)
    expected = stats.norm.cdf(shift / 10)
    assert abs(found - expected) < 4.9 * (0.25 / 4000) ** 0.5  # 1e-6


@pytest.mark.parametrize("name", SELECTIONS)
def test_large_items_are_found_and_single_ones_are_not(name):
    data = one_item_counts([500] * 20 + [1] * 2000)
    found = SELECTIONS[name](data, 1, 0.5, DELTA, np.random.default_rng(1))
    assert found[:20].all()
    assert not found[20:].any()


def test_sips_finds_more_once_the_popular_items_are_out_of_the_way():
    """Everybody has 99 common items and one of sixty rarer ones, whose weight is 1/10 at first."""
    users = 3000
    common = np.tile(np.arange(99), users)
    data = Dataset.of(
        np.concatenate([np.repeat(np.arange(users), 99), np.arange(users)]),
        np.concatenate([common, 99 + np.arange(users) % 60]),
    )
    found = {
        name: SELECTIONS[name](data, 100, 0.05, DELTA, np.random.default_rng(1)).sum()
        for name in ("weighted", "sips")
    }
    assert found == {"weighted": 99, "sips": 159}
