"""Differentially private partition selection: finding the items, from bounded contributions.

These are simulations for comparison. Each spends all of the ρ and δ that it is given.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.thresholds import gaussian_sigma, gaussian_threshold, weighted_threshold

#: Takes data in which no user has more than m items, m, ρ, δ and a generator; returns which items
#: are found.
PartitionSelection: TypeAlias = Callable[
    [Dataset, int, float, float, np.random.Generator], NDArray[np.bool_]
]

# The shares of ρ and δ that the rounds of DP-SIPS get. Each is larger than the one before, as its
# authors advise; the values are a choice made here.
SIPS_SHARES = (0.05, 0.15, 0.8)


def gaussian(
    bounded: Dataset, max_items_per_user: int, rho: float, delta: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Add noise to every count above 0 and apply a threshold; the l2-sensitivity is √m."""
    sigma = gaussian_sigma(np.sqrt(max_items_per_user), rho)
    return _above(bounded.counts, sigma, gaussian_threshold(sigma, max_items_per_user, delta), rng)


def weighted_gaussian(
    bounded: Dataset, max_items_per_user: int, rho: float, delta: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Spread an l2-norm of 1 evenly over the items of each user (Gopi et al. 2020)."""
    sigma = gaussian_sigma(1, rho)
    weight = 1 / np.sqrt(np.maximum(bounded.items_per_user, 1))
    weights = np.bincount(
        bounded.items, weights=weight[bounded.users], minlength=bounded.number_of_items
    )
    return _above(weights, sigma, weighted_threshold(sigma, max_items_per_user, delta), rng)


def sips(
    bounded: Dataset, max_items_per_user: int, rho: float, delta: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Run rounds of the weighted Gaussian, each without the items found before (DP-SIPS).

    Swanberg, Desfontaines, Haney 2023. The weight that a user spent on items already found is
    available to their other items in the next round.
    """
    found = np.zeros(bounded.number_of_items, dtype=np.bool_)
    for share in SIPS_SHARES:
        left = bounded.restricted(~found)
        found |= weighted_gaussian(left, max_items_per_user, share * rho, share * delta, rng)
    return found


#: By the names that options use.
SELECTIONS: dict[str, PartitionSelection] = {
    "weighted": weighted_gaussian,
    "gaussian": gaussian,
    "sips": sips,
}


def _above(
    sums: NDArray[np.float64] | NDArray[np.int64],
    sigma: float,
    threshold: float,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Return which of the sums above 0 exceed a threshold once noise is added."""
    return (sums > 0) & (sums + rng.normal(0, sigma, sums.size) > threshold)
