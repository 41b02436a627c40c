"""Private Count Release, the very code that releases are made with, on a seeded source."""

from dataclasses import dataclass, replace

import numpy as np

from headcount.compare.dataset import Dataset
from headcount.compare.methods import Released, Target
from headcount.privacy.budget import Budget
from headcount.privacy.entropy import SeededEntropy
from headcount.privacy.estimate import smoothed
from headcount.privacy.pcr import private_count_release
from headcount.privacy.settings import PRESETS


@dataclass(frozen=True)
class PrivateCountRelease:
    """A method of ``headcount release``: ``pcr`` or ``pcr-paper``."""

    name: str

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Run it once."""
        settings = replace(PRESETS[self.name], r=target.r)
        top = -np.sort(-dataset.counts)[: settings.k_bar + 1]
        released = private_count_release(
            top,
            0,
            settings,
            Budget(rho=target.rho, delta=target.delta),
            SeededEntropy(int(rng.integers(2**63))),
        )
        counts = released.counts.astype(np.float64)
        if settings.noise > 1:
            counts, _ = smoothed(released.thresholds, counts, released.sigmas)
        return Released(released.positions, counts)
