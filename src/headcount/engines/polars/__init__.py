"""Polars, with its streaming engine: Parquet files."""

from collections.abc import Collection, Mapping
from typing import Any

from headcount.engines.base import Engine
from headcount.engines.layout import BY_NAME, Layout
from headcount.engines.reader import Opened, Reader
from headcount.engines.session import Session


class PolarsReader(Reader):
    """What Polars reads. Its data frames in memory are read by DuckDB."""

    name = "polars"
    title = "Polars"
    package = "polars"
    ibis_backend = "polars"
    file_forms = ("parquet",)
    takes_layout = True

    def engine(self, backend: Any, session: Session) -> Engine:  # noqa: ANN401
        """Return the engine."""
        from headcount.engines.polars.count import Polars

        return Polars(backend, session)

    def read_files(
        self,
        session: Session,
        name: str,
        columns: Collection[str] | None,
        settings: Mapping[str, str],
        layout: Layout = BY_NAME,
    ) -> Opened:
        """Open Parquet files."""
        from headcount.engines.files import of_form, stored_schemas
        from headcount.engines.polars.count import Polars, read_parquet

        _, paths = of_form(name, self, layout)
        table = read_parquet(paths, stored_schemas(paths, columns), columns)
        return Opened(table, Polars(table.get_backend(), session, compares_bytes=True))


reader = PolarsReader()
