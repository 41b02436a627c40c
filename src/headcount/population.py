"""The population of a rationed release, held by the engine that holds the events.

Every question is one pass over the distinct pairs of users and items, joined with a small public
table; what comes back is one number per item, or one number.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headcount.arrays import to_arrow, to_numpy
from headcount.engines.base import Expression
from headcount.histogram import TopCounts, highest, unlike
from headcount.passes import Passes
from headcount.privacy.population import GRID, RATION, Integers
from headcount.sources.open import Events

if TYPE_CHECKING:
    import pyarrow as pa


class EnginePopulation:
    """Who has what in some events, as `headcount.privacy.population.Population` asks it."""

    def __init__(self, events: Events, user: str, items: Sequence[str]) -> None:
        self._events = events
        self._passes = passes = Passes(events, user, items)
        self._user = passes.user
        # None of these may be the name of an item column, which would take its place in a join.
        names = ("weight", "total", "place", "cost", "counted")
        self._weight, self._total, self._place, self._cost, self._counted = (
            unlike(name, items) for name in names
        )
        self._open = passes.pairs
        self._sizes = self._items_per_user()
        self._asked: pa.Table | None = None
        self._found: Expression | None = None
        self._names: pa.Table | None = None

    def top_counts(self, limit: int) -> TopCounts:
        """Return the highest ``limit`` counts of distinct users, of the same snapshot."""
        import ibis

        items, count = self._passes.items, self._total
        counted = self._passes.pairs.group_by(items).agg(**{count: ibis._.count().cast("int64")})
        return highest(self._events, counted, items, count, limit)

    def sizes(self, at_least: Sequence[int]) -> list[int]:
        """How many users have at least so many items that are not found yet, for each bound."""
        n = self._sizes["items"]
        each = {f"bound{bound}": _as_number(n >= bound).sum() for bound in at_least}
        row = self._passes.run(self._sizes.aggregate(**each), 1).to_pylist()[0]
        return [int(row[name] or 0) for name in each]

    def weights(self, unit: int, most_items: int, at_least: int) -> Integers:
        """For items not found yet, the sum of their users' weights, if it is large enough."""
        giving = self._sizes.filter(self._sizes["items"] <= most_items)
        weight = self._root(self._passes.quotient(_whole(unit**2), giving["items"]))
        giving = giving.select(self._user, **{self._weight: weight})
        pairs = self._open.join(giving, self._user)
        total = {self._total: pairs[self._weight].sum().cast("int64")}
        sums = pairs.group_by(self._passes.items).agg(**total)
        sums = sums.filter(sums[self._total] >= max(1, at_least))
        # In the order of the items: that of a hash table would tell, where noisy weights tie.
        self._asked = self._passes.run(sums.order_by(self._passes.items))
        return to_numpy(self._asked[self._total])

    def found(self, places: Sequence[int]) -> None:
        """Add items, given by their places in the last answer of `weights`, to those found."""
        import pyarrow as pa

        assert self._asked is not None  # noqa: S101 (a mechanism asks first)
        new = self._asked.take(to_arrow(np.array(places, dtype=np.int64)))
        new = new.select(self._passes.items)
        self._names = new if self._names is None else pa.concat_tables([self._names, new])
        self._asked = None
        self._found = None
        if new.num_rows:
            known = self._passes.public(new)
            self._open = self._passes.keep(self._open.anti_join(known, self._passes.items))
            self._sizes = self._items_per_user()

    def found_names(self) -> "pa.Table":
        """Return the found items, one row each, in the order they were found: public."""
        assert self._names is not None  # noqa: S101 (each round of discovery sets it)
        return self._names

    def clipped_sums(self, costs: Integers) -> Integers:
        """For each found item, the sum of its users' shares."""
        pairs = self._priced({self._cost: costs})
        each = pairs.group_by(self._user).agg(spent=pairs[self._cost].sum().cast("int64"))
        shares = each.select(self._user, share=self._share(each["spent"]))
        joined = pairs.join(shares, self._user)
        sums = joined.group_by(self._place).agg(total_=joined["share"].sum().cast("int64"))
        answer = self._passes.run(sums)
        result = np.zeros(costs.size, dtype=np.int64)
        result[to_numpy(answer[self._place])] = to_numpy(answer["total_"])
        return result

    def lost(self, costs: Integers, among: NDArray[np.bool_], most: int) -> int:
        """Return the sum over users of what they do not count for, at most ``most`` each."""
        import ibis

        pairs = self._priced({self._cost: costs, self._counted: among.astype(np.int64)})
        each = pairs.group_by(self._user).agg(
            spent=pairs[self._cost].sum().cast("int64"),
            items=pairs[self._counted].sum().cast("int64"),
        )
        each = each.select(lost=(_whole(GRID) - self._share(each["spent"])) * each["items"])
        lost = ibis.least(each["lost"], _whole(most))
        total = each.aggregate(total_=lost.sum().cast("int64"))
        return int(self._passes.run(total, 1)["total_"].to_pylist()[0] or 0)

    def _items_per_user(self) -> Expression:
        import ibis

        sizes = self._open.group_by(self._user).agg(items=ibis._.count().cast("int64"))
        return self._passes.keep(sizes)

    def _priced(self, columns: dict[str, NDArray[np.int64]]) -> Expression:
        """Return the pairs of found items that cost something, with public columns beside them."""
        import pyarrow as pa

        priced = np.flatnonzero(columns[self._cost] > 0)
        table = pa.table(
            {
                self._place: to_arrow(priced),
                **{name: to_arrow(column[priced]) for name, column in columns.items()},
            }
        )
        return self._found_pairs().join(self._passes.public(table), self._place)

    def _found_pairs(self) -> Expression:
        if self._found is None:
            names = self.found_names()
            places = to_arrow(np.arange(names.num_rows, dtype=np.int64))
            known = self._passes.public(names.append_column(self._place, places))
            pairs = self._passes.pairs.join(known, self._passes.items)
            self._found = self._passes.keep(pairs.select(self._user, self._place))
        return self._found

    def _share(self, spent: Expression) -> Expression:
        """Return the largest whole a ≤ GRID with a²·spent ≤ GRID²·RATION."""
        import ibis

        return ibis.least(
            self._root(self._passes.quotient(_whole(GRID**2 * RATION), spent)), _whole(GRID)
        )

    @staticmethod
    def _root(number: Expression) -> Expression:
        """Return the whole square root: a float's, and one less where that is too large."""
        root = number.cast("float64").sqrt().floor().cast("int64")
        return root - _as_number(root * root > number)


def _whole(number: int) -> Any:  # noqa: ANN401 (Ibis has no types)
    import ibis

    return ibis.literal(number, type="int64")


def _as_number(truth: Expression) -> Expression:
    """Return 1 or 0; PostgreSQL has no cast to 64 bits for that."""
    return truth.ifelse(_whole(1), _whole(0))
