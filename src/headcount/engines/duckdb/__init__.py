"""DuckDB, the embedded engine: files of events, tables in memory, and its own databases."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from headcount.engines.base import Engine
from headcount.engines.layout import BY_NAME, Layout
from headcount.engines.reader import Database, Opened, Reader
from headcount.engines.session import Session


class DuckDBReader(Reader):
    """What DuckDB reads."""

    name = "duckdb"
    title = "DuckDB"
    ibis_backend = "duckdb"
    file_forms = ("parquet", "arrow", "csv", "tsv", "json")
    takes_layout = True
    database_suffixes = (".duckdb", ".ddb")
    database_magic = (8, b"DUCK")
    dialect = "duckdb"
    objects = (
        "pandas.DataFrame",
        "polars.DataFrame",
        "polars.LazyFrame",
        "pyarrow.Dataset",
        "pyarrow.RecordBatch",
        "pyarrow.RecordBatchReader",
        "pyarrow.Table",
        "duckdb.DuckDBPyRelation",
        "_duckdb.DuckDBPyRelation",  # as DuckDB 1.4 calls its package
    )

    def engine(self, backend: Any, session: Session) -> Engine:  # noqa: ANN401
        """Return the engine."""
        from headcount.engines.duckdb.count import DuckDB

        return DuckDB(backend, session)

    def is_stored(self, backend: Any, schema: str | None, name: str) -> bool:  # noqa: ANN401
        """Whether a table is a base table of DuckDB, not a view."""
        from headcount.engines.duckdb.database import DuckDBCatalog

        relation = DuckDBCatalog(backend.con).relation(schema, name)
        return relation is not None and relation.stored

    def read_files(
        self,
        session: Session,
        name: str,
        columns: Collection[str] | None,
        settings: Mapping[str, str],
        layout: Layout = BY_NAME,
    ) -> Opened:
        """Open files of events."""
        from headcount.engines.duckdb.count import DuckDB, connect
        from headcount.engines.duckdb.text import read_files
        from headcount.engines.files import expected, of_form

        form, paths = of_form(name, self, layout)
        if form == "arrow":
            from headcount.engines.duckdb.arrow import read_arrow_files

            return self.read_object(session, read_arrow_files(session, paths, columns), columns)
        backend = connect(session)
        table = read_files(backend, form, paths, columns, layout)
        engine = DuckDB(backend, session, compares_bytes=True, expected=expected(form, layout))
        engine.files = paths
        return Opened(table, engine)

    def query_files(self, session: Session, name: str, layout: Layout = BY_NAME) -> Database:
        """Open files of events as a database with one table, called events."""
        from headcount.engines.duckdb.database import EventsDatabase

        opened = self.read_files(session, name, None, {}, layout)
        return EventsDatabase(opened.table, opened.engine, getattr(opened.engine, "files", ()))

    def open_database(
        self, session: Session, where: Path | str, settings: Mapping[str, str]
    ) -> Database:
        """Open a database file."""
        from headcount.engines.duckdb.database import DuckDBFile

        return DuckDBFile(session, Path(where))

    def read_object(
        self,
        session: Session,
        source: Any,  # noqa: ANN401
        columns: Collection[str] | None,
    ) -> Opened:
        """Open a data frame, an Arrow table or dataset, or a DuckDB relation."""
        from headcount.engines.duckdb.count import DuckDB
        from headcount.engines.duckdb.memory import read_memory

        table, backend = read_memory(session, source, columns)
        queried = type(source).__name__ == "DuckDBPyRelation"
        return Opened(table, DuckDB(backend, session, compares_bytes=True), queried)


reader = DuckDBReader()
