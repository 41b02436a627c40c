"""SQLite, through the module of Python's own library."""

import sqlite3
from pathlib import Path
from typing import Any

from headcount.engines.base import Engine, Expression
from headcount.engines.guard import opening
from headcount.engines.session import Session

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

    compares_bytes = False
    has_nan = False  # it stores NULL instead

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its bytes in UTF-8."""
        return text.cast("binary")
