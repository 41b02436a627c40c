"""PostgreSQL."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headcount.engines.base import Engine
from headcount.engines.reader import Database, Reader
from headcount.engines.session import Session


class PostgresReader(Reader):
    """What PostgreSQL reads: tables and queries of a server."""

    name = "postgres"
    title = "PostgreSQL"
    package = "psycopg"
    ibis_backend = "postgres"
    url_schemes = ("postgres", "postgresql")
    dialect = "postgres"

    def engine(self, backend: Any, session: Session) -> Engine:  # noqa: ANN401
        """Return the engine."""
        from headcount.engines.postgres.count import Postgres

        return Postgres(backend, session)

    def is_stored(self, backend: Any, schema: str | None, name: str) -> bool:  # noqa: ANN401
        """Whether a table is neither a view nor foreign, and has no row-level security."""
        from headcount.engines.postgres.catalog import PostgresCatalog

        relation = PostgresCatalog(backend.con).relation(schema, name)
        return relation is not None and relation.stored

    def open_database(
        self, session: Session, where: Path | str, settings: Mapping[str, str]
    ) -> Database:
        """Connect to a server."""
        from headcount.engines.postgres.database import PostgresServer

        return PostgresServer(session, str(where))


reader = PostgresReader()
