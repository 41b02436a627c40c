"""SQLite, through the module of Python's own library."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Expression
from headcount.engines.guard import opening
from headcount.engines.keeper import KeptByDuckDB
from headcount.engines.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

# SQLite runs this many of its steps, a few milliseconds' worth, between two looks at whether
# the user pressed Ctrl-C.
_STEPS_BETWEEN_LOOKS = 100_000
_ROWS_AT_A_TIME = 100_000


def connect(session: Session, file: Path) -> Any:  # noqa: ANN401 (Ibis has no types)
    """Open a SQLite file, which is only read, through Ibis."""
    import ibis

    def open_file() -> Any:  # noqa: ANN401
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        connection.set_progress_handler(lambda: None, _STEPS_BETWEEN_LOOKS)
        return ibis.sqlite.from_connection(connection)

    backend = opening(open_file, f"{str(file)!r} cannot be opened as a SQLite database")
    session.at_end(backend.disconnect)
    return backend


class SQLite(KeptByDuckDB):
    """SQLite. A column may be declared COLLATE NOCASE or RTRIM, which would merge items.

    Between passes DuckDB keeps the pairs: SQLite itself took ten times as long.
    """

    compares_bytes = False
    has_nan = False  # it stores NULL instead

    def batches(self, query: Expression) -> "Iterable[pa.Table]":
        """Run a query, and leave the rows where they are until they are asked for."""
        import pyarrow as pa

        schema = query.schema().to_pyarrow()
        cursor = self.backend.con.execute(self.compiled(query))
        while rows := cursor.fetchmany(_ROWS_AT_A_TIME):
            columns = zip(*rows, strict=True)
            yield pa.table(
                [pa.array(*of) for of in zip(columns, schema.types, strict=True)], schema
            )

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query, here or on what DuckDB keeps."""
        return super().fetch(query) if self.is_own(query) else self.keeper.fetch(query)

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its bytes in UTF-8."""
        return text.cast("binary")
