"""Polars, with its streaming engine."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Expression
from headcount.engines.guard import opening
from headcount.engines.keeper import KeptByDuckDB
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


class Polars(KeptByDuckDB):
    """Polars. It keeps all of its working state in memory.

    Between passes it is DuckDB that keeps the pairs: through Ibis, Polars has no windows, and its
    sums of integers begin again below 0 where they grow too large.
    """

    def exactly(self, column: Expression) -> Expression:
        """Return a column whose values are equal only if they look the same."""
        kind = column.type()
        if kind.is_decimal() and (kind.precision or 0) > _MOST_DIGITS:
            raise SourceError(
                f"Polars has no decimals of more than {_MOST_DIGITS} digits, as column "
                f"{column.get_name()!r} has; leave the engine to DuckDB"
            )
        return super().exactly(column)

    def batches(self, query: Expression) -> "Iterable[pa.Table]":
        """Run a query on the streaming engine."""
        yield self.fetch(query)

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query on the streaming engine, or on what DuckDB keeps."""
        if not self.is_own(query):
            return self.keeper.fetch(query)
        return self.backend.to_pyarrow(query, engine="streaming")
