"""Plume's use of contribution bounds, as the paper describes and measures it.

Amin, Gillenwater, Joseph, Kulesza, Vassilvitskii 2022. A simulation for comparison: as in the
paper, m and m' are true percentiles of the data, and no budget is spent on them.
"""

import math
from dataclasses import dataclass

import numpy as np

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.methods import Released, Target
from headcount.evaluation.partition_selection import SELECTIONS
from headcount.evaluation.thresholds import gaussian_sigma

#: α, the share of ρ that partition selection gets.
SELECTION_SHARE = 0.5


@dataclass(frozen=True)
class Plume:
    """Bound contributions, find the items, restrict to them, bound again, add Gaussian noise.

    Attributes:
        percentile: the percentile of items per user that gives both bounds: m, among all items,
            and m', among the items found.
        selection: how the items are found, a name in ``SELECTIONS``.
        literal: use m' itself as the l2-sensitivity, as the paper writes. For m' counts that change
            by 1 each, √m' is enough.
    """

    percentile: int
    selection: str = "weighted"
    literal: bool = False

    @property
    def name(self) -> str:
        """Its name in tables."""
        kind = "" if self.selection == "weighted" else f"-{self.selection}"
        return f"plume{kind}{'-literal' if self.literal else ''}-{self.percentile}"

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Run it once."""
        bound = dataset.percentile(self.percentile)
        if bound == 0:
            return Released(np.empty(0, np.int32), np.empty(0))
        select = SELECTIONS[self.selection]
        bounded = dataset.bounded(bound, rng)
        found = select(bounded, bound, SELECTION_SHARE * target.rho, target.delta, rng)
        restricted = dataset.restricted(found)
        bound = restricted.percentile(self.percentile)
        sensitivity = bound if self.literal else math.sqrt(bound)
        sigma = gaussian_sigma(sensitivity, (1 - SELECTION_SHARE) * target.rho)
        items = np.flatnonzero(found)
        counts = restricted.bounded(bound, rng).counts[items]
        return Released(items, counts + rng.normal(0, sigma, items.size), sigma)


@dataclass(frozen=True)
class WithThreshold:
    """The counts of another method that are likely to be within the target.

    Keeps a noisy count y if (y + σ)/(y − σ) ≤ 1 + r, that is, y ≥ (2 + r)σ/r.
    """

    base: Plume

    @property
    def name(self) -> str:
        """Its name in tables."""
        return f"{self.base.name}-threshold"

    def cut(self, released: Released, target: Target) -> Released:
        """Leave out the low counts."""
        kept = released.counts >= (2 + target.r) * released.sigma / target.r
        return Released(released.items[kept], released.counts[kept], released.sigma)

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Run the method and leave out its low counts."""
        return self.cut(self.base.run(dataset, target, rng), target)
