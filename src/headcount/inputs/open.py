"""The one entry point for everything that events can come from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from headcount.engines import Engine, Reader, Session, file_engines, registry
from headcount.engines.files import database_in, matching
from headcount.engines.guard import opening, running
from headcount.engines.layout import BY_NAME, Layout
from headcount.engines.names import UNSPEAKABLE, is_unspeakable
from headcount.engines.reader import A_SOURCE_IS, Database
from headcount.errors import HeadcountError, SettingsError, SourceError
from headcount.inputs.lineage import unit_of_query
from headcount.inputs.sql import single_select
from headcount.inputs.stdin import STDIN, kept_stdin
from headcount.inputs.unit import Unit
from headcount.inputs.where import Where

SourceName: TypeAlias = str | PathLike[str]
#: A pandas or Polars data frame, a table, dataset or stream of PyArrow, a relation of DuckDB, a
#: Spark data frame, or an Ibis table.
TableLike: TypeAlias = Any

# Engines say themselves what is wrong. This is for other exceptions, which may quote data.
_ERROR_PREFIX = "the source cannot be opened"

#: What reads files if no engine is named.
DEFAULT_ENGINE = "duckdb"


@dataclass(frozen=True)
class Events:
    """A table of events on the engine that will count it.

    Attributes:
        table: an Ibis table expression.
        engine: what runs it.
        unit: what the guarantee of a release from it is about.
        origin: what the user column is called in the table or view that it is a column of; None if
            SQL computes it, or if that name is not known to differ.
        person: the column with the user, where the user column holds users within a period; None if
            it holds the users themselves, or nothing is asked about all of a user's periods.
        repeatable: whether reading it again gives the same rows, as for a stored table, a table in
            memory or files. A query may give others, for instance with random() or LIMIT.
    """

    table: Any
    engine: Engine
    unit: Unit = Unit.USER
    origin: str | None = None
    repeatable: bool = False
    person: str | None = None

    def counted_by(self, user: str) -> str | None:
        """Return the column that identifies the users who are counted, whatever the SQL calls it.

        None if the SQL computes it.
        """
        return None if self.unit is Unit.COMPUTED else self.origin or user


@dataclass(frozen=True)
class Request:
    """What a user asks to read, and how.

    Attributes:
        table: the table of a database or catalog.
        sql: a single SELECT instead of a table.
        engine: what reads files: one of `headcount.engines.file_engines`.
        spark_conf: settings for a Spark session that is started for this.
        columns: those that will be used; other columns of a table in memory need not be readable.
        user: the one of them that identifies the user.
        where: which rows to read; None for all.
        layout: what the user said about files besides their names.
    """

    table: str | None = None
    sql: str | None = None
    engine: str | None = None
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[str] | None = None
    user: str | None = None
    where: Where | None = None
    layout: Layout = BY_NAME

    def __post_init__(self) -> None:
        if self.table is not None and self.sql is not None:
            raise SourceError("give either a table or SQL, not both")
        if any(map(is_unspeakable, filter(None, (self.table, self.sql)))):
            raise SourceError(f"{'the SQL' if self.sql else 'the name of the table'} {UNSPEAKABLE}")
        if not all(isinstance(column, str) for column in self.columns or ()):
            raise SourceError(
                "user is the name of one column, as in user='id'; lists are for items"
            )
        if self.engine is not None and self.engine not in file_engines():
            raise SettingsError(
                f"there is no engine {self.engine!r}; there are: {', '.join(file_engines())}"
            )

    @property
    def file_reader(self) -> Reader:
        """What reads files."""
        return registry.reader(self.engine or DEFAULT_ENGINE)


def check_named(session: Session, source: SourceName | TableLike, request: Request) -> None:
    """Refuse a source that is not there, reading at most the first bytes of files.

    stdin is kept, as it must come to an end before it is known to be there.
    """
    if not isinstance(source, str | PathLike):
        return
    name = str(source)
    if name == STDIN:
        kept_stdin(session, request.layout)
    elif _SCHEME.match(name):
        _refuse_elsewhere(name, request)
    elif not (request.file_reader.finds_files or request.spark_conf):
        matching(name, request.layout)


# Sources that are plans, or streams with a plan behind them.
_PLANS = ("LazyFrame", "Dataset", "RecordBatchReader", "DuckDBPyRelation")


def is_deferred(source: SourceName | TableLike) -> bool:
    """Whether a source in memory is a plan, which can be made to fail because of a single row."""
    kinds = type(source).mro()
    return any(kind.__name__ in _PLANS or kind.__module__.startswith("pyspark.") for kind in kinds)


def open_source(session: Session, source: SourceName | TableLike, request: Request) -> Events:
    """Open what a user named, without the rows that are not wanted.

    No query is run yet; stdin, Arrow files and sources in memory may be read.
    """
    events = _open(session, source, request)
    return events if request.where is None else _filtered(events, request.where)


def _filtered(events: Events, where: Where) -> Events:
    table = where.applied_to(events.table)
    # What the engine cannot run is refused now, before any query runs.
    opening(lambda: events.engine.compiled(table), "the condition cannot be run on this engine")
    return replace(events, table=table)


def _open(session: Session, source: SourceName | TableLike, request: Request) -> Events:
    if not isinstance(source, str | PathLike):
        return _open_object(session, source, request)
    if str(source) == STDIN:
        return _open_stdin(session, request)
    return _open_named(session, str(source), request)


def _open_stdin(session: Session, request: Request) -> Events:
    path = str(kept_stdin(session, request.layout))
    try:
        return _open_named(session, path, request)
    except HeadcountError as error:  # which is to name stdin, not its copy
        error.args = (
            str(error).replace(f"the file {path!r}", "stdin").replace(repr(path), "stdin"),
        )
        raise


def _open_named(session: Session, name: str, request: Request) -> Events:
    server = registry.for_url(name)
    if server is not None:
        if request.engine is not None:
            raise SettingsError(
                "an engine can only be chosen for files; a server is its own engine"
            )
        if request.table is None and request.sql is None:
            raise SourceError("name a table of the server, or give SQL")
        return _open_database(session, server, name, request)
    files = request.file_reader
    if request.spark_conf and not files.takes_settings:
        raise SettingsError("Spark settings are only for the engine spark or a spark:// master")
    _refuse_elsewhere(name, request)
    if not files.finds_files and (database := database_in(name, request.engine, request.layout)):
        return _open_database(session, *database, request)
    if request.sql is not None:
        return _query_files(session, files, name, request)
    _refuse_table(request)
    files.require()
    said = _said_to(files, request)
    opened = running(
        lambda: files.read_files(session, name, request.columns, request.spark_conf, **said),
        _ERROR_PREFIX,
    )
    return Events(opened.table, opened.engine, repeatable=True)


def _said_to(reader: Reader, request: Request) -> dict[str, Layout]:
    """Return the layout for an engine, if anything was said that it must know."""
    if not request.layout:
        return {}
    if not reader.takes_layout:
        raise SettingsError(
            f"{reader.title} recognises files by their endings and takes no delimiter: leave out "
            "the input format and the delimiter, or the engine"
        )
    return {"layout": request.layout}


_SCHEME = re.compile(r"(\w[\w+.-]+)://")
_WEB = ("http", "https", "ftp", "ftps")
_STORES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "hdfs")


def _refuse_elsewhere(name: str, request: Request) -> None:
    """Refuse an address that nothing here reads. It is not quoted: it may contain a password."""
    scheme = _SCHEME.match(name)
    if scheme is None or registry.for_url(name) is not None:
        return
    if scheme[1] in _WEB:
        raise SourceError(
            f"{scheme[1]}:// addresses are not read. Download the file first, or "
            "pipe it in: curl -L ADDRESS | headcount release - --input-format csv …"
        )
    if request.file_reader.finds_files:
        return
    if scheme[1] in _STORES:
        raise SourceError(
            f"DuckDB reads only local files here. For {scheme[1]}:// use --engine spark "
            "(engine='spark'), copy the files to this machine, or pass a pyarrow.dataset from "
            "Python"
        )
    raise SourceError(
        f"this kind of address is not supported; supported are {_listed(_schemes(), 'and')}"
    )


def _query_files(session: Session, reader: Reader, name: str, request: Request) -> Events:
    """Open the result of a SELECT on files, which it sees as a table called events."""
    dialect = reader.dialect
    if dialect is None:
        raise SourceError(
            f"SQL on files is run by DuckDB, not by {reader.title}: leave the engine out, or give "
            "a condition (--where, where=) instead"
        )
    select = single_select(request.sql or "", dialect)
    said = _said_to(reader, request)
    return running(
        lambda: _queried(reader.query_files(session, name, **said), dialect, request, select),
        _ERROR_PREFIX,
    )


def _refuse_layout(request: Request) -> None:
    """Refuse a format or a delimiter for a source that is not a file."""
    if request.layout:
        raise SettingsError(
            "an input format and a delimiter are only for files and stdin; this source is a table"
        )


def _refuse_table(request: Request) -> None:
    """Refuse a table name for files of events."""
    if request.table is not None:
        kinds = _listed([one.title for one in registry.databases()], "or")
        servers = _listed(_schemes(), "or")
        raise SourceError(
            f"a table name is only for a {kinds} file or a server ({servers}); this source is a "
            "path to files of events"
        )


def _open_database(session: Session, reader: Reader, where: Path | str, request: Request) -> Events:
    """Open a table or query of a database file or a server."""
    _refuse_layout(request)
    select = _checked(request.sql, reader)
    reader.require()
    return running(lambda: _read_database(session, reader, where, request, select), _ERROR_PREFIX)


def _checked(sql: str | None, reader: Reader) -> str | None:
    if sql is None:
        return None
    if reader.dialect is None:
        known = _listed([one.title for one in registry.readers() if one.dialect], "and")
        raise SourceError(f"SQL works with {known}; for {reader.title}, name a table")
    return single_select(sql, reader.dialect)


def _read_database(
    session: Session, reader: Reader, where: Path | str, request: Request, select: str | None
) -> Events:
    database = reader.open_database(session, where, request.spark_conf)
    if select is None or reader.dialect is None:
        table, stored = database.table(request.table)
        unit = Unit.USER if stored else Unit.VIEW
        return Events(table, database.engine, unit, request.user, repeatable=stored)
    return _queried(database, reader.dialect, request, select)


def _queried(database: Database, dialect: str, request: Request, select: str) -> Events:
    unit, origin = unit_of_query(select, dialect, request.user, database.catalog)
    return Events(database.query(select), database.engine, unit, origin)


def _open_object(session: Session, source: TableLike, request: Request) -> Events:
    import ibis
    import ibis.expr.operations as ops

    if request.table is not None or request.sql is not None:
        raise SourceError(
            "a table name or SQL is only for a database; this source is already a table"
        )
    _refuse_layout(request)
    if isinstance(source, ibis.Table) and isinstance(source.op(), ops.InMemoryTable):
        # Ibis inferred types from values. The table that it was made from has its own.
        source = source.op().data.obj
    if isinstance(source, ibis.Table):
        backend = opening(source.get_backend, "this Ibis table has no backend")
        engine = registry.engine_for(backend, session)
        unit = _unit_of_ibis(source, backend)
        stored = unit is Unit.USER
        return Events(engine.typed(source), engine, unit, request.user, repeatable=stored)
    reader = registry.for_object(source)
    if reader is None:
        raise SourceError(f"{A_SOURCE_IS}, got {type(source).__name__}")
    reader.require()
    opened = running(lambda: reader.read_object(session, source, request.columns), _ERROR_PREFIX)
    unit = Unit.RELATION if opened.queried else Unit.USER
    return Events(opened.table, opened.engine, unit, repeatable=True)


def _unit_of_ibis(source: Any, backend: Any) -> Unit:  # noqa: ANN401 (Ibis has no types)
    """Return what a guarantee about an Ibis table is about: its rows, if a database stores it."""
    import ibis.expr.operations as ops

    op = source.op()
    if type(op) is not ops.DatabaseTable:
        return Unit.EXPRESSION
    reader = registry.for_backend(backend)
    stored = reader is not None and reader.is_stored(backend, op.namespace.database, op.name)
    return Unit.USER if stored else Unit.VIEW


def _schemes() -> list[str]:
    return [f"{one.url_schemes[0]}://" for one in registry.readers() if one.url_schemes]


def _listed(names: Sequence[str], last: str) -> str:
    return f" {last} ".join(filter(None, (", ".join(names[:-1]), names[-1])))
