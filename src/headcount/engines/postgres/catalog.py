"""What a PostgreSQL database says about its own tables and functions."""

from collections.abc import Collection
from typing import Any

from headcount.engines.catalog import ERROR_PREFIX, Relation, as_relation
from headcount.engines.postgres.failures import translated
from headcount.errors import SourceError

# What a name means in a query: in the given schema, or the first in the search path that has it.
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
#: The functions that headcount, or Ibis for it, calls by name alone. Of functions with one name,
#: PostgreSQL takes the one whose types fit best, wherever in the search path it is.
CALLED = (
    *("abs", "concat_ws", "convert_to", "count", "date_trunc", "div", "floor", "hashtextextended"),
    *("max", "row_number", "sqrt", "sum", "timezone", "trim_scale"),
)
# What a name in --table means: as it is or as SQL would quote it, with or without a schema.
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
        """Return a table or view; names are given as PostgreSQL folds them."""
        return as_relation(self._rows(_POSTGRES_RELATION, {"schema": schema, "name": name}))

    def redefines(self, functions: Collection[str]) -> bool:
        """Whether somebody's function with one of these names is in the search path."""
        return bool(self._rows(_POSTGRES_FUNCTIONS, {"names": list(functions)}))

    def refuse_stand_ins(self) -> None:
        """Refuse a database in which somebody's function may be called in place of PostgreSQL's.

        Sensitivity rests on what these functions compute.
        """
        if self.redefines(CALLED):
            raise SourceError(
                "the search path of the database has a function with the name of one of "
                f"PostgreSQL's own ({', '.join(CALLED)}), which may be called in its place: move "
                "it to a schema that is not in the search path, or rename it"
            )

    def is_stored(self, table: str | None) -> bool:
        """Whether what a user named as a table stores its own rows."""
        found = self._rows(_POSTGRES_STORED, {"name": table})
        return bool(found) and all(stored for [stored] in found)

    def _rows(self, query: str, values: dict[str, Any]) -> list[Any]:
        rows: list[Any] = translated(
            lambda: self._connection.execute(query, values).fetchall(), ERROR_PREFIX
        )
        return rows
