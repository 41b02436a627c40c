"""Rivals that know the data, to measure how much room for improvement there is.

Nobody could use these as methods, because they pay nothing for what they know.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.methods import Released, Target
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.mechanisms.threshold.threshold_release import Thresholding

#: σ of the oracle's counts, as a share of the target error, so that 90 % of them are within it.
ORACLE_NOISE = 0.6
#: The share of the counts of its rarest quarter of items that the oracle may lose to rations, on
#: average.
ORACLE_LOSS = 0.025


@dataclass(frozen=True)
class BestThreshold:
    """The method threshold, with the bound that gives the most accurate counts in the same run."""

    name: str = "threshold-best"

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Run it once with each power of two, and return the best."""
        budget = Budget(rho=target.rho, delta=target.delta)
        best, most = Released(np.empty(0, np.int64), np.empty(0), 1.0), -1
        for power in range(max(1, dataset.max_items_per_user).bit_length()):
            released = _thresholded(dataset, Thresholding.of(2**power, target.r, budget), rng)
            truth = dataset.counts[released.items]
            accurate = int(np.sum(np.abs(released.counts - truth) <= target.r * truth))
            if accurate > most:
                best, most = released, accurate
        return best


def _thresholded(dataset: Dataset, method: Thresholding, rng: np.random.Generator) -> Released:
    counts = dataset.bounded(method.max_items_per_user, rng).counts
    noisy = counts + rng.normal(0, method.sigma, counts.size)
    items = np.flatnonzero((counts > 0) & (noisy > method.threshold))
    return Released(items, noisy[items], method.sigma)


@dataclass(frozen=True)
class Oracle:
    """Knows the items, their order and their counts, and pays for one measurement of each.

    It takes the better of two ways. As in `pcr`, it measures centred counts, each at its worst-case
    cost. Or as in `rationed`, every user has a ration, and it goes down the ranks as long as little
    is lost.
    """

    name: str = "oracle"

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Return as many items as the better way can measure, each with its noise."""
        sigmas = ORACLE_NOISE * target.r * dataset.counts.astype(np.float64)
        number = max(_centred(sigmas, target.rho), _rationed(dataset, sigmas, target.rho))
        items = np.arange(number)
        counts = dataset.counts[:number] + rng.normal(0, sigmas[:number])
        return Released(items, counts, errors=sigmas[:number])


def _centred(sigmas: NDArray[np.float64], rho: float) -> int:
    """How many items can be measured if one user might have all of them, at 1/(8σ²) each."""
    return int(np.searchsorted(np.cumsum(1 / (8 * sigmas**2)), rho, side="right"))


def _rationed(dataset: Dataset, sigmas: NDArray[np.float64], rho: float) -> int:
    """How many items can be measured before the rarest lose too much."""
    fits, too_many = 0, dataset.number_of_items + 1
    while too_many - fits > 1:
        number = (fits + too_many) // 2
        if _loss(dataset, sigmas, rho, number) <= ORACLE_LOSS:
            fits = number
        else:
            too_many = number
    return fits


def _loss(dataset: Dataset, sigmas: NDArray[np.float64], rho: float, number: int) -> float:
    """Return the share of a count that is lost, on average over the rarest quarter of items."""
    taken = dataset.items < number
    users, items = dataset.users[taken], dataset.items[taken]
    spent = np.bincount(users, 1 / (2 * sigmas[items] ** 2), dataset.number_of_users)
    shares = np.minimum(1, np.sqrt(rho / np.maximum(spent, rho)))
    kept = np.bincount(items, shares[users], number) / dataset.counts[:number]
    return 1 - float(kept[number - max(1, number // 4) :].mean())
