"""The population of a rationed release, on an engine that keeps one row for each user.

A user's items are in an array in that row, so that no question moves more than a few numbers per
item. All answers are, number by number, those of `headcount.views.engine_population`.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from headcount.arrays import to_arrow, to_numpy
from headcount.engines.base import Expression
from headcount.engines.groups import GroupedUsers
from headcount.inputs.open import Events
from headcount.privacy.questions import GRID, RATION, ClippedSums, Integers, ItemWeights
from headcount.views.engine_population import EnginePopulation
from headcount.views.histogram import TopCounts, exact_pairs, highest, unused_name
from headcount.views.integers import whole
from headcount.views.passes import Queries

if TYPE_CHECKING:
    import pyarrow as pa

_ERROR_PREFIX = "the events cannot be aggregated"


class GroupedPopulation(EnginePopulation):
    """Who has what in some events: a `headcount.privacy.questions.Pairs`.

    Users are told apart by their exact ids, and items by the same values that all other passes
    group by (`headcount.views.histogram.exact_pairs`). Items are known here by codes; their names
    stay on the engine until they are asked for.
    """

    def __init__(self, events: Events, user: str, items: Sequence[str]) -> None:
        self._events = events
        self._passes = Queries(events, items)
        person, rows = exact_pairs(events, user, items, events.engine.canonical_key)
        self._grouped = events.engine.group_users(rows, person, items, "the events cannot be read")
        self._found = np.zeros((2, 0), dtype=np.int64)  # codes, and how many users each has
        self._open: GroupedUsers | None = self._grouped.users  # without these; None: not made yet
        self._known: GroupedUsers | None = None  # only these, by position; None: likewise
        self._sizes: tuple[Integers, Integers] | None = None

    def highest_counts(self, limit: int) -> TopCounts:
        """Return the highest ``limit`` counts of distinct users, from the same snapshot."""
        items, count = self._grouped.items, self._grouped.count
        return highest(self._events, items, self._passes.items, count, limit)

    def sizes(self, at_least: Sequence[int]) -> list[int]:
        """For each bound, how many users have at least that many items not yet found."""
        if self._sizes is None:
            table = self._open_users().table
            each = table.select(size=table["items"].length().cast("int64"))
            counted = each.group_by("size").agg(users=each.count().cast("int64"))
            answer = self._passes.run(counted)
            self._sizes = to_numpy(answer["size"]), to_numpy(answer["users"])
        sizes, users = self._sizes
        return [int(users[sizes >= bound].sum()) for bound in at_least]

    def weights(self, unit: int, max_items_per_user: int, at_least: int) -> ItemWeights:
        """For items not yet found, the sum of their users' weights, if it is large enough."""
        table = self._open_users().table
        size = table["items"].length().cast("int64")
        # Users with too many items give nothing, but still count as users of these items.
        weight = (size <= max_items_per_user).ifelse(self._weight(unit, size), whole(0))
        pairs = _exploded(table.filter(size > 0).select("items", weight=weight), "weight")
        sums = pairs.group_by("item").agg(
            total=pairs["weight"].sum().cast("int64"), users=pairs.count().cast("int64")
        )
        sums = sums.filter(sums["total"] >= max(1, at_least))
        ranks = self._grouped.items.select(item=self._grouped.code, rank=self._grouped.rank)
        answer = self._passes.run(sums.join(ranks, "item"))
        # In the order of the items: a hash table's would reveal something where noisy weights tie.
        order = np.argsort(to_numpy(answer["rank"]))
        codes, users, totals = (
            to_numpy(answer[name])[order] for name in ("item", "users", "total")
        )
        return ItemWeights(totals, np.array([codes, users]))

    def found(self, weights: ItemWeights, places: Sequence[int]) -> None:
        """Add the items at these positions of an answer of `weights` to those found."""
        if len(places):
            new = weights.items[:, np.array(places, dtype=np.int64)]
            self._found = np.concatenate([self._found, new], axis=1)
            self._open = self._known = self._sizes = None

    def found_names(self) -> "pa.Table":
        """Return the found items, which are public, one row each, in the order they were found."""
        return self.found_named(np.arange(self._found.shape[1]))

    def found_named(self, positions: Integers) -> "pa.Table":
        """Return the names of found items, given their positions among those found."""
        import pyarrow as pa

        grouped, columns = self._grouped, self._passes.items
        place = unused_name("place", [*columns, grouped.code])
        codes, places = self._found[0][positions], np.arange(positions.size)
        asked = pa.table({grouped.code: to_arrow(codes), place: to_arrow(places)})
        named = self._passes.numbers(asked).join(grouped.items, grouped.code)
        answer = self._passes.run(named.select(place, *columns))
        return answer.take(to_arrow(np.argsort(to_numpy(answer[place])))).select(columns)

    def clipped_sums(self, costs: Integers, base: int = 0) -> ClippedSums:
        """For each found item, the sum of its users' shares; with a base, that of all users too."""
        import ibis

        over = self._over(costs, base, {})
        # As if everyone had one more item, the last: position -1, as in NumPy.
        items = over["items"].concat(ibis.array([-1]))
        less = over.select(items=items, less=whole(GRID) - self._share(over["cost"], base))
        pairs = _exploded(less, "less")
        sums = pairs.group_by("item").agg(total=pairs["less"].sum().cast("int64"))
        answer = self._passes.run(sums)
        # All but a few users have whole shares.
        result = GRID * np.append(self._found[1], self._number_of_users if base else 0)
        result[to_numpy(answer["item"])] -= to_numpy(answer["total"])
        of_items = np.where(costs > 0, result[:-1], 0)
        return ClippedSums(of_items, int(result[-1]) if base else 0)

    @cached_property
    def _number_of_users(self) -> int:
        table = self._grouped.users.table
        return self._numbers(table.aggregate(users=table.count().cast("int64")))[0]

    def _lost(self, costs: Integers, values: Integers, base: int) -> Expression:
        """Return what each user loses of some values of items, except users within their ration."""
        over = self._over(costs, base, {"value": values})
        return self._lost_of(over, self._share(over["cost"], base))

    def _over(self, costs: Integers, base: int, values: dict[str, Integers]) -> Expression:
        """Return users who exceed their ration, with the cost of their items and sums of values."""
        each = {name: np.where(costs > 0, value, 0) for name, value in values.items()}
        if self._known is None:
            self._known = self._grouped.users.only(self._found[0], _ERROR_PREFIX)
        table = self._known.sums({"cost": costs, **each}, _ERROR_PREFIX)
        return table.filter(table["cost"] > whole(RATION - base))

    def _open_users(self) -> GroupedUsers:
        """Return the users with those of their items that are not yet found."""
        if self._open is None:
            self._open = self._grouped.users.without(self._found[0], _ERROR_PREFIX)
        return self._open


def _exploded(table: Expression, column: str) -> Expression:
    """Return a row for each item of each user, with one of the user's columns beside it.

    That column is computed once per user; in one query with the array, it would be once per item.
    """
    return table.select(column, item=table["items"].unnest())
