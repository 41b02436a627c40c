"""A DuckDB file, or files as one table: the tables, and what the catalog says about them."""

import os
from collections.abc import Collection, Sequence
from glob import escape
from pathlib import Path
from typing import Any

from headcount.engines.base import Engine, Expression
from headcount.engines.catalog import Relation, as_relation, fetched
from headcount.engines.database import DatabaseFile, view_name
from headcount.engines.duckdb.count import DuckDB, connect, with_true_types
from headcount.engines.duckdb.macros import macros
from headcount.engines.guard import opening
from headcount.engines.session import Session
from headcount.errors import SourceError


def close_doors(connection: Any, files: Sequence[Path] = ()) -> None:  # noqa: ANN401
    """Let a connection open no files but these, its own database and its temporary ones, for good.

    Otherwise a query could read whatever this process can.
    """
    # Some versions look for the name of a file, others for the pattern that it is opened by.
    paths = {name for path in files for name in (str(path), os.path.abspath(path))}  # noqa: PTH100
    names = {name for path in paths for name in (path, escape(path))}
    listed = ", ".join("'" + name.replace("'", "''") + "'" for name in sorted(names))
    if names:
        connection.execute(f"SET allowed_paths = [{listed}]")
    connection.execute("SET enable_external_access = false")


class DuckDBCatalog:
    """The catalog of a DuckDB file."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401
        self._connection = connection

    def relation(self, schema: str | None, name: str) -> Relation | None:
        """Return a table or view; case is ignored."""
        rows = fetched(
            self._connection,
            "SELECT column_name, table_type = 'BASE TABLE' FROM information_schema.columns "
            "JOIN information_schema.tables USING (table_catalog, table_schema, table_name) "
            "WHERE table_catalog = current_database() AND lower(table_name) = lower(?) "
            "AND lower(table_schema) = lower(coalesce(?, current_schema())) "
            "ORDER BY ordinal_position",
            [name, schema],
        )
        return as_relation(rows)

    def redefines(self, functions: Collection[str]) -> bool:
        """Whether a macro has one of these names; one with a name of DuckDB's own is refused."""
        return not macros(self._connection).isdisjoint(functions)


class DuckDBFile(DatabaseFile):
    """A DuckDB file."""

    def __init__(self, session: Session, path: Path) -> None:
        backend = connect(session, path)
        macros(backend.con)
        super().__init__(path, DuckDB(backend, session), DuckDBCatalog(backend.con))

    def tables(self) -> dict[str, tuple[str, str | None]]:
        """Return the tables of all schemas."""
        rows = self.backend.con.sql(
            "SELECT table_name, table_schema, table_schema = current_schema() "
            "FROM information_schema.tables WHERE table_catalog = current_database()"
        ).fetchall()
        return {
            name if current else f"{schema}.{name}": (name, None if current else schema)
            for name, schema, current in rows
        }

    def read(self, name: str, schema: str | None) -> Any:  # noqa: ANN401 (Ibis has no types)
        """Return a table or view as an Ibis table with its true types."""
        return with_true_types(self.backend.table(name, database=schema))

    def query(self, select: str) -> Any:  # noqa: ANN401
        """Return the result of a query, already checked to be one SELECT, as an Ibis table."""
        close_doors(self.backend.con)
        return super().query(select)


#: The name of the table of files in SQL.
EVENTS = "events"


class EventsDatabase:
    """Files of events as a database of one table: a `headcount.engines.reader.Database`.

    It contains nothing that anybody else defined: no views and no macros.
    """

    def __init__(self, table: Expression, engine: Engine, files: Sequence[Path]) -> None:
        self._table = table
        self._files = files
        self.engine = engine
        self.catalog = self

    def relation(self, schema: str | None, name: str) -> Relation | None:
        """Return the one table; case is ignored."""
        is_events = schema is None and name.casefold() == EVENTS
        return Relation(self._table.columns, stored=True) if is_events else None

    def redefines(self, functions: Collection[str]) -> bool:
        """Whether a macro has one of these names: there are none."""
        return False

    def table(self, name: str | None) -> tuple[Expression, bool]:
        """Return the one table."""
        if name != EVENTS:
            raise SourceError(f"files are one table, called {EVENTS!r}")
        return self._table, True

    def query(self, select: str) -> Expression:
        """Return the result of a query, already checked to be one SELECT, as an Ibis table."""
        backend = self.engine.backend

        def read() -> Expression:
            view = view_name(select)
            close_doors(backend.con, self._files)
            backend.con.execute(f'CREATE TEMPORARY VIEW "{EVENTS}" AS {self._compiled()}')
            backend.con.execute(f'CREATE TEMPORARY VIEW "{view}" AS {select}')
            return with_true_types(backend.table(view))

        return opening(read, "the SQL cannot be run")

    def _compiled(self) -> str:
        return self.engine.compiled(self._table)
