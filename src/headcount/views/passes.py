"""Several passes over one snapshot of who has what, each pushed down to the engine.

A mechanism that needs more than the histogram works on distinct (user, item) pairs: it joins
them with a small public table (noise per item, weight per item), aggregates per user, and then per
item. The pairs are materialised once, on the engine, so that all passes see the same dataset
however the tables below change, and are dropped when the session ends, also after a failure.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headcount.engines.base import Expression
from headcount.inputs.open import Events
from headcount.views.histogram import as_items, exact_pairs

if TYPE_CHECKING:
    import pyarrow as pa


class Passes:
    """The distinct (user, item) pairs of some events, held by the engine that holds those.

    Attributes:
        pairs: an Ibis table with the column ``user`` and the item columns. The ids are exact, not
            hashed: a collision would let one user change what another contributes.
        user: the name of its user column.
        items: the names of its item columns.
    """

    def __init__(self, events: Events, user: str, items: Sequence[str]) -> None:
        self._events = events
        self._engine = events.engine
        self.items = list(items)
        self.user, pairs = exact_pairs(events, user, items, events.engine.canonical_key)
        self.pairs = self._engine.keep_distinct(pairs, "the events cannot be read")

    def public(self, rows: "pa.Table") -> Expression:
        """Put a small table that may be known to all beside the pairs, to join them with.

        Its item columns are given as `run` returns them.

        Formal guarantee: if it has all item columns, no pair finds two rows in it, so that no user
        counts twice for an item.

        Edge cases: texts that are not UTF-8 come out of `run` as backslash escapes, and may look
        like other items then. Of rows that look the same the first is kept, and a text that is not
        UTF-8 finds none.
        """
        if set(self.items) <= set(rows.column_names):
            rows = _first_of_each(rows, self.items)
        for column in set(self.items) & set(rows.column_names):
            if self.pairs[column].type().is_binary() and not _is_binary(rows[column]):
                rows = rows.set_column(
                    rows.column_names.index(column), column, rows[column].cast("binary")
                )
        return self._engine.upload(rows, "a table cannot be put beside the events")

    def numbers(self, rows: "pa.Table") -> Expression:
        """Put a small public table of numbers beside the pairs; no column of it holds items."""
        return self._engine.upload(rows, "a table cannot be put beside the events")

    def keep(self, query: Expression) -> Expression:
        """Run a query once and keep its rows on the engine until the session ends."""
        return self._engine.materialise(query, "the events cannot be aggregated")

    def numbered(self, columns: Sequence[str], number: str, count: str) -> Expression:
        """Keep a table of what stands in some columns, each with a number and its count of pairs.

        Numbers are whole and all different; which they are is up to the engine.
        """
        import ibis

        each = self.pairs.group_by(columns).agg(**{count: ibis._.count().cast("int64")})
        return self.keep(each.mutate(**{number: self._engine.row_numbers()}))

    def quotient(self, dividend: Expression, divisor: Expression) -> Expression:
        """Return ``dividend // divisor`` of 64-bit integers, neither below 0, to the last digit.

        Use this and not Ibis's own, which goes through floats on most engines.
        """
        return self._engine.whole_quotient(dividend, divisor)

    def run(self, query: Expression, most_rows: int | None = None) -> "pa.Table":
        """Run one pass and return its rows, at most so many if a number is given."""
        limited = query if most_rows is None else query.limit(most_rows)
        result = self._engine.run(limited, "the events cannot be aggregated")
        return as_items(self._events, result, self.items)


def _first_of_each(rows: "pa.Table", items: Sequence[str]) -> "pa.Table":
    import numpy as np

    keys = rows.select(items).rename_columns([str(n) for n in range(len(items))])
    numbered = keys.append_column("row", [np.arange(rows.num_rows)])
    first = numbered.group_by(keys.column_names).aggregate([("row", "min")])
    return rows.take(first["row_min"])


def _is_binary(column: "pa.ChunkedArray") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_binary(column.type))
