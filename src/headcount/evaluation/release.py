"""The mechanisms of ``headcount release``: the same code that makes releases, with a seed."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.dataset_population import DatasetPopulation
from headcount.evaluation.methods import Released, Target
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms import Mechanism, MechanismResult, Options, mechanism
from headcount.privacy.questions import Integers
from headcount.privacy.randomness import SeededEntropy


@dataclass(frozen=True)
class ArrayCounts:
    """Counts of the items of a dataset; the name of an item is its code.

    Attributes:
        values: the counts.
        users: how many users there are, if requested.
        codes: the items that the counts belong to; items 0, 1, … if not given.
    """

    values: Integers
    users: int | None = None
    codes: Integers | None = None

    def named(self, positions: Integers) -> Integers:
        """Return the codes at these positions; a dataset's items are ranked by number of users."""
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
    """A dataset in memory: a `headcount.privacy.questions.DataView`."""

    dataset: Dataset
    several_passes: bool = True
    seed: int = 0

    def highest_counts(self, limit: int, *, with_users: bool = False) -> ArrayCounts:
        """Return the highest counts of distinct users."""
        counts = _highest(self.dataset, limit)
        return replace(counts, users=self.dataset.number_of_users) if with_users else counts

    def bounded_counts(self, max_items_per_user: int, at_least: int) -> ArrayCounts:
        """Return the counts of at least ``at_least``, of a seeded sample of each user's items."""
        rng = np.random.default_rng(self.seed)
        counts = self.dataset.bounded(max_items_per_user, rng).counts
        codes = np.flatnonzero(counts >= at_least)
        return ArrayCounts(counts[codes], codes=codes)

    def known_pairs(self) -> tuple[ArrayPairs, int, int]:
        """Refuse, because lists of known items are not simulated."""
        raise NotImplementedError

    def pairs(self) -> ArrayPairs:
        """Return who has what."""
        return ArrayPairs(self.dataset)


def _highest(dataset: Dataset, limit: int) -> ArrayCounts:
    return ArrayCounts(-np.sort(-dataset.counts)[:limit])


def simulated(chosen: Mechanism, dataset: Dataset, seed: int) -> MechanismResult:
    """Return a mechanism's result on a dataset, with seeded noise: never a release."""
    view = ArrayView(dataset, seed=seed)
    gate = Gate(chosen.budget.whole, SeededEntropy(seed))
    return chosen.prepare(view, gate, lambda step: None)()


@dataclass(frozen=True)
class ReleaseMethod:
    """A mechanism of ``headcount release``, by its name."""

    name: str

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Run it once."""
        chosen = mechanism(self.name).of(Options(relative_error=target.r), target.budget)
        result = simulated(chosen, dataset, int(rng.integers(2**63)))
        return Released(result.items, result.counts.estimates, errors=result.counts.errors)
