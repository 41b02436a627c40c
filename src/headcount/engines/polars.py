"""Polars, with its streaming engine."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Engine, Expression
from headcount.engines.duckdb import DuckDB, connect
from headcount.engines.guard import opening
from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_DIGITS = 38  # of its decimals


def read_files(kind: str, paths: Sequence[Path]) -> Any:  # noqa: ANN401 (Ibis has no types)
    """Return an Ibis table of Parquet files."""
    import ibis

    if kind != "parquet":
        raise SourceError("Polars is used for Parquet files here; leave the engine to DuckDB")
    return opening(
        lambda: ibis.polars.connect().read_parquet([str(path) for path in paths]),
        "cannot read the parquet files",
    )


class Polars(Engine):
    """Polars. It keeps all of its working state in memory.

    Between passes it is DuckDB that keeps the pairs: through Ibis, Polars has no windows, and its
    sums of integers begin again below 0 where they grow too large.
    """

    several_passes = True

    def exactly(self, column: Expression) -> Expression:
        """Return a column whose values are equal only if they look the same."""
        kind = column.type()
        if kind.is_decimal() and (kind.precision or 0) > _MOST_DIGITS:
            raise SourceError(
                f"Polars has no decimals of more than {_MOST_DIGITS} digits, as column "
                f"{column.get_name()!r} has; leave the engine to DuckDB"
            )
        return super().exactly(column)

    @cached_property
    def _keeper(self) -> DuckDB:
        return DuckDB(connect(self.session), self.session)

    def whole_quotient(self, dividend: Expression, divisor: Expression) -> Expression:
        """Return ``dividend // divisor``."""
        return self._keeper.whole_quotient(dividend, divisor)

    def scattered(self, left: Expression, right: Expression) -> Expression:
        """Return the hash of DuckDB, which keeps the pairs."""
        return self._keeper.scattered(left, right)

    def grouped(self, rows: Expression, by: str) -> Expression:
        """Return rows as DuckDB wants them, which keeps them."""
        return self._keeper.grouped(rows, by)

    def materialise(self, query: Expression, says: str) -> Expression:
        """Run a query and let DuckDB keep its rows."""
        if query.get_backend() is not self.backend:
            return self._keeper.materialise(query, says)
        return self.upload(self.run(query, says), says)

    def upload(self, rows: "pa.Table", says: str) -> Expression:
        """Give a table to DuckDB."""
        return self._keeper.upload(rows, says)

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query on the streaming engine, or on what DuckDB keeps."""
        if query.get_backend() is not self.backend:
            return self._keeper.fetch(query)
        return self.backend.to_pyarrow(query, engine="streaming")
