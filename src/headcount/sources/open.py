"""One door for everything that events can come from."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from headcount.errors import SourceError
from headcount.sources.files import DATABASES, kind_of, matching, read_files
from headcount.sources.session import Session, guarded
from headcount.sources.sql import check_single_select, mixes_rows

SourceName: TypeAlias = str | PathLike[str]
#: A pandas or Polars data frame, a PyArrow table, or an Ibis table of any backend.
TableLike: TypeAlias = Any


@dataclass(frozen=True)
class Events:
    """A table of events on the engine that will count it.

    Attributes:
        table: an Ibis table expression.
        backend: the Ibis backend that runs it.
        rows_stay_apart: False if the query that a user wrote looks at several rows at a time,
            so that the rows of its result, not those of the tables below, are what is protected.
    """

    table: Any
    backend: Any
    rows_stay_apart: bool = True


def open_source(
    session: Session,
    source: SourceName | TableLike,
    table: str | None = None,
    sql: str | None = None,
) -> Events:
    """Open what a user named.

    Args:
        session: holds what is opened until the release is done.
        source: a path or glob, or a table in memory, or an Ibis table.
        table: the table to read, for a database file.
        sql: a single SELECT to read instead of a table, for a database file.
    """
    if table is not None and sql is not None:
        raise SourceError("give a table or SQL, not both")
    if isinstance(source, str | PathLike):
        return _open_name(session, str(source), table, sql)
    if table is not None or sql is not None:
        raise SourceError("a table or SQL goes with a database file; this source is a table itself")
    return _open_table(session, source)


def _open_name(session: Session, name: str, table: str | None, sql: str | None) -> Events:
    paths = matching(name)
    engine = kind_of(paths[0])
    if engine is None or engine not in DATABASES.values():
        if table is not None or sql is not None:
            raise SourceError("a table or SQL goes with a DuckDB or SQLite file")
        events = read_files(session, paths)
        return Events(events, events.get_backend())
    if len(paths) > 1:
        raise SourceError("give one database file, not several")
    if sql is not None:
        check_single_select(sql, engine)
    backend = _open_database(session, engine, paths[0])
    if sql is not None:
        events = guarded(lambda: backend.sql(sql), "the SQL cannot be run")
        return Events(events, backend, rows_stay_apart=not mixes_rows(sql, engine))
    known = guarded(backend.list_tables, f"the tables of {name!r} cannot be listed")
    if table is None:
        raise SourceError(f"name a table of {name!r}, or give SQL; it has: {_listed(known)}")
    if table not in known:
        raise SourceError(f"there is no table {table!r} in {name!r}; it has: {_listed(known)}")
    return Events(guarded(lambda: backend.table(table), f"cannot read {table!r}"), backend)


def _open_database(session: Session, engine: str, path: Path) -> Any:  # noqa: ANN401
    return session.duckdb(str(path)) if engine == "duckdb" else session.sqlite(str(path))


def _open_table(session: Session, source: TableLike) -> Events:
    import ibis

    if isinstance(source, ibis.Table):
        return Events(source, guarded(source.get_backend, "this Ibis table has no backend"))
    module = type(source).__module__.partition(".")[0]
    if module not in ("pandas", "polars", "pyarrow"):
        raise SourceError(
            "a source is a path, a pandas or Polars data frame, a PyArrow table or an Ibis table, "
            f"got {type(source).__name__}"
        )
    backend = session.duckdb()
    return Events(guarded(lambda: ibis.memtable(source), "cannot read this table"), backend)


def _listed(names: list[str]) -> str:
    return ", ".join(sorted(names)) or "no tables"
