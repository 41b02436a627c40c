"""A PostgreSQL database that is open for reading."""

from typing import Any

from headcount.engines.postgres import read
from headcount.engines.postgres.catalog import PostgresCatalog
from headcount.engines.postgres.count import Postgres
from headcount.engines.session import Session
from headcount.errors import SourceError


class PostgresServer:
    """A database on a server: a `headcount.engines.reader.Database`."""

    def __init__(self, session: Session, url: str) -> None:
        self._backend = read.connect(session, url)
        self.engine = Postgres(self._backend, session)
        self.catalog = PostgresCatalog(self._backend.con)
        self.catalog.refuse_stand_ins()

    def table(self, name: str | None) -> tuple[Any, bool]:
        """Return a table or view as an Ibis table, and whether it stores its own rows."""
        if name is None:
            raise SourceError("name a table of the server, or give SQL")
        return read.table(self._backend, name), self.catalog.is_stored(name)

    def query(self, select: str) -> Any:  # noqa: ANN401 (Ibis has no types)
        """Return the result of a query, already checked to be one SELECT, as an Ibis table."""
        self.engine.read_only()
        return read.query(self._backend, select)
