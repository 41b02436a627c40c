"""Polars, with its streaming engine."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Engine, Expression
from headcount.engines.guard import opening, running
from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa


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
    """Polars. It keeps all of its working state in memory."""

    def materialise(self, query: Expression, says: str) -> Expression:
        """Run a query into a data frame that stays in memory."""
        return self.upload(self.run(query, says), says)

    def upload(self, rows: "pa.Table", says: str) -> Expression:
        """Keep a table in memory."""
        name = self.scratch_name()
        self.session.at_end(lambda: self.backend.drop_table(name, force=True))
        return running(lambda: self.backend.create_table(name, rows), says)

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query on the streaming engine."""
        return self.backend.to_pyarrow(query, engine="streaming")
