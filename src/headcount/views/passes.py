"""Several passes over one snapshot of who has what, each pushed down to the engine.

A mechanism that needs more than the histogram works on distinct (user, item) pairs: it joins
them with a small public table (costs or weights of items), aggregates per user, and then per item.
The pairs are materialised once, on the engine, so that all passes see the same dataset even if the
underlying tables change. They are dropped when the session ends, even after a failure.
"""

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from headcount.engines.base import Expression
from headcount.inputs.open import Events
from headcount.views.histogram import as_items, exact_pairs, unused_name

if TYPE_CHECKING:
    import pyarrow as pa


class Queries:
    """Queries over events and what is kept of them, run by the engine that holds the events.

    Attributes:
        items: the names of the item columns.
    """

    def __init__(self, events: Events, items: Sequence[str]) -> None:
        self._events = events
        self._engine = events.engine
        self.items = list(items)

    def numbers(self, rows: "pa.Table") -> Expression:
        """Put a small public table of numbers beside the events; no column may hold items."""
        return self._engine.upload(rows, "a table cannot be put beside the events")

    def keep(self, query: Expression) -> Expression:
        """Run a query once and keep its rows on the engine until the session ends."""
        return self._engine.materialise(query, "the events cannot be aggregated")

    def quotient(self, dividend: Expression, divisor: Expression) -> Expression:
        """Return ``dividend // divisor`` of 64-bit integers, neither below 0, exactly.

        Use this instead of Ibis's own division, which goes through floats on most engines.
        """
        return self._engine.whole_quotient(dividend, divisor)

    def exact_sum(self, numbers: Expression) -> Expression:
        """Return the sum of 64-bit integers in as many bits as it needs; it never overflows."""
        return self._engine.exact_sum(numbers)

    def run(self, query: Expression, most_rows: int | None = None) -> "pa.Table":
        """Run one pass and return its rows, at most ``most_rows`` if that is given."""
        limited = query if most_rows is None else query.limit(most_rows)
        result = self._engine.run(limited, "the events cannot be aggregated")
        return as_items(self._events, result, self.items)


class Passes(Queries):
    """The distinct (user, item) pairs of some events, held by the engine of the events.

    Attributes:
        pairs: an Ibis table with the user column and the item columns. The ids are exact, not
            hashed: a collision would let one user change what another contributes.
        user: the name of its user column.
        person: the name of the column that identifies people: the user column or, where that holds
            users within a period, a column beside it that is a function of it.
        items: the names of its item columns.
        rows: all rows, if they were asked for: the same columns, and columns of numbers.
        values: the names of the columns of numbers in ``rows``, by their names in the events.
    """

    def __init__(
        self,
        events: Events,
        user: str,
        items: Sequence[str],
        values: Sequence[str] | None = None,
    ) -> None:
        """Keep the pairs.

        Args:
            events: the events.
            user: the column that identifies the user.
            items: the columns that make an item.
            values: columns of numbers to keep with all rows; None to keep only pairs.
        """
        prefix = "the events cannot be read"
        super().__init__(events, items)
        also = [] if events.person is None else [events.person]
        taken = [*self.items, *also, "user"]
        self.values = {
            column: unused_name(f"value{number}", taken)
            for number, column in enumerate(values or ())
        }
        named = {name: column for column, name in self.values.items()}
        key = events.engine.canonical_key
        self.user, pairs = exact_pairs(events, user, items, key, named)
        self.person = self.user if events.person is None else events.person
        if values is None:
            self.pairs = self._engine.keep_distinct(pairs, prefix)
            return
        self.rows = self._engine.keep_rows(pairs, prefix)
        self.pairs = self.keep(self.rows.select(self.user, *also, *self.items).distinct())

    def public(self, rows: "pa.Table") -> Expression:
        """Put a small public table beside the pairs, to join them with.

        Its item columns are given as `run` returns them.

        Formal guarantee: if it has all item columns, no pair matches two rows of it, so that no
        user counts twice for an item.

        Edge cases: `run` returns text that is not UTF-8 with backslash escapes, which may then look
        like another item. Of rows that look the same, the first is kept, and text that is not UTF-8
        matches none.
        """
        if set(self.items) <= set(rows.column_names):
            rows = _first_of_each(rows, self.items)
        for column in set(self.items) & set(rows.column_names):
            if self.pairs[column].type().is_binary() and not _is_binary(rows[column]):
                rows = rows.set_column(
                    rows.column_names.index(column), column, rows[column].cast("binary")
                )
        return self._engine.upload(rows, "a table cannot be put beside the events")

    def numbered(self, columns: Sequence[str], number: str, count: str) -> Expression:
        """Keep a table of the values of some columns, each with a number and its count of pairs.

        The numbers are distinct integers that the engine chooses.
        """
        import ibis

        each = self.pairs.group_by(columns).agg(**{count: ibis._.count().cast("int64")})
        return self.keep(each.mutate(**{number: self._engine.row_numbers()}))

    def scattered(self, columns: Sequence[Expression]) -> Expression:
        """Return a fixed pseudo-random function of some columns of a row, to order by."""
        return reduce(self._engine.stable_hash, columns)


def _first_of_each(rows: "pa.Table", items: Sequence[str]) -> "pa.Table":
    import numpy as np

    keys = rows.select(items).rename_columns([str(n) for n in range(len(items))])
    numbered = keys.append_column("row", [np.arange(rows.num_rows)])
    first = numbered.group_by(keys.column_names).aggregate([("row", "min")])
    return rows.take(first["row_min"])


def _is_binary(column: "pa.ChunkedArray") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_binary(column.type))
