"""A population in memory, to run what asks one on a dataset in seconds."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headcount.evaluation.dataset import Dataset
from headcount.views.protocol import GRID, RATION, Integers, ItemWeights


class ArrayPopulation:
    """Who has what in a dataset, as `headcount.views.protocol.Population` asks it.

    Attributes:
        found_items: the codes of the items found, in the order they were found.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._open = np.ones(dataset.number_of_items, dtype=np.bool_)
        self._left = dataset
        self._known = dataset.restricted(~self._open)
        self._places = np.zeros(0, dtype=np.int64)
        self.found_items = np.zeros(0, dtype=np.int64)

    def sizes(self, at_least: Sequence[int]) -> list[int]:
        """Return how many users have at least so many items that are not found yet."""
        return [int(np.count_nonzero(self._left.items_per_user >= bound)) for bound in at_least]

    def weights(self, unit: int, max_items_per_user: int, at_least: int) -> ItemWeights:
        """Return the sums of users' weights for items not found yet, where large enough."""
        sizes = self._left.items_per_user
        each = _root(unit**2 // np.maximum(sizes, 1))
        each[sizes > max_items_per_user] = 0
        sums = _sums(self._left.items, each[self._left.users], self._open.size)
        codes = np.flatnonzero(sums >= max(1, at_least))
        return ItemWeights(sums[codes], codes)

    def found(self, weights: ItemWeights, places: Sequence[int]) -> None:
        """Add items to those found: the ones at these places of an answer of `weights`."""
        new = weights.items[np.array(places, dtype=np.int64)]
        self._open[new] = False
        self.found_items = np.concatenate([self.found_items, new])
        self._left = self._left.restricted(self._open)
        place = np.zeros(self._open.size, dtype=np.int64)
        place[self.found_items] = np.arange(self.found_items.size)
        self._known = self._dataset.restricted(~self._open)
        self._places = place[self._known.items]

    def clipped_sums(self, costs: Integers) -> Integers:
        """Return, for each found item, the sum of its users' shares."""
        sums = _sums(self._places, self._shares(costs)[self._known.users], costs.size)
        return np.where(costs > 0, sums, 0)

    def losers(self, costs: Integers, weights: Integers, at_least: Sequence[int]) -> list[int]:
        """Return how many users lose at least so much."""
        lost = self._lost(costs, weights)
        return [int(np.count_nonzero(lost >= bound)) for bound in at_least]

    def lost(self, costs: Integers, features: Sequence[Integers], most: Sequence[int]) -> list[int]:
        """Return what users lose of each feature, at most so much of one user."""
        pairs = zip(features, most, strict=True)
        return [int(np.clip(self._lost(costs, each), -m, m).sum()) for each, m in pairs]

    def _lost(self, costs: Integers, values: Integers) -> Integers:
        return (GRID - self._shares(costs)) * self._per_user(np.where(costs > 0, values, 0))

    def _shares(self, costs: Integers) -> Integers:
        spent = self._per_user(costs)
        return np.minimum(_root(GRID**2 * RATION // np.maximum(spent, 1)), GRID)

    def _per_user(self, values: Integers) -> Integers:
        """Return the sum, for each user, of the values of the found items that they have."""
        # Pairs are in the order of users. Where all together leave 64 bits, differences are right.
        sums = np.concatenate([[0], np.cumsum(values[self._places])])
        ends = np.cumsum(self._known.items_per_user)
        totals: Integers = sums[ends] - sums[ends - self._known.items_per_user]
        return totals


def _sums(groups: NDArray[np.integer], values: Integers, number: int) -> Integers:
    """Return sums of numbers so small that floats hold the sums exactly."""
    return np.bincount(groups, values.astype(np.float64), number).astype(np.int64)


def _root(numbers: Integers) -> Integers:
    roots = np.sqrt(numbers.astype(np.float64)).astype(np.int64)
    return roots - (roots * roots > numbers)
