"""Which items there are, found with differential privacy from data with bounded contributions.

Simulations for comparison. Each spends all of the ρ and δ that it is given.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.thresholds import gaussian_sigma, gaussian_threshold, weighted_threshold

#: From data in which nobody has more than m items, m, ρ, δ and a generator: which items are found.
PartitionSelection: TypeAlias = Callable[
    [Dataset, int, float, float, np.random.Generator], NDArray[np.bool_]
]

# The parts of ρ and δ of DP-SIPS's rounds: each larger than the one before, as its authors advise;
# the numbers are a choice made here.
SIPS_SHARES = (0.05, 0.15, 0.8)


def gaussian(
    bounded: Dataset, max_items_per_user: int, rho: float, delta: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Noise on every count above 0, and a threshold: l2-sensitivity √m."""
    sigma = gaussian_sigma(np.sqrt(max_items_per_user), rho)
    return _above(bounded.counts, sigma, gaussian_threshold(sigma, max_items_per_user, delta), rng)


def weighted_gaussian(
    bounded: Dataset, max_items_per_user: int, rho: float, delta: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Each user spreads l2-norm 1 evenly over their items (Gopi et al. 2020)."""
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

    Swanberg, Desfontaines, Haney 2023. What a user spreads over items that were found is free for
    their other items in the next round.
    """
    found = np.zeros(bounded.number_of_items, dtype=np.bool_)
    for share in SIPS_SHARES:
        left = bounded.restricted(~found)
        found |= weighted_gaussian(left, max_items_per_user, share * rho, share * delta, rng)
    return found


#: By the names that options have for them.
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
    """Return which sums above 0 exceed a threshold with noise."""
    return (sums > 0) & (sums + rng.normal(0, sigma, sums.size) > threshold)
