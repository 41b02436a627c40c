"""Who has what, in plain Python: what every population must answer, in whole numbers."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from headcount.privacy.questions import GRID, RATION, ClippedSums, ItemWeights


def by_item(weights: ItemWeights) -> dict[object, int]:
    """The weights of a `PlainPopulation`, by the names of its items."""
    return dict(zip(weights.items, weights.values.tolist(), strict=True))


def both(sums: ClippedSums) -> tuple[list[int], int]:
    """What an answer of `clipped_sums` says, to compare it with another."""
    return sums.items.tolist(), sums.users


class PlainPopulation:
    """A population made of pairs of users and items; `names` are the items found, in order."""

    def __init__(self, pairs: Iterable[tuple[object, object]]) -> None:
        self.items_of: dict[object, set[object]] = {}
        for user, item in pairs:
            self.items_of.setdefault(user, set()).add(item)
        self.names: list[object] = []

    def _open(self) -> list[set[object]]:
        found = set(self.names)
        return [items - found for items in self.items_of.values()]

    def sizes(self, at_least: Sequence[int]) -> list[int]:
        sizes = [len(items) for items in self._open()]
        return [sum(size >= bound for size in sizes) for bound in at_least]

    def weights(self, unit: int, most_items: int, at_least: int):
        sums: Counter[object] = Counter()
        for items in self._open():
            if 0 < len(items) <= most_items:
                sums.update(dict.fromkeys(items, math.isqrt(unit**2 // len(items))))
        items = sorted((item for item in sums if sums[item] >= at_least), key=repr)
        return ItemWeights(np.array([sums[item] for item in items], dtype=np.int64), items)

    def found(self, weights: ItemWeights, places: Sequence[int]) -> None:
        self.names += [weights.items[place] for place in places]

    def shares(self, costs, base=0) -> list[tuple[int, list[int]]]:
        """Of each user: a, and the places of the items that it is given to."""
        place = {item: number for number, item in enumerate(self.names) if costs[number] > 0}
        shares = []
        for items in self.items_of.values():
            mine = [place[item] for item in items if item in place]
            total = base + sum(int(costs[number]) for number in mine)
            share = math.isqrt(GRID**2 * RATION // total) if total else GRID
            shares.append((min(GRID, share), mine))
        return shares

    def clipped_sums(self, costs, base=0):
        sums = np.zeros(len(costs), dtype=np.int64)
        shares = self.shares(costs, base)
        for share, places in shares:
            sums[places] += share
        return ClippedSums(sums, sum(share for share, _ in shares) if base else 0)

    def losers(self, costs, weights, at_least: Sequence[int], base=0) -> list[int]:
        lost = [
            (GRID - share) * sum(int(weights[place]) for place in places)
            for share, places in self.shares(costs, base)
        ]
        return [sum(each >= bound for each in lost) for bound in at_least]
