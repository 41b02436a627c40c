"""One door for everything that events can come from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, TypeAlias

from headcount.engines import Engine, Session, duckdb, engine_for, module_of
from headcount.engines.guard import opening
from headcount.errors import SettingsError, SourceError
from headcount.inputs.catalogs import (
    DuckDBCatalog,
    PostgresCatalog,
    SQLiteCatalog,
    is_stored_by_spark,
)
from headcount.inputs.databases import Database
from headcount.inputs.files import matching, stored_schemas
from headcount.inputs.lineage import unit_of_query
from headcount.inputs.memory import read_memory
from headcount.inputs.servers import is_server, open_server, read_with_spark
from headcount.inputs.sql import single_select
from headcount.inputs.text import EXPECTED, read_files
from headcount.inputs.unit import Unit

SourceName: TypeAlias = str | PathLike[str]
#: A pandas or Polars data frame, a PyArrow table, a Spark data frame, or an Ibis table.
TableLike: TypeAlias = Any

#: Engines that files can be read with.
FILE_ENGINES = ("duckdb", "polars", "spark")


@dataclass(frozen=True)
class Events:
    """A table of events on the engine that will count it.

    Attributes:
        table: an Ibis table expression.
        engine: what runs it.
        unit: what the guarantee of a release from it is about.
        origin: what the user column is called in the table or view that it is a column of, if SQL
            gave it another name; None if it has no other, or is computed.
    """

    table: Any
    engine: Engine
    unit: Unit = Unit.USER
    origin: str | None = None

    def counted_by(self, user: str) -> str | None:
        """Return the column that identifies the users who are counted, whatever the SQL calls it.

        None if the SQL computes it.
        """
        return None if self.unit is Unit.COMPUTED else self.origin or user


@dataclass(frozen=True)
class Request:
    """What a user asks to be read, and with what.

    Attributes:
        table: the table of a database or catalog.
        sql: a single SELECT instead of a table.
        engine: what reads files: duckdb, polars or spark.
        spark_conf: settings of a Spark that is started for this.
        columns: those that will be asked for; what else a table in memory has need not be
            readable.
        user: the one of them that identifies the user.
    """

    table: str | None = None
    sql: str | None = None
    engine: str | None = None
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[str] | None = None
    user: str | None = None

    def __post_init__(self) -> None:
        if self.table is not None and self.sql is not None:
            raise SourceError("give a table or SQL, not both")
        if not all(isinstance(column, str) for column in self.columns or ()):
            raise SourceError(
                "the user column is given by its name, as in user='id'; lists are for items"
            )
        if self.engine not in (None, *FILE_ENGINES):
            raise SettingsError(
                f"there is no engine {self.engine!r}; there are: {', '.join(FILE_ENGINES)}"
            )


def check_named(source: SourceName | TableLike, request: Request) -> None:
    """Refuse files that are not there, without reading more of them than their first bytes."""
    if isinstance(source, str | PathLike):
        name = str(source)
        for_spark = request.engine == "spark" or request.spark_conf
        if "://" not in name and not for_spark:
            matching(name)


def open_source(session: Session, source: SourceName | TableLike, request: Request) -> Events:
    """Open what a user named."""
    if not isinstance(source, str | PathLike):
        return _open_table(session, source, request)
    name = str(source)
    if is_server(name):
        if request.engine is not None:
            raise SettingsError("an engine is chosen for files; a server has its own")
        select = _checked(request.sql, "postgres")
        table, backend = open_server(session, name, request.table, select, request.spark_conf)
        unit, origin = _unit_on_server(backend, request, select)
        return Events(table, engine_for(backend, session), unit, origin)
    if request.engine == "spark":
        if request.sql is not None:
            raise SourceError("SQL goes with a database; give Spark a path or a table")
        table, backend, form = read_with_spark(session, name, request.table, request.spark_conf)
        engine = engine_for(backend, session)
        engine.expected = EXPECTED.get(form, engine.expected)
        return Events(table, engine)
    if request.spark_conf:
        raise SettingsError("settings of Spark go with the engine spark or a spark:// master")
    if re.match(r"\w[\w+.-]+://", name):  # not repeated: a password may stand in it
        raise SourceError("this kind of address is not known; known are postgres:// and spark://")
    return _open_name(session, name, request)


def _open_name(session: Session, name: str, request: Request) -> Events:
    kind, paths = matching(name)
    if kind not in ("duckdb", "sqlite"):
        if request.table is not None or request.sql is not None:
            raise SourceError("a table or SQL goes with a DuckDB or SQLite file, or a server")
        if request.engine == "polars":
            if kind != "parquet":
                raise SourceError("Polars reads Parquet files here; leave the engine to DuckDB")
            polars = module_of("polars")
            table = polars.read_parquet(paths, stored_schemas(paths), request.columns)
        else:
            table = read_files(duckdb.connect(session), kind, paths, request.columns)
        engine = engine_for(table.get_backend(), session)
        engine.compares_bytes = True  # files have no collations
        engine.expected = EXPECTED.get(kind, engine.expected)
        return Events(table, engine)
    if len(paths) > 1:
        raise SourceError("give one database file, not several")
    if request.engine not in (None, kind):
        raise SettingsError(f"an engine is chosen for files of events; this is a {kind} database")
    select = _checked(request.sql, kind)
    database = Database(session, kind, paths[0])
    if select is not None:
        unit, origin = unit_of_query(select, kind, request.user, database.catalog)
        table = database.query(select)
    else:
        table, stored = database.table(request.table)
        unit, origin = (Unit.USER if stored else Unit.VIEW), request.user
    return Events(table, engine_for(database.backend, session), unit, origin)


def _checked(sql: str | None, dialect: str) -> str | None:
    return None if sql is None else single_select(sql, dialect)


def _unit_on_server(
    backend: Any,  # noqa: ANN401
    request: Request,
    select: str | None,
) -> tuple[Unit, str | None]:
    if backend.name != "postgres":
        stored = is_stored_by_spark(backend, request.table)
    elif select is not None:
        return unit_of_query(select, "postgres", request.user, PostgresCatalog(backend.con))
    else:
        stored = PostgresCatalog(backend.con).is_stored(request.table)
    return (Unit.USER if stored else Unit.VIEW), request.user


def _unit_of_ibis(source: Any, backend: Any) -> Unit:  # noqa: ANN401 (Ibis has no types)
    """Return what a guarantee about an Ibis table is about: its rows, if a database stores it."""
    import ibis.expr.operations as ops

    op = source.op()
    if type(op) is not ops.DatabaseTable:
        return Unit.EXPRESSION
    schema = op.namespace.database
    match backend.name:
        case "duckdb":
            relation = DuckDBCatalog(backend.con).relation(schema, op.name)
        case "sqlite":
            relation = SQLiteCatalog(backend.con).relation(schema, op.name)
        case "postgres":
            relation = PostgresCatalog(backend.con).relation(schema, op.name)
        case _:
            relation = None
    stored = relation is not None and relation.stored
    if backend.name == "pyspark":
        stored = is_stored_by_spark(backend, ".".join(filter(None, (schema, op.name))))
    return Unit.USER if stored else Unit.VIEW


def _open_table(session: Session, source: TableLike, request: Request) -> Events:
    import ibis
    import ibis.expr.operations as ops

    if request.table is not None or request.sql is not None:
        raise SourceError("a table or SQL goes with a database; this source is a table itself")
    if isinstance(source, ibis.Table) and isinstance(source.op(), ops.InMemoryTable):
        # Ibis inferred types from values. The table that it was made of has types of its own.
        source = source.op().data.obj
    if isinstance(source, ibis.Table):
        backend = opening(source.get_backend, "this Ibis table has no backend")
        engine = engine_for(backend, session)
        unit = _unit_of_ibis(source, backend)
        return Events(engine.typed(source), engine, unit, request.user)
    if type(source).__module__.startswith("pyspark."):
        table, backend = module_of("spark").read_frame(source)
        return Events(table, engine_for(backend, session))
    table, backend = read_memory(session, source, request.columns)
    engine = engine_for(backend, session)
    engine.compares_bytes = True
    return Events(table, engine)
