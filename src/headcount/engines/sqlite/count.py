"""SQLite, through the module in Python's standard library."""

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Expression
from headcount.engines.guard import opening
from headcount.engines.keeper import KeptByDuckDB
from headcount.engines.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

# How many of its steps SQLite runs, a few milliseconds' worth, between two checks for Ctrl-C or a
# cancelled token.
_STEPS_BETWEEN_LOOKS = 100_000
_ROWS_AT_A_TIME = 100_000


def connect(session: Session, file: Path) -> Any:  # noqa: ANN401 (Ibis has no types)
    """Open a SQLite file through Ibis, read-only."""
    import ibis

    def open_file() -> Any:  # noqa: ANN401
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        connection.set_progress_handler(lambda: session.cancel.cancelled, _STEPS_BETWEEN_LOOKS)
        return ibis.sqlite.from_connection(connection)

    backend = opening(open_file, f"{str(file)!r} cannot be opened as a SQLite database")
    session.at_end(backend.disconnect)
    return backend


# SQLite lets any value into any column. In a column of text all values count as text; elsewhere one
# that is not of the column's type counts as NULL, row by row. An error would be raised only for
# items among the highest counts, and so reveal something about them.
_READ = {
    "string": "CAST({} AS TEXT)",
    "int64": "CASE WHEN typeof({0}) = 'integer' THEN {0} END",
    "float64": "CASE WHEN typeof({0}) = 'real' THEN {0} END",
    "binary": "CASE WHEN typeof({0}) = 'blob' THEN {0} END",
}


def typed_select(rows: str, types: Mapping[str, str]) -> str:
    """Return SQL for columns of rows in which all values have the given types."""
    chosen = ", ".join(
        f"{_READ[kind].format(quoted(name))} AS {quoted(name)}" for name, kind in types.items()
    )
    return f"SELECT {chosen} FROM {rows}"  # noqa: S608 (names are quoted)


def quoted(identifier: str) -> str:
    """Return a name as SQL quotes it."""
    return '"' + identifier.replace('"', '""') + '"'


class SQLite(KeptByDuckDB):
    """SQLite. A column may be declared COLLATE NOCASE or RTRIM, which would merge items.

    Between passes DuckDB keeps the pairs: SQLite itself took ten times as long.
    """

    compares_bytes = False
    has_nan = False  # it stores NULL instead

    def typed(self, table: Expression) -> Expression:
        """Return a table with SQLite's own types, in which dates and the like are text.

        Ibis parses them in Python, where different texts become the same date.
        """
        import ibis
        import ibis.expr.operations as ops

        types = {name: _sqlites_own(kind) for name, kind in table.schema().items()}
        select = opening(lambda: self.compiled(table), "this Ibis table cannot be read")
        typed = typed_select(f"({select})", types)
        return ops.SQLQueryResult(typed, ibis.schema(types), self.backend).to_expr()

    def batches(self, query: Expression) -> "Iterable[pa.Table]":
        """Run a query, and fetch its rows as they are requested."""
        import pyarrow as pa

        schema = query.schema().to_pyarrow()
        cursor = self.backend.con.execute(self.compiled(query))
        while rows := cursor.fetchmany(_ROWS_AT_A_TIME):
            columns = zip(*rows, strict=True)
            yield pa.table(
                [pa.array(*of) for of in zip(columns, schema.types, strict=True)], schema
            )

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query, here or over what DuckDB keeps."""
        return super().fetch(query) if self.is_own(query) else self.keeper.fetch(query)

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its UTF-8 bytes."""
        return text.cast("binary")


def _sqlites_own(kind: Any) -> str:  # noqa: ANN401 (Ibis has no types)
    if kind.is_integer() or kind.is_boolean():
        return "int64"
    if kind.is_floating():
        return "float64"
    return "binary" if kind.is_binary() else "string"
