"""One door for everything that events can come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from headcount.errors import SourceError
from headcount.sources.databases import Database
from headcount.sources.files import matching
from headcount.sources.guard import interruptibly, opening, running
from headcount.sources.memory import read_memory
from headcount.sources.session import Session
from headcount.sources.sql import mixes_rows, single_select
from headcount.sources.text import read_files

if TYPE_CHECKING:
    import pyarrow as pa

SourceName: TypeAlias = str | PathLike[str]
#: A pandas or Polars data frame, a PyArrow table, or an Ibis table of any backend.
TableLike: TypeAlias = Any


@dataclass(frozen=True)
class Events:
    """A table of events on the engine that will count it.

    Attributes:
        table: an Ibis table expression.
        backend: the Ibis backend that runs it.
        rows_stay_apart: False if the query that a user wrote may look at several rows at a
            time, so that the rows of its result, not those of the tables below, are what is
            protected.
    """

    table: Any
    backend: Any
    rows_stay_apart: bool = True

    def run(self, query: Any, says: str) -> "pa.Table":  # noqa: ANN401 (Ibis has no types)
        """Run an Ibis expression over the table; ``says`` begins the error if it fails."""

        def fetch() -> "pa.Table":
            result = self.backend.to_pyarrow(query)
            result.validate(full=True)  # what is no text must be found before anything is spent
            return result

        if self.backend.name != "duckdb":
            return running(fetch, says)
        return running(lambda: interruptibly(fetch, self.backend.con.interrupt), says)


def open_source(
    session: Session,
    source: SourceName | TableLike,
    table: str | None = None,
    sql: str | None = None,
    columns: Sequence[str] | None = None,
) -> Events:
    """Open what a user named.

    Args:
        session: holds what is opened until the release is done.
        source: a path or glob, or a table in memory, or an Ibis table.
        table: the table to read, for a database file.
        sql: a single SELECT to read instead of a table, for a database file.
        columns: those that will be asked for; what else a table in memory has need not be
            readable.
    """
    if table is not None and sql is not None:
        raise SourceError("give a table or SQL, not both")
    if isinstance(source, str | PathLike):
        return _open_name(session, str(source), table, sql)
    if table is not None or sql is not None:
        raise SourceError("a table or SQL goes with a database file; this source is a table itself")
    return _open_table(session, source, columns)


def _open_name(session: Session, name: str, table: str | None, sql: str | None) -> Events:
    kind, paths = matching(name)
    if kind not in ("duckdb", "sqlite"):
        if table is not None or sql is not None:
            raise SourceError("a table or SQL goes with a DuckDB or SQLite file")
        events = read_files(session, kind, paths)
        return Events(events, events.get_backend())
    if len(paths) > 1:
        raise SourceError("give one database file, not several")
    if sql is None:
        database = Database(session, kind, paths[0])
        return Events(database.table(table), database.backend)
    select = single_select(sql, kind)
    database = Database(session, kind, paths[0])
    return Events(
        database.query(select), database.backend, rows_stay_apart=not mixes_rows(select, kind)
    )


def _open_table(session: Session, source: TableLike, columns: Sequence[str] | None) -> Events:
    import ibis

    if isinstance(source, ibis.Table):
        return Events(source, opening(source.get_backend, "this Ibis table has no backend"))
    return Events(*read_memory(session, source, columns))
