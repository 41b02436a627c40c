"""Noise on every count and a threshold, for owners who know the most items that a user has.

`threshold.md`, next to this file, proves what `threshold_release` claims.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headcount.errors import BudgetError, SettingsError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.gaussian import measure_cost, reach, sigma_for
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.candidates import LARGEST_COUNT
from headcount.privacy.questions import bounded_counts

#: What share of the target error σ may be at the threshold: 91 % of such counts are within it.
ACCURATE = 0.58
#: The largest bound: δ divided by it is still a float of full precision.
LARGEST_BOUND = 10**6
# σ beyond this would leave the range of floating point on the way to a threshold.
_LARGEST_SIGMA = 1e100


@dataclass(frozen=True)
class Thresholding:
    """What follows from a bound, a target error and a budget; nothing in it depends on the data.

    Attributes:
        max_items_per_user: M, the most items of a user that count.
        r: the target relative error of a released count.
        sigma: σ of the noise on every count.
        threshold: T, what a noisy count must exceed to be released.
        looked_at: counts below this are left out before noise is added.
        cost: that of the whole release.
    """

    max_items_per_user: int
    r: float
    sigma: float
    threshold: int
    looked_at: int
    cost: Cost

    @classmethod
    def of(cls, max_items_per_user: int | None, r: float, budget: Budget) -> "Thresholding":
        """Derive σ and T: public formulas (threshold.md)."""
        most = _checked(max_items_per_user)
        if most / (2 * budget.rho_for_filter) > _LARGEST_SIGMA**2:
            raise BudgetError("this budget is too small for the method threshold")
        sigma = sigma_for(budget.rho_for_filter, most)
        margin = reach(sigma, budget.delta_selection / most)
        bound = max(1 + margin, math.ceil(sigma / (ACCURATE * r)))
        return cls(
            max_items_per_user=most,
            r=r,
            sigma=sigma,
            threshold=bound,
            looked_at=min(bound - margin, LARGEST_COUNT),
            cost=Cost(measure_cost(sigma, most), budget.delta_selection),
        )

    def to_dict(self) -> dict[str, object]:
        """Return what a release says about it, as plain values."""
        return {
            "max_items_per_user": self.max_items_per_user,
            "r": self.r,
            "sigma": self.sigma,
            "threshold": self.threshold,
        }


@dataclass(frozen=True)
class ThresholdedCounts:
    """The transcript of a run. All of it may be published.

    Attributes:
        positions: which of the given counts are released, in the order they were given.
        counts: these counts with discrete Gaussian noise.
        spent: what the filter recorded.
    """

    positions: NDArray[np.int64]
    counts: NDArray[np.int64]
    spent: Cost


def threshold_release(
    counts: Sequence[int] | NDArray[np.int64],
    method: Thresholding,
    gate: Gate,
) -> ThresholdedCounts:
    """Add noise to every count and release those that exceed the threshold.

    Formal guarantee: the whole result is approximate zCDP at ``method.cost`` with respect to adding
    or removing one user, **provided** that a user changes at most ``max_items_per_user`` counts,
    each by 1, that all counts of at least ``looked_at`` are given and no others, and that the order
    in which they are given depends only on the names of their items (threshold.md).

    Edge cases: no counts at all cost as much as many.

    Args:
        counts: the counts of the bounded histogram.
        method: σ and T.
        gate: answers with noise.
    """
    true = np.asarray(counts, dtype=np.int64)
    if true.size and not method.looked_at <= true.min() <= true.max() <= LARGEST_COUNT:
        raise ValueError("counts must be those that are looked at")
    moved, delta = bounded_counts(method.max_items_per_user), method.cost.delta
    noisy = gate.noisy(lambda: true, moved, method.sigma, delta=delta)
    positions = np.flatnonzero(noisy > method.threshold)
    return ThresholdedCounts(positions, noisy[positions], gate.spent)


def _checked(most: int | None) -> int:
    if most is None:
        raise SettingsError(
            "the method threshold needs the largest number of items that a user can have "
            "(--max-items-per-user, max_items_per_user=)"
        )
    whole = isinstance(most, int) and not isinstance(most, bool)
    if not whole or not 1 <= most <= LARGEST_BOUND:
        raise SettingsError(
            "the most items of a user must be a whole number from 1 to "
            f"{LARGEST_BOUND:,}, got {most!r}"
        )
    return most
