"""Counts estimated from everything that a run released: post-processing, at no privacy cost.

An item that came out at a level with threshold T has about T + c users, with the same c for all of
them, and the race is off by a few per cent of T. So the noisy counts of many items show where
counts lie relative to their thresholds and how far they spread, and each noisy count is shrunk
towards that (empirical Bayes).
"""

import math

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.mechanisms.pcr.private_count_release import ReleasedCounts
from headcount.privacy.mechanisms.pcr.settings import Settings

Floats = NDArray[np.float64]

#: How many items on either side, in the order they came out, determine where a count is expected.
NEIGHBOURS = 40
# Before any item is seen: the spread of a race, which is the difference of two Gumbel variables
# over Λ ≈ 28, and how many items this guess counts for.
SPREAD, SPREAD_COUNTS_FOR = math.pi / math.sqrt(3) / 28, 10.0
# Counts lie around what is expected with longer tails than a Gaussian, and what is expected is
# itself estimated: measured coverage requires errors this much wider (estimate.md).
WIDER = 1.6


def smoothed(thresholds: Floats, noisy: Floats, sigmas: Floats) -> tuple[Floats, Floats]:
    """Return estimated counts and their standard errors.

    Args:
        thresholds: T of the level at which each item came out, in the order they came out.
        noisy: the noisy counts.
        sigmas: σ of their noise.
    """
    if not noisy.size:
        return noisy, sigmas
    ratios, variances = noisy / thresholds, (sigmas / thresholds) ** 2
    spread = np.full(noisy.size, SPREAD**2)
    expected = ratios
    # The weights depend on the spread and the spread on the weighted means; this converges at once.
    for _ in range(3):
        weights = 1 / (variances + spread)
        expected = _around(ratios * weights) / _around(weights)
        excess = _around((ratios - expected) ** 2 - variances)
        seen = _around(np.ones(noisy.size)) - 1
        spread = (excess + SPREAD_COUNTS_FOR * SPREAD**2) / (seen + SPREAD_COUNTS_FOR)
        spread = np.maximum(spread, (SPREAD / 3) ** 2)
    drawn = variances / (variances + spread)
    error = drawn * spread + drawn**2 / _around(weights)
    # An error wider than the noise of the count itself says nothing more than that noise.
    return (
        (ratios + drawn * (expected - ratios)) * thresholds,
        np.minimum(WIDER * np.sqrt(error) * thresholds, sigmas),
    )


def estimated(released: ReleasedCounts, settings: Settings) -> tuple[Floats, Floats]:
    """Return the counts of a run of Private Count Release, and their standard errors.

    With the paper's noise each noisy count is its own estimate.
    """
    noisy = released.counts.astype(np.float64)
    if settings.noise == 1:
        return noisy, released.sigmas
    return smoothed(released.thresholds, noisy, released.sigmas)


def _around(values: Floats) -> Floats:
    """Return sums over each item's neighbours and itself."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    places = np.arange(values.size)
    last = np.minimum(places + NEIGHBOURS + 1, values.size)
    first = np.maximum(places - NEIGHBOURS, 0)
    return sums[last] - sums[first]
