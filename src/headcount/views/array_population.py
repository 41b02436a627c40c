"""A population held as arrays of distinct pairs: every question is one loop over their parts.

All answers are exact 64-bit integers and, number by number, those of
`headcount.views.engine_population`.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.questions import GRID, RATION, ClippedSums, Integers, ItemWeights
from headcount.views.pair_arrays import Part
from headcount.views.shelf import Shelf
from headcount.views.workers import Workers

_Result = TypeVar("_Result")

# Whole numbers below this are exact as floats, and so are sums of them that stay below it.
_EXACT = 2**53


class ArrayPopulation:
    """Who has what: a `headcount.privacy.questions.Population` that knows its items by codes.

    Attributes:
        found_items: the codes of the items found, in the order they were found.
    """

    def __init__(
        self, parts: Sequence[Part], number_of_items: int, workers: Workers, shelf: Shelf
    ) -> None:
        self._all = list(parts)
        self._shelf = shelf
        self._number_of_items = number_of_items
        self._workers = workers
        self._open: list[Part] | None = self._all  # without the items found; None: not made yet
        self._known: list[Part] | None = None  # only these items, by position; None: likewise
        self._counts: Integers | None = None
        self.found_items: Integers = np.zeros(0, dtype=np.int64)

    @property
    def number_of_users(self) -> int:
        """How many users have an item."""
        return sum(part.sizes.size for part in self._all)

    def counts(self) -> Integers:
        """Return how many users each item has."""
        if self._counts is None:
            self._counts = self._sums(self._all, self._number_of_items, 1, lambda part: part.items)
        return self._counts

    def sizes(self, at_least: Sequence[int]) -> list[int]:
        """For each bound, how many users have at least that many items not yet found."""

        def of(part: Part) -> NDArray[np.int64]:
            return part.sizes.size - np.searchsorted(np.sort(part.sizes), at_least)

        return self._total(of, self._open_parts(), len(at_least))

    def weights(self, unit: int, max_items_per_user: int, at_least: int) -> ItemWeights:
        """For items not yet found, the sum of their users' weights, if it is large enough."""

        def given(part: Part) -> tuple[NDArray[Any], Integers]:
            each = _root(unit**2 // part.sizes.astype(np.int64))
            each[part.sizes > max_items_per_user] = 0
            return part.items, np.repeat(each, part.sizes)

        sums = self._sums(self._open_parts(), self._number_of_items, unit, given)
        codes = np.flatnonzero(sums >= max(1, at_least))
        return ItemWeights(sums[codes], codes)

    def found(self, weights: ItemWeights, places: Sequence[int]) -> None:
        """Add the items at these positions of an answer of `weights` to those found."""
        new = weights.items[np.array(places, dtype=np.int64)]
        if new.size:
            self.found_items = np.concatenate([self.found_items, new])
            self._open = self._known = None

    def clipped_sums(self, costs: Integers, base: int = 0) -> ClippedSums:
        """For each found item, the sum of its users' shares; with a base, that of all users too."""
        everybody = costs.size  # as if it were one more item that every user has

        def taken(part: Part) -> tuple[NDArray[Any], Integers]:
            over = _Over(part, costs, base)
            less = GRID - over.shares
            items = np.concatenate([over.items, np.full(less.size, everybody)])
            return items, np.concatenate([np.repeat(less, over.sizes), less])

        # All but a few users have whole shares.
        less = self._sums(self._known_parts(), costs.size + 1, GRID, taken)
        items = np.where(costs > 0, GRID * self.counts()[self.found_items] - less[:-1], 0)
        return ClippedSums(items, GRID * self.number_of_users - int(less[-1]) if base else 0)

    def losers(
        self, costs: Integers, weights: Integers, at_least: Sequence[int], base: int = 0
    ) -> list[int]:
        """For each bound, which is 1 or more, how many users lose at least that much."""
        weights = np.where(costs > 0, weights, 0)

        def of(part: Part) -> NDArray[np.int64]:
            lost = np.sort(_Over(part, costs, base).lost(weights))
            return lost.size - np.searchsorted(lost, at_least)

        return self._total(of, self._known_parts(), len(at_least))

    def _open_parts(self) -> list[Part]:
        """Return the pairs of items that are not yet found."""
        if self._open is None:
            is_open = np.ones(self._number_of_items, dtype=np.bool_)
            is_open[self.found_items] = False
            self._open = self._restricted(lambda items: (is_open[items], items))
        return self._open

    def _known_parts(self) -> list[Part]:
        """Return the pairs of found items, each item given by its position among those found."""
        if self._known is None:
            self._open = None  # not needed once items are counted: this frees its memory
            place = np.full(self._number_of_items, -1, dtype=np.int32)
            place[self.found_items] = np.arange(self.found_items.size, dtype=np.int32)

            def known(items: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
                places = place[items]
                return places >= 0, places

            self._known = self._restricted(known)
        return self._known

    def _restricted(
        self, choose: Callable[[NDArray[Any]], tuple[NDArray[np.bool_], NDArray[Any]]]
    ) -> list[Part]:
        def chosen(part: Part) -> Part:
            return part.where(*choose(part.items)).kept(self._shelf)

        return [part for part in self._each(chosen, self._all) if part.sizes.size]

    def _each(self, do: Callable[[Part], _Result], parts: Sequence[Part]) -> Iterator[_Result]:
        """Apply a function to each part, which stays in memory only as long as that takes."""

        def done(part: Part) -> _Result:
            result = do(part)
            part.let_go()
            return result

        return self._workers.each(done, parts)

    def _total(
        self, of: Callable[[Part], NDArray[np.int64]], parts: Sequence[Part], number: int
    ) -> list[int]:
        """Return the sums over all parts of a few numbers of each."""
        total = np.zeros(number, dtype=np.int64)
        for each in self._each(of, parts):
            total += each
        return total.tolist()

    def _sums(
        self,
        parts: Sequence[Part],
        number: int,
        largest: int,
        of: Callable[[Part], Any],
    ) -> Integers:
        """Return sums by item; ``of`` gives items and their values, none above ``largest``.

        If it gives no values, the sums are counts.
        """
        total, lock = np.zeros(number, dtype=np.int64), threading.Lock()

        def add(part: Part) -> None:
            given = of(part)
            items, values = given if isinstance(given, tuple) else (given, None)
            if items.size < number or items.size * largest >= _EXACT:
                with lock:
                    np.add.at(total, items, 1 if values is None else values)
                return
            weights = None if values is None else values.astype(np.float64)
            sums = np.bincount(items, weights, number)
            with lock:
                np.add(total, sums, out=total, casting="unsafe")

        for _ in self._each(add, parts):
            pass
        return total


class _Over:
    """The users of a part whose items cost more than a ration; all others have a whole share.

    A user whose costs plus the base are at most RATION has the share GRID, by definition, and loses
    nothing.

    Attributes:
        sizes: how many items each has.
        shares: the share of each, below GRID.
        items: the items of all of them, in the order of the users.
    """

    def __init__(self, part: Part, costs: Integers, base: int) -> None:
        starts = part.starts
        spent = base + np.add.reduceat(costs[part.items], starts) if starts.size else starts
        over = np.flatnonzero(spent > RATION)
        self.shares = np.minimum(_root(GRID**2 * RATION // spent[over]), GRID)
        self.sizes = part.sizes[over].astype(np.int64)
        self._begin = np.cumsum(self.sizes) - self.sizes
        places = np.repeat(starts[over] - self._begin, self.sizes)
        self.items = part.items[places + np.arange(places.size)]

    def lost(self, values: Integers) -> Integers:
        """Return what each of them loses of some values of items."""
        if not self.sizes.size:
            return self.sizes
        return (GRID - self.shares) * np.add.reduceat(values[self.items], self._begin)


def _root(numbers: Integers) -> Integers:
    """Return square roots, rounded down: those of floats, minus 1 where they are too large."""
    roots = np.sqrt(numbers.astype(np.float64)).astype(np.int64)
    return roots - (roots * roots > numbers)
