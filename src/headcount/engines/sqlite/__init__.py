"""SQLite, through the module in Python's standard library."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headcount.engines.base import Engine
from headcount.engines.reader import Database, Reader
from headcount.engines.session import Session


class SQLiteReader(Reader):
    """What SQLite reads."""

    name = "sqlite"
    title = "SQLite"
    ibis_backend = "sqlite"
    database_suffixes = (".sqlite", ".sqlite3")
    database_magic = (0, b"SQLite format 3\0")
    dialect = "sqlite"

    def engine(self, backend: Any, session: Session) -> Engine:  # noqa: ANN401
        """Return the engine."""
        from headcount.engines.sqlite.count import SQLite

        return SQLite(backend, session)

    def is_stored(self, backend: Any, schema: str | None, name: str) -> bool:  # noqa: ANN401
        """Whether a table is neither a view nor virtual."""
        from headcount.engines.sqlite.database import SQLiteCatalog

        relation = SQLiteCatalog(backend.con).relation(schema, name)
        return relation is not None and relation.stored

    def open_database(
        self, session: Session, where: Path | str, settings: Mapping[str, str]
    ) -> Database:
        """Open a database file."""
        from headcount.engines.sqlite.database import SQLiteFile

        return SQLiteFile(session, Path(where))


reader = SQLiteReader()
