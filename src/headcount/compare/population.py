"""A population in memory, to run what asks one on a dataset in seconds."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headcount.compare.dataset import Dataset
from headcount.privacy.population import GRID, RATION, Integers


class ArrayPopulation:
    """Who has what in a dataset, as `headcount.privacy.population.Population` asks it.

    Attributes:
        found_items: the codes of the items found, in the order they were found.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._open = np.ones(dataset.number_of_items, dtype=np.bool_)
        self._left = dataset
        self._asked = np.zeros(0, dtype=np.int64)
        self._pairs = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        self.found_items = np.zeros(0, dtype=np.int64)

    def sizes(self, at_least: Sequence[int]) -> list[int]:
        """Return how many users have at least so many items that are not found yet."""
        return [int(np.count_nonzero(self._left.items_per_user >= bound)) for bound in at_least]

    def weights(self, unit: int, most_items: int, at_least: int) -> Integers:
        """Return the sums of users' weights for items not found yet, where large enough."""
        sizes = self._left.items_per_user
        each = _root(unit**2 // np.maximum(sizes, 1))
        each[sizes > most_items] = 0
        sums = self._sums(self._left.items, each[self._left.users], self._open.size)
        self._asked = np.flatnonzero(sums >= max(1, at_least))
        return sums[self._asked]

    def found(self, places: Sequence[int]) -> None:
        """Add items, given by their places in the last answer of `weights`, to those found."""
        new = self._asked[np.array(places, dtype=np.int64)]
        self._open[new] = False
        self.found_items = np.concatenate([self.found_items, new])
        self._left = self._left.restricted(self._open)
        place = np.zeros(self._open.size, dtype=np.int64)
        place[self.found_items] = np.arange(self.found_items.size)
        known = self._dataset.restricted(~self._open)
        self._pairs = (known.users.astype(np.int64), place[known.items])

    def clipped_sums(self, costs: Integers) -> Integers:
        """Return, for each found item, the sum of its users' shares."""
        users, places = self._pairs
        sums = self._sums(places, self._shares(costs)[users], costs.size)
        return np.where(costs > 0, sums, 0)

    def lost(self, costs: Integers, among: NDArray[np.bool_], most: int) -> int:
        """Return the sum over users of what they do not count for, at most ``most`` each."""
        users, places = self._pairs
        items = self._sums(users, (among & (costs > 0)).astype(np.int64)[places], self._users)
        return int(np.minimum((GRID - self._shares(costs)) * items, most).sum())

    @property
    def _users(self) -> int:
        return self._dataset.number_of_users

    def _shares(self, costs: Integers) -> Integers:
        users, places = self._pairs
        spent = self._sums(users, costs[places], self._users)
        return np.minimum(_root(GRID**2 * RATION // np.maximum(spent, 1)), GRID)

    @staticmethod
    def _sums(groups: NDArray[np.integer], values: Integers, number: int) -> Integers:
        """Return sums of whole numbers, in two halves that floats hold exactly."""
        high = np.bincount(groups, (values >> 26).astype(np.float64), number)
        low = np.bincount(groups, (values & (2**26 - 1)).astype(np.float64), number)
        return (high.astype(np.int64) << 26) + low.astype(np.int64)


def _root(numbers: Integers) -> Integers:
    roots = np.sqrt(numbers.astype(np.float64)).astype(np.int64)
    return roots - (roots * roots > numbers)
