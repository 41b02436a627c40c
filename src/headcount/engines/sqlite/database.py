"""A SQLite file: its tables, their types, and what its catalog says about them."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from headcount.engines.catalog import Relation, as_relation, fetched
from headcount.engines.database import DatabaseFile, view_name
from headcount.engines.session import Session
from headcount.engines.sqlite.count import SQLite, connect, quoted, typed_select


class SQLiteCatalog:
    """The catalog of a SQLite file."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401
        self._connection = connection

    def relation(self, schema: str | None, name: str) -> Relation | None:
        """Return a table or view; case is ignored."""
        if schema not in (None, "main"):
            return None
        rows = fetched(
            self._connection,
            "SELECT x.name, m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' "
            "FROM main.sqlite_master AS m JOIN pragma_table_xinfo(m.name) AS x "
            "WHERE m.type IN ('table', 'view') AND lower(m.name) = lower(?) AND x.hidden <> 1 "
            "ORDER BY x.cid",
            [name],
        )
        return as_relation(rows)

    def redefines(self, functions: Collection[str]) -> bool:
        """Return False: a SQLite file holds no functions."""
        return False


class SQLiteFile(DatabaseFile):
    """A SQLite file."""

    def __init__(self, session: Session, path: Path) -> None:
        backend = connect(session, path)
        super().__init__(path, SQLite(backend, session), SQLiteCatalog(backend.con))

    def tables(self) -> dict[str, tuple[str, str | None]]:
        """Return the tables; there are no schemas."""
        return {name: (name, None) for name in self.backend.list_tables()}

    def read(self, name: str, schema: str | None) -> Any:  # noqa: ANN401 (Ibis has no types)
        """Return a table whose types follow from the declared ones.

        SQLite's columns need no type, and Ibis infers one from the first row: one person's row
        would decide it, and an empty table would be an error. Instead, a column that is not
        declared as integer, real or blob is read as text.
        """
        import ibis

        columns = self.backend.con.execute(
            "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden <> 1", [name]
        ).fetchall()
        types = {column: _type(declared) for column, declared in columns}
        view = view_name(name)
        self.backend.con.execute(
            f'CREATE TEMPORARY VIEW "{view}" AS {typed_select(quoted(name), types)}'
        )
        return ibis.table(types, name=view)


def _type(declared: str) -> str:
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
