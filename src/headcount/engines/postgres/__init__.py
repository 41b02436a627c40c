"""PostgreSQL."""

from headcount.engines.postgres.count import Postgres
from headcount.engines.postgres.read import connect, query, table

__all__ = ["Postgres", "connect", "query", "table"]
