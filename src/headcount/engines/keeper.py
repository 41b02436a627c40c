"""Engines that cannot keep rows between passes themselves: DuckDB keeps them instead."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from headcount.engines.base import Engine, Expression
from headcount.engines.duckdb.count import DuckDB, connect
from headcount.engines.guard import running

if TYPE_CHECKING:
    import pyarrow as pa


class KeptByDuckDB(Engine, ABC):
    """An engine in this process that reads events; an embedded DuckDB does the rest."""

    several_passes = True

    @cached_property
    def keeper(self) -> DuckDB:
        """The DuckDB that keeps rows and runs all queries over them."""
        return DuckDB(connect(self.session), self.session)

    @abstractmethod
    def batches(self, query: Expression) -> "Iterable[pa.Table]":
        """Run a query on this engine and yield its rows in batches."""

    def whole_quotient(self, dividend: Expression, divisor: Expression) -> Expression:
        """Return ``dividend // divisor``."""
        return self.keeper.whole_quotient(dividend, divisor)

    def stable_hash(self, left: Expression, right: Expression) -> Expression:
        """Return DuckDB's hash."""
        return self.keeper.stable_hash(left, right)

    def grouped(self, rows: Expression, by: str) -> Expression:
        """Return rows as DuckDB wants them."""
        return self.keeper.grouped(rows, by)

    def materialise(self, query: Expression, error_prefix: str) -> Expression:
        """Run a query over what DuckDB keeps, and keep its rows too."""
        return self.keeper.materialise(query, error_prefix)

    def keep_distinct(self, rows: Expression, error_prefix: str) -> Expression:
        """Send the rows of a query to DuckDB, and keep the distinct ones there.

        Rows that differ here may be equal there, if DuckDB has no type that holds all that they
        hold. So DuckDB decides which are distinct; here duplicates are dropped only to send less.
        """
        sent = self.keep_rows(rows.distinct(), error_prefix)
        kept = self.keeper.keep_distinct(sent, error_prefix)
        self.keeper.drop(sent)
        return kept

    def keep_rows(self, rows: Expression, error_prefix: str) -> Expression:
        """Send the rows of a query to DuckDB."""
        nothing = rows.schema().to_pyarrow().empty_table()
        sent = self.keeper.upload(nothing, error_prefix)  # refused if DuckDB would cut a value

        def insert() -> None:
            for batch in self.batches(rows):
                self.keeper.insert(sent, batch)

        running(insert, error_prefix, self.expected)
        # With the query's types, which also name the zone of a timestamp.
        return sent.op().copy(schema=rows.schema()).to_expr()

    def upload(self, rows: "pa.Table", error_prefix: str) -> Expression:
        """Copy a table to DuckDB."""
        return self.keeper.upload(rows, error_prefix)

    def is_own(self, query: Expression) -> bool:
        """Whether a query is over this engine's own tables, not over what DuckDB keeps."""
        return not any(backend is self.keeper.backend for backend in query._find_backends()[0])
