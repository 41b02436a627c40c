"""The population of a rationed release, held by the engine that holds the events.

Users and items are numbered once. Every question is then a pass over pairs of numbers, joined with
a small public table; the answer is one number per item, or one per bound or feature.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headcount.arrays import to_arrow, to_numpy
from headcount.engines.base import Expression
from headcount.inputs.open import Events
from headcount.privacy.questions import GRID, RATION, ClippedSums, Integers, ItemWeights
from headcount.views.histogram import TopCounts, highest, unused_name
from headcount.views.integers import as_number, root_of, whole
from headcount.views.passes import Passes, Queries

if TYPE_CHECKING:
    import pyarrow as pa


class EnginePopulation:
    """Who has what in some events: a `headcount.privacy.questions.Pairs`."""

    def __init__(
        self, events: Events, user: str, items: Sequence[str], passes: Passes | None = None
    ) -> None:
        self._events = events
        self._passes: Queries
        self._passes = passes = passes or Passes(events, user, items)
        # None of these may be the name of an item column, which would replace it in a join.
        names = ("item_number", "users", "user_number", "items_of_user")
        self._item_number, self._users, user_number, items_of_user = (
            unused_name(name, items) for name in names
        )
        self._items = passes.numbered(items, self._item_number, self._users)
        numbered_users = passes.numbered([passes.user], user_number, items_of_user)
        pairs = passes.pairs.join(self._items, items).join(numbered_users, passes.user)
        pairs = pairs.select(user_number=user_number, item_number=self._item_number)
        self._split = _Split(
            passes=passes,
            item_number=self._item_number,
            pairs=passes.keep(events.engine.grouped(pairs, "user_number")),
            sizes=numbered_users.select(user_number=user_number, items=items_of_user),
        )

    def highest_counts(self, limit: int) -> TopCounts:
        """Return the highest ``limit`` counts of distinct users, from the same snapshot."""
        return highest(self._events, self._items, self._passes.items, self._users, limit)

    def sizes(self, at_least: Sequence[int]) -> list[int]:
        """For each bound, how many users have at least that many items not yet found."""
        sizes = self._split.open_sizes
        each = {f"bound{bound}": as_number(sizes["items"] >= bound).sum() for bound in at_least}
        return self._numbers(sizes.aggregate(**each))

    def weights(self, unit: int, max_items_per_user: int, at_least: int) -> ItemWeights:
        """For items not yet found, the sum of their users' weights, if it is large enough."""
        sizes = self._split.open_sizes
        giving = sizes.filter(sizes["items"] <= max_items_per_user)
        giving = giving.select("user_number", weight=self._weight(unit, giving["items"]))
        pairs = self._split.open_pairs.join(giving, "user_number")
        sums = pairs.group_by("item_number").agg(total=pairs["weight"].sum().cast("int64"))
        sums = sums.filter(sums["total"] >= max(1, at_least))
        sums = sums.select(**{self._item_number: "item_number", self._users: "total"})
        named = sums.join(self._items.drop(self._users), self._item_number)
        # In the order of the items: a hash table's would reveal something where noisy weights tie.
        answer = self._passes.run(named.order_by(self._passes.items))
        return ItemWeights(to_numpy(answer[self._users]), answer.drop_columns(self._users))

    def found(self, weights: ItemWeights, places: Sequence[int]) -> None:
        """Add the items at these positions of an answer of `weights` to those found."""
        new = weights.items.take(to_arrow(np.array(places, dtype=np.int64)))
        self._split = replace(self._split, rounds=(*self._split.rounds, new))

    def found_names(self) -> "pa.Table":
        """Return the found items, which are public, one row each, in the order they were found."""
        return self._split.found.select(self._passes.items)

    def found_named(self, positions: Integers) -> "pa.Table":
        """Return the names of found items, given their positions among those found."""
        return self.found_names().take(to_arrow(positions))

    def clipped_sums(self, costs: Integers, base: int = 0) -> ClippedSums:
        """For each found item, the sum of its users' shares; with a base, that of all users too."""
        pairs = self._priced({"cost": costs})
        each = pairs.group_by("user_number").agg(spent=pairs["cost"].sum().cast("int64"))
        shares = each.select("user_number", share=self._share(each["spent"], base))
        users = 0
        if base:
            shares = self._passes.keep(shares)
            without = (whole(GRID) - shares["share"]).sum().cast("int64")
            users = GRID * self._number_of_users - self._numbers(shares.aggregate(less=without))[0]
        joined = pairs.join(shares, "user_number")
        sums = joined.group_by("place").agg(total=joined["share"].sum().cast("int64"))
        answer = self._passes.run(sums)
        result = np.zeros(costs.size, dtype=np.int64)
        result[to_numpy(answer["place"])] = to_numpy(answer["total"])
        return ClippedSums(result, users)

    def losers(
        self, costs: Integers, weights: Integers, at_least: Sequence[int], base: int = 0
    ) -> list[int]:
        """For each bound, how many users lose at least that much."""
        lost = self._lost(costs, weights, base)
        each = {
            f"bound{bound}": as_number(lost["lost"] >= whole(bound)).sum() for bound in at_least
        }
        return self._numbers(lost.aggregate(**each))

    @cached_property
    def _number_of_users(self) -> int:
        sizes = self._split.sizes
        return self._numbers(sizes.aggregate(users=sizes.count().cast("int64")))[0]

    def _lost(self, costs: Integers, values: Integers, base: int) -> Expression:
        """Return what each user loses of some values of items."""
        pairs = self._priced({"cost": costs, "value": values})
        each = pairs.group_by("user_number").agg(
            spent=pairs["cost"].sum().cast("int64"), value=pairs["value"].sum().cast("int64")
        )
        return self._lost_of(each, self._share(each["spent"], base))

    def _lost_of(self, each: Expression, share: Expression) -> Expression:
        """Return what users lose of sums of values, given their shares."""
        return each.select(lost=(whole(GRID) - share) * each["value"])

    def _numbers(self, row: Expression) -> list[int]:
        """Return the numbers of a table of one row; a NULL, over no users, is 0."""
        return [int(number or 0) for number in self._passes.run(row, 1).to_pylist()[0].values()]

    def _priced(self, columns: dict[str, NDArray[np.int64]]) -> Expression:
        """Return the pairs of found items that cost something, with public columns added."""
        import pyarrow as pa

        priced = np.flatnonzero(columns["cost"] > 0)
        table = {name: to_arrow(column[priced]) for name, column in columns.items()}
        public = self._passes.numbers(pa.table({"place": to_arrow(priced), **table}))
        return self._split.found_pairs.join(public, "place")

    def _weight(self, unit: int, items: Expression) -> Expression:
        """Return what a user with that many items gives to each."""
        return root_of(self._passes.quotient(whole(unit**2), items))

    def _share(self, spent: Expression, base: int) -> Expression:
        """Return the largest whole a ≤ GRID with a²·(base + spent) ≤ GRID²·RATION."""
        import ibis

        needed = spent + whole(base) if base else spent
        return ibis.least(
            root_of(self._passes.quotient(whole(GRID**2 * RATION), needed)), whole(GRID)
        )


@dataclass(frozen=True, eq=False)
class _Split:
    """The pairs in two parts: those of found items, and the others, which are open.

    Each part is materialised on the engine once, when it is first asked for.

    Attributes:
        passes: what runs the queries.
        item_number: the name of the column of ``rounds`` with the numbers of items.
        pairs: all pairs, as a ``user_number`` and an ``item_number``.
        sizes: how many ``items`` each ``user_number`` has in total.
        rounds: the items found, in the order they were found, one table per round.
    """

    passes: Queries
    item_number: str
    pairs: Expression
    sizes: Expression
    rounds: "tuple[pa.Table, ...]" = ()

    @property
    def found(self) -> "pa.Table":
        """The items found, by name and number; needs a round, which defines the columns."""
        import pyarrow as pa

        return pa.concat_tables(self.rounds)

    @cached_property
    def found_pairs(self) -> Expression:
        """The pairs of found items, as a ``user_number`` and the item's ``place`` in `found`."""
        import pyarrow as pa

        numbers = self.found[self.item_number]
        places = to_arrow(np.arange(len(numbers), dtype=np.int64))
        known = self.passes.numbers(pa.table({"item_number": numbers, "place": places}))
        pairs = self.pairs.join(known, "item_number")
        return self.passes.keep(pairs.select("user_number", "place"))

    @cached_property
    def open_pairs(self) -> Expression:
        """The other pairs, as a ``user_number`` and an ``item_number``."""
        import pyarrow as pa

        if self._nothing_found:
            return self.pairs
        known = self.passes.numbers(pa.table({"item_number": self.found[self.item_number]}))
        return self.passes.keep(self.pairs.anti_join(known, "item_number"))

    @cached_property
    def open_sizes(self) -> Expression:
        """How many ``items`` each ``user_number`` has in `open_pairs`."""
        import ibis

        if self._nothing_found:
            return self.sizes
        each = self.open_pairs.group_by("user_number").agg(items=ibis._.count().cast("int64"))
        return self.passes.keep(each)

    @property
    def _nothing_found(self) -> bool:
        return not any(round_.num_rows for round_ in self.rounds)
