"""The mechanisms of ``headcount release``, the very code that releases are made with, seeded."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.dataset_population import DatasetPopulation
from headcount.evaluation.methods import Released, Target
from headcount.privacy.mechanisms import Mechanism, MechanismResult, Options, mechanism
from headcount.privacy.randomness import SeededEntropy
from headcount.views.protocol import Integers


@dataclass(frozen=True)
class ArrayCounts:
    """Counts of the items of a dataset, whose names are their codes.

    Attributes:
        values: the counts.
        users: how many users there are, if that was asked for.
        codes: whose counts they are; those of items 0, 1, … if not given.
    """

    values: Integers
    users: int | None = None
    codes: Integers | None = None

    def named(self, positions: Integers) -> Integers:
        """Return codes: item 0 of a dataset has the most users, and so on."""
        return positions if self.codes is None else self.codes[positions]


class ArrayPairs(DatasetPopulation):
    """Who has what in a dataset, by the codes of its items."""

    def highest_counts(self, limit: int) -> ArrayCounts:
        """Return the highest counts of distinct users."""
        return _highest(self.dataset, limit)

    def found_named(self, positions: Integers) -> NDArray[np.int64]:
        """Return the codes of found items."""
        return self.found_items[positions]


@dataclass(frozen=True)
class ArrayView:
    """A dataset in memory, as `headcount.views.protocol.DataView` asks about it."""

    dataset: Dataset
    several_passes: bool = True
    seed: int = 0

    def highest_counts(self, limit: int, *, with_users: bool = False) -> ArrayCounts:
        """Return the highest counts of distinct users."""
        counts = _highest(self.dataset, limit)
        return replace(counts, users=self.dataset.number_of_users) if with_users else counts

    def bounded_counts(self, max_items_per_user: int, at_least: int) -> ArrayCounts:
        """Return counts with a limited number of items per user, which the seed chooses."""
        rng = np.random.default_rng(self.seed)
        counts = self.dataset.bounded(max_items_per_user, rng).counts
        codes = np.flatnonzero(counts >= at_least)
        return ArrayCounts(counts[codes], codes=codes)

    def known_pairs(self) -> tuple[ArrayPairs, int, int]:
        """Refuse: lists of items are not simulated."""
        raise NotImplementedError

    def pairs(self) -> ArrayPairs:
        """Return who has what."""
        return ArrayPairs(self.dataset)


def _highest(dataset: Dataset, limit: int) -> ArrayCounts:
    return ArrayCounts(-np.sort(-dataset.counts)[:limit])


def simulated(chosen: Mechanism, dataset: Dataset, seed: int) -> MechanismResult:
    """Return what a mechanism makes of a dataset, with seeded noise: never a release."""
    view = ArrayView(dataset, seed=seed)
    return chosen.prepare(view, SeededEntropy(seed), lambda step: None)()


@dataclass(frozen=True)
class ReleaseMethod:
    """A mechanism of ``headcount release``, by its name."""

    name: str

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Run it once."""
        chosen = mechanism(self.name).of(Options(relative_error=target.r), target.budget)
        result = simulated(chosen, dataset, int(rng.integers(2**63)))
        return Released(result.items, result.counts.estimates, errors=result.counts.errors)
