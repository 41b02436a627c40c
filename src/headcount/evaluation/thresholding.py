"""Noise on every positive count, and a threshold, for a small known contribution bound.

Korolova, Kenthapadi, Mishra, Ntoulas 2009; Wilson et al. 2020. Simulations for comparison. No
budget is spent on finding the items: the noisy counts that exceed the threshold are the result.
"""

from dataclasses import dataclass

import numpy as np

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.methods import Released, Target
from headcount.evaluation.thresholds import (
    gaussian_sigma,
    gaussian_threshold,
    laplace_scale,
    laplace_threshold,
)


@dataclass(frozen=True)
class ThresholdingMethod:
    """Noise and a threshold.

    Attributes:
        max_items_per_user: how many items of a user count, sampled uniformly if there are more.
        noise: ``gaussian`` or ``laplace``.
    """

    max_items_per_user: int
    noise: str = "gaussian"

    @property
    def name(self) -> str:
        """Its name in tables."""
        return f"{self.noise}-threshold"

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Run it once."""
        counts = dataset.bounded(self.max_items_per_user, rng).counts
        if self.noise == "gaussian":
            spread = gaussian_sigma(np.sqrt(self.max_items_per_user), target.rho)
            threshold = gaussian_threshold(spread, self.max_items_per_user, target.delta)
            noisy = counts + rng.normal(0, spread, counts.size)
            sigma = spread
        else:
            spread = laplace_scale(self.max_items_per_user, target.rho)
            threshold = laplace_threshold(spread, self.max_items_per_user, target.delta)
            noisy = counts + rng.laplace(0, spread, counts.size)
            sigma = spread * 2**0.5
        items = np.flatnonzero((counts > 0) & (noisy > threshold))
        return Released(items, noisy[items], sigma)
