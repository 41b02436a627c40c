"""Private Count Release, the very code that releases are made with, on a seeded source."""

from dataclasses import dataclass, replace

import numpy as np

from headcount.compare.dataset import Dataset
from headcount.compare.methods import Released, Target
from headcount.privacy.budget import Budget
from headcount.privacy.candidates import Candidates
from headcount.privacy.entropy import SeededEntropy
from headcount.privacy.pcr import private_count_release
from headcount.privacy.settings import METHODS


@dataclass(frozen=True)
class PrivateCountRelease:
    """A method of ``headcount release``: ``pcr`` or ``pcr-paper``."""

    name: str

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Run it once."""
        settings = replace(METHODS[self.name], r=target.r)
        top = -np.sort(-dataset.counts)[: settings.k_bar + 1]
        released = private_count_release(
            Candidates.from_top(top, settings.k_bar),
            settings,
            Budget(rho=target.rho, delta=target.delta),
            SeededEntropy(int(rng.integers(2**63))),
        )
        return Released(released.positions, released.counts.astype(np.float64))
