"""The methods of ``headcount release``, the very code that releases are made with, seeded."""

from dataclasses import dataclass, replace

import numpy as np

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.in_memory import ArrayPopulation
from headcount.evaluation.methods import Released, Target
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.mechanisms.auto.choice import release_automatically
from headcount.privacy.mechanisms.pcr.estimate import estimated
from headcount.privacy.mechanisms.pcr.private_count_release import (
    ReleasedCounts,
    private_count_release,
)
from headcount.privacy.mechanisms.pcr.settings import settings_for
from headcount.privacy.mechanisms.rationed.rationed_release import RationedCounts, rationed_release
from headcount.privacy.randomness import SeededEntropy


@dataclass(frozen=True)
class ReleaseMethod:
    """A method of ``headcount release``: ``auto``, ``pcr``, ``rationed`` or ``pcr-paper``."""

    name: str

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Run it once."""
        settings = replace(settings_for(self.name), r=target.r)
        budget = Budget(rho=target.rho, delta=target.delta)
        entropy = SeededEntropy(int(rng.integers(2**63)))
        top = -np.sort(-dataset.counts)[: settings.k_bar + 1]
        population = ArrayPopulation(dataset)
        released: ReleasedCounts | RationedCounts
        match self.name:
            case "auto":
                released = release_automatically(top, population, settings, budget, entropy)
            case "rationed":
                released = rationed_release(population, settings.r, budget, entropy)
            case _:
                released = private_count_release(top, 0, settings, budget, entropy)
        if isinstance(released, RationedCounts):
            items = population.found_items[released.positions]
            return Released(items, released.estimates, errors=released.errors)
        estimates, errors = estimated(released, settings)
        # Item 0 of a dataset has the most users, and so on: positions are items.
        return Released(released.positions, estimates, errors=errors)
