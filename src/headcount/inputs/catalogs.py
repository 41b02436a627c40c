"""What a database says about its own tables, views and functions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from headcount.engines import module_of
from headcount.engines.guard import opening

_SAYS = "the tables of the database cannot be listed"


@dataclass(frozen=True)
class Relation:
    """A table or view.

    Attributes:
        columns: their names, in order.
        stored: whether it holds its rows itself. A view does not, and nor is that known of a
            foreign or virtual table, or of one with row-level security.
    """

    columns: Sequence[str]
    stored: bool


class Catalog(Protocol):
    """The tables and functions of a database."""

    def relation(self, schema: str | None, name: str) -> Relation | None:
        """Return what a query means by a name, or nothing if there is no such table or view."""

    def redefines(self, functions: Collection[str]) -> bool:
        """Whether somebody has defined a function by one of these names, given in lower case."""


class DuckDBCatalog:
    """The catalog of a DuckDB file."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401
        self._connection = connection

    def relation(self, schema: str | None, name: str) -> Relation | None:
        """Return a table or view; upper and lower case are the same."""
        rows = _rows(
            self._connection,
            "SELECT column_name, table_type = 'BASE TABLE' FROM information_schema.columns "
            "JOIN information_schema.tables USING (table_catalog, table_schema, table_name) "
            "WHERE table_catalog = current_database() AND lower(table_name) = lower(?) "
            "AND lower(table_schema) = lower(coalesce(?, current_schema())) "
            "ORDER BY ordinal_position",
            [name, schema],
        )
        return _relation(rows)

    def redefines(self, functions: Collection[str]) -> bool:
        """Whether a macro has one of these names, or that of a function or operator of DuckDB."""
        own = "SELECT lower(function_name) FROM duckdb_functions() WHERE internal = {}"
        shadowed = _rows(
            self._connection,
            f"{own.format('false')} AND (list_contains(?, lower(function_name)) "
            f"OR lower(function_name) IN ({own.format('true')}))",
            [list(functions)],
        )
        return bool(shadowed)


class SQLiteCatalog:
    """The catalog of a SQLite file."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401
        self._connection = connection

    def relation(self, schema: str | None, name: str) -> Relation | None:
        """Return a table or view; upper and lower case are the same."""
        if schema not in (None, "main"):
            return None
        rows = _rows(
            self._connection,
            "SELECT x.name, m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' "
            "FROM main.sqlite_master AS m JOIN pragma_table_xinfo(m.name) AS x "
            "WHERE m.type IN ('table', 'view') AND lower(m.name) = lower(?) AND x.hidden <> 1 "
            "ORDER BY x.cid",
            [name],
        )
        return _relation(rows)

    def redefines(self, functions: Collection[str]) -> bool:
        """Return False: a SQLite file holds no functions."""
        return False


# What a name means in a query: in the schema that is given, or in the first of the search path.
_POSTGRES_RELATION = """
SELECT a.attname::text, c.relkind IN ('r', 'p') AND NOT row_security_active(c.oid)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relname = %(name)s AND c.relkind IN ('r', 'v', 'm', 'f', 'p')
  AND CASE WHEN %(schema)s::text IS NULL THEN pg_table_is_visible(c.oid)
           ELSE n.nspname = %(schema)s END
  AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_POSTGRES_FUNCTIONS = """
SELECT 1 FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE p.proname = ANY(%(names)s) AND n.nspname <> 'pg_catalog'
  AND n.nspname = ANY(current_schemas(true)) LIMIT 1
"""
# What --table means by a name: as it is or as SQL would quote it, with a schema or without.
_POSTGRES_STORED = """
SELECT c.relkind IN ('r', 'p') AND NOT row_security_active(c.oid)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p')
  AND (%(name)s IN (n.nspname || '.' || c.relname,
                    quote_ident(n.nspname) || '.' || quote_ident(c.relname))
       OR %(name)s IN (c.relname, quote_ident(c.relname)) AND pg_table_is_visible(c.oid))
"""


class PostgresCatalog:
    """The catalog of a PostgreSQL database."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401
        self._connection = connection

    def relation(self, schema: str | None, name: str) -> Relation | None:
        """Return a table or view; names are as PostgreSQL folds them."""
        return _relation(self._rows(_POSTGRES_RELATION, {"schema": schema, "name": name}))

    def redefines(self, functions: Collection[str]) -> bool:
        """Whether a function by one of these names is in the search path."""
        return bool(self._rows(_POSTGRES_FUNCTIONS, {"names": list(functions)}))

    def is_stored(self, table: str | None) -> bool:
        """Whether what is given as a table holds its rows itself."""
        found = self._rows(_POSTGRES_STORED, {"name": table})
        return bool(found) and all(stored for [stored] in found)

    def _rows(self, query: str, values: dict[str, Any]) -> list[Any]:
        rows: list[Any] = module_of("postgres").failures.translated(
            lambda: self._connection.execute(query, values).fetchall(), _SAYS
        )
        return rows


def is_stored_by_spark(backend: Any, table: str | None) -> bool:  # noqa: ANN401
    """Whether a table of Spark's catalog holds its rows itself."""
    try:
        kind = backend._session.catalog.getTable(table).tableType
    except Exception:  # not every catalog can tell
        return False
    return kind in ("MANAGED", "EXTERNAL")


def _rows(connection: Any, query: str, values: list[Any]) -> list[Any]:  # noqa: ANN401
    return opening(lambda: list(connection.execute(query, values).fetchall()), _SAYS)


def _relation(rows: list[Any]) -> Relation | None:
    return Relation([name for name, _ in rows], all(stored for _, stored in rows)) if rows else None
