"""Tables and queries of a DuckDB or SQLite file."""

from pathlib import Path
from typing import Any

from headcount.engines import Session, duckdb, sqlite
from headcount.engines.guard import opening
from headcount.errors import SourceError
from headcount.inputs.catalogs import Catalog, DuckDBCatalog, SQLiteCatalog

# What a query is called while it is read: a temporary view, seen by this connection only.
_VIEW = "headcount_events"


def _view_for(definition: str) -> str:
    """Return a name that the view's definition does not use."""
    name = _VIEW
    while name in definition.lower():
        name += "_"
    return name


class Database:
    """A database file that is open for reading."""

    def __init__(self, session: Session, engine: str, path: Path) -> None:
        self._name = str(path)
        self._is_duckdb = engine == "duckdb"
        self.backend: Any = (duckdb if self._is_duckdb else sqlite).connect(session, path)
        catalog = DuckDBCatalog if self._is_duckdb else SQLiteCatalog
        self.catalog: Catalog = catalog(self.backend.con)

    def table(self, name: str | None) -> tuple[Any, bool]:
        """Return a table or view as an Ibis table, and whether it holds its rows itself."""
        known = opening(self._tables, f"the tables of {self._name!r} cannot be listed")
        listed = ", ".join(map(repr, sorted(known))) or "no tables"
        if name is None:
            raise SourceError(f"name a table of {self._name!r}, or give SQL; it has: {listed}")
        if name not in known:
            raise SourceError(f"there is no table {name!r} in {self._name!r}; it has: {listed}")
        plain, schema = known[name]
        relation = self.catalog.relation(schema, plain)
        table = opening(lambda: self._read(plain, schema), f"cannot read the table {name!r}")
        return table, relation is not None and relation.stored

    def query(self, select: str) -> Any:  # noqa: ANN401
        """Return the result of one SELECT, checked to be that, as an Ibis table."""

        def read() -> Any:  # noqa: ANN401
            view = _view_for(select)
            self.backend.con.execute(f'CREATE TEMPORARY VIEW "{view}" AS {select}')
            return self._read(view)

        return opening(read, "the SQL cannot be run")

    def _tables(self) -> dict[str, tuple[str, str | None]]:
        """Return what each table is asked for by: its name, and its schema if it is not in main."""
        if not self._is_duckdb:
            return {name: (name, None) for name in self.backend.list_tables()}
        rows = self.backend.con.sql(
            "SELECT table_name, table_schema, table_schema = current_schema() "
            "FROM information_schema.tables WHERE table_catalog = current_database()"
        ).fetchall()
        return {
            name if current else f"{schema}.{name}": (name, None if current else schema)
            for name, schema, current in rows
        }

    def _read(self, name: str, schema: str | None = None) -> Any:  # noqa: ANN401
        if self._is_duckdb:
            return duckdb.with_true_types(self.backend.table(name, database=schema))
        return self._read_sqlite(name)

    def _read_sqlite(self, name: str) -> Any:  # noqa: ANN401
        """Return a SQLite table with types that follow from what was declared.

        SQLite's columns need no type, and Ibis looks at the first row to find one, so that
        one person's row would decide it and an empty table would be an error. What is not
        declared to be integer, real or blob is read as text instead.
        """
        import ibis

        columns = self.backend.con.execute(
            "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden <> 1", [name]
        ).fetchall()
        types = {column: _sqlite_type(declared) for column, declared in columns}
        view = _view_for(name)
        self.backend.con.execute(
            f'CREATE TEMPORARY VIEW "{view}" AS {sqlite.typed_select(sqlite.quoted(name), types)}'
        )
        return ibis.table(types, name=view)


def _sqlite_type(declared: str) -> str:
    """Return the Ibis type for a declared one, by SQLite's own rules of affinity."""
    name = declared.upper()
    if "INT" in name:
        return "int64"
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return "string"
    if "BLOB" in name:
        return "binary"
    if any(part in name for part in ("REAL", "FLOA", "DOUB")):
        return "float64"
    return "string"
