"""SQLite, through the module of Python's own library."""

import hashlib
import operator
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Engine, Expression
from headcount.engines.guard import opening, running
from headcount.engines.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

# SQLite runs this many of its steps, a few milliseconds' worth, between two looks at whether
# the user pressed Ctrl-C.
_STEPS_BETWEEN_LOOKS = 100_000


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


class SQLite(Engine):
    """SQLite. A column may be declared COLLATE NOCASE or RTRIM, which would merge items."""

    several_passes = True

    compares_bytes = False
    has_nan = False  # it stores NULL instead

    def materialise(self, query: Expression, says: str) -> Expression:
        """Run a query into a temporary table."""
        import ibis

        name, select = self.scratch_name(), self.compiled(query)
        self.session.at_end(lambda: self.backend.con.execute(f'DROP TABLE IF EXISTS temp."{name}"'))
        running(lambda: self.backend.con.execute(f'CREATE TEMP TABLE "{name}" AS {select}'), says)
        return ibis.table(query.schema(), name=name)

    def upload(self, rows: "pa.Table", says: str) -> Expression:
        """Copy a table into a temporary one."""
        import ibis

        name = self.scratch_name()
        columns = ", ".join('"' + column.replace('"', '""') + '"' for column in rows.column_names)
        marks = ", ".join("?" for _ in rows.column_names)

        def copy() -> None:
            con = self.backend.con
            con.execute(f'CREATE TEMP TABLE "{name}" ({columns})')
            values = (tuple(row.values()) for row in rows.to_pylist())
            con.executemany(f'INSERT INTO "{name}" VALUES ({marks})', values)  # noqa: S608

        self.session.at_end(lambda: self.backend.con.execute(f'DROP TABLE IF EXISTS temp."{name}"'))
        running(copy, says)
        return ibis.table(ibis.memtable(rows).schema(), name=name)

    def whole_quotient(self, dividend: Expression, divisor: Expression) -> Expression:
        """Return ``dividend // divisor``."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("int64", "int64"), "int64"))
        def headcount_quotient(dividend, divisor):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Python's own: SQLite's is an operator that Ibis makes one of floats."""

        self.backend.con.create_function(
            "headcount_quotient", 2, operator.floordiv, deterministic=True
        )
        return headcount_quotient(dividend, divisor)

    def scattered(self, left: Expression, right: Expression) -> Expression:
        """Return a hash that Python makes: SQLite has none."""
        import ibis

        @ibis.udf.scalar.builtin(name="hex", signature=((left.type(),), "string"))
        def hex_left(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """SQLite's own: whatever a value is, this is ASCII, which Python can read."""

        @ibis.udf.scalar.builtin(name="hex", signature=((right.type(),), "string"))
        def hex_right(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """SQLite's own."""

        @ibis.udf.scalar.builtin(signature=(("string", "string"), "string"))
        def headcount_scattered(left, right):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Python's own."""

        self.backend.con.create_function("headcount_scattered", 2, _hashed, deterministic=True)
        return headcount_scattered(hex_left(left), hex_right(right))

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its bytes in UTF-8."""
        return text.cast("binary")


def _hashed(left: str, right: str) -> str:
    return hashlib.sha256(f"{left},{right}".encode()).hexdigest()
