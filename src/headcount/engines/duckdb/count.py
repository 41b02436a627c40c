"""DuckDB, the embedded engine."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Engine, Expression
from headcount.engines.codes import CodedRows
from headcount.engines.dialects import load_dialects_when_used
from headcount.engines.duckdb.codes import coded_rows, reader_of
from headcount.engines.duckdb.macros import macros
from headcount.engines.guard import interruptibly, opening, running
from headcount.engines.session import Session
from headcount.engines.types import refuse_cuts

if TYPE_CHECKING:
    import pyarrow as pa


def connect(session: Session, file: Path | None = None) -> Any:  # noqa: ANN401 (Ibis has no types)
    """Open DuckDB through Ibis, in memory or on a file, which is opened read-only."""
    load_dialects_when_used()
    # Not through ibis.duckdb, which reads what every installed package declares.
    from ibis.backends.duckdb import Backend

    backend = opening(
        lambda: Backend().connect(
            ":memory:" if file is None else str(file),
            read_only=file is not None,
            memory_limit=session.memory,
            temp_directory=str(session.folder),
            autoinstall_known_extensions="false",
            preserve_insertion_order="false",
        ),
        f"{str(file)!r} cannot be opened as a DuckDB database, or is in use by another program"
        if file
        else "DuckDB does not start with these settings",
    )
    session.at_end(backend.disconnect)
    # Progress depends on the data. In a notebook without ipywidgets DuckDB shows none, and refuses
    # the setting.
    [(shown,)] = backend.con.execute("SELECT current_setting('enable_progress_bar')").fetchall()
    if shown:
        backend.con.execute("SET enable_progress_bar = false")
    return backend


# Types whose values lose something in Arrow (a time loses its zone), or that Ibis does not know.
_AS_TEXT = ("TIME WITH TIME ZONE", "UHUGEINT", "BIT", "BIGNUM", "VARINT")
_NO_TYPE = '"NULL"'  # of a column of nothing but NULLs
# Ibis types for two DuckDB types that Ibis does not know: moments, and times of day.
_NANOSECONDS = ("timestamp('UTC', 9)", "time")
_NANOSECOND_DIGITS = 9


def with_true_types(
    table: Expression,
    stored: "Iterable[pa.Schema]" = (),
    columns: Collection[str] | None = None,
) -> Expression:
    """Return a table whose values reach Python unchanged.

    Args:
        table: an Ibis table of DuckDB.
        stored: the schemas of what the table is read from, if that is not DuckDB's own.
        columns: the requested ones.

    Raises:
        SourceError: DuckDB would cut the values of a requested column.
    """
    import duckdb
    import ibis
    import ibis.expr.operations as ops
    import pyarrow as pa

    stored = list(stored)
    backend, types = table.get_backend(), dict(table.schema().items())
    backend._run_pre_execute_hooks(table)
    select = str(backend.compile(table))
    held = backend.con.sql(f"SELECT * FROM ({select}) LIMIT 0").to_arrow_table().schema  # noqa: S608
    nulls = set.intersection(*map(_without_type, stored)) if stored else set()
    chosen = []
    for name, raw, *_ in backend.con.execute(f"DESCRIBE {select}").fetchall():
        quoted, place = '"' + name.replace('"', '""') + '"', held.get_field_index(name)
        # DuckDB before 1.4 reads a column without a type in a file as numbers.
        nothing = name in nulls if stored else raw == _NO_TYPE
        if nothing or (raw in _AS_TEXT and not stored):  # the zone of all times in files is UTC
            types[name] = ibis.dtype("string")
            held = held.set(place, pa.field(name, pa.string()))
            quoted = f"CAST({quoted} AS VARCHAR) AS {quoted}"
        elif types[name].is_unknown() and pa.types.is_temporal(held.types[place]):
            types[name] = ibis.dtype(_NANOSECONDS[pa.types.is_time(held.types[place])])
        chosen.append(quoted)
    by = f"DuckDB {duckdb.__version__}"  # Ibis reads it from a file each time
    for schema in stored:
        refuse_cuts(schema, held, columns, by)
    if ibis.schema(types) == table.schema():
        return table
    select = f"SELECT {', '.join(chosen)} FROM ({select})"  # noqa: S608 (names are quoted)
    return ops.SQLQueryResult(select, ibis.schema(types), backend).to_expr()


def true_rows(relation: Any, columns: Sequence[str]) -> "pa.RecordBatchReader":  # noqa: ANN401
    """Return the rows of a user's relation as a stream of unchanged values.

    Args:
        relation: a DuckDB relation, of any connection.
        columns: the requested ones; all of them exist.
    """
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    chosen = []
    for name in columns:
        quoted = '"' + name.replace('"', '""') + '"'
        if kinds[name] in _AS_TEXT or kinds[name] == _NO_TYPE:
            quoted = f"CAST({quoted} AS VARCHAR) AS {quoted}"
        elif kinds[name] == "JSON":  # text to Arrow; a struct is refused, as JSON is elsewhere
            quoted = f"struct_pack(json := {quoted}) AS {quoted}"
        chosen.append(quoted)
    return reader_of(relation.project(", ".join(chosen)))


def _without_type(schema: "pa.Schema") -> set[str]:
    from pyarrow import types as of

    return {field.name for field in schema if of.is_null(field.type)}


class DuckDB(Engine):
    """DuckDB. Counting distinct 64-bit hashes of long ids takes half the time of counting ids."""

    several_passes = True
    codes_rows = True

    compares_bytes = False  # a column of a table may have a collation

    #: The files that are read, if any: they must not change between scans.
    files: Sequence[Path] = ()

    def typed(self, table: Expression) -> Expression:
        """Return a table with types that hold what DuckDB holds."""
        macros(self.backend.con)
        return opening(lambda: with_true_types(table), "this Ibis table cannot be read")

    def user_key(self, user: Expression) -> Expression:
        """Return DuckDB's own 64-bit hash of an id."""
        return user if user.type().is_integer() else self.hashed(user)

    def hashed(self, user: Expression) -> Expression:
        """Return DuckDB's own 64-bit hash of a value."""
        import ibis

        @ibis.udf.scalar.builtin(signature=((user.type(),), "uint64"))
        def hash(value):  # type: ignore[no-untyped-def]  # noqa: A001, ANN001, ANN202
            """DuckDB's built-in function."""

        return hash(user)

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its UTF-8 bytes."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("string",), "binary"))
        def encode(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """DuckDB's built-in function."""

        return encode(text)

    def whole_quotient(self, dividend: Expression, divisor: Expression) -> Expression:
        """Return ``dividend // divisor``."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("int64", "int64"), "int64"))
        def divide(dividend, divisor):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """DuckDB's built-in function for its operator //."""

        return divide(dividend, divisor)

    def stable_hash(self, left: Expression, right: Expression) -> Expression:
        """Return DuckDB's own hash of two values."""
        import ibis

        @ibis.udf.scalar.builtin(signature=((left.type(), right.type()), "uint64"))
        def hash(left, right):  # type: ignore[no-untyped-def]  # noqa: A001, ANN001, ANN202
            """DuckDB's built-in function."""

        return hash(left, right)

    def has_day(self, time: Expression) -> Expression:
        """Return whether a time lies within the calendar; those in nanoseconds all do.

        Infinite ones pass here too, but have no number of nanoseconds, so their day is NULL.
        """
        return time.notnull() if _in_nanoseconds(time) else super().has_day(time)

    def local_day(self, time: Expression, zone: str) -> Expression:
        """Return the day of a time. DuckDB's own cast from nanoseconds rounds up before 1970."""
        if _in_nanoseconds(time):
            zoned = time.type().timezone
            time = _down_to_microseconds(time)
            if zoned:
                time = _at_zone(_at_zone(time, "UTC"), zone)
        return super().local_day(time, zone)

    def local_time(self, moment: Expression, zone: str) -> Expression:
        """Return the local time of a moment in a time zone."""
        return _at_zone(moment, zone)

    def grouped(self, rows: Expression, by: str) -> Expression:
        """Return sorted rows: groups that lie together aggregate three times as fast."""
        return rows.order_by(by)

    def materialise(self, query: Expression, error_prefix: str) -> Expression:
        """Run a query into a temporary table."""
        return self._kept(self.compiled(query), query.schema(), error_prefix)

    def _kept(self, select: str, schema: Any, error_prefix: str) -> Expression:  # noqa: ANN401
        import ibis.expr.operations as ops

        con, name = self.backend.con, self.scratch_name()
        self.session.at_end(lambda: self._drop(name))
        running(
            lambda: interruptibly(
                lambda: con.execute(f'CREATE TEMP TABLE "{name}" AS {select}'),
                con.interrupt,
                self.session.cancel,
            ),
            error_prefix,
            self.expected,
        )
        # With the query's types: Ibis does not know all of DuckDB's.
        return ops.DatabaseTable(name, schema=schema, source=self.backend).to_expr()

    def coded_rows(
        self, rows: Expression, user: str, items: Sequence[str], error_prefix: str
    ) -> AbstractContextManager[CodedRows]:
        """Return rows as codes: users and items are numbered, and joined with the rows."""
        return coded_rows(self, rows, user, items, error_prefix)

    def drop(self, table: Expression) -> None:
        """Drop a kept table before the session ends."""
        self._drop(table.get_name())

    def give_back(self) -> None:
        """Give memory that DuckDB has freed back to the system, as setting a limit does."""
        if self.files:  # otherwise the connection may be a user's, with their own limit
            self.backend.con.execute(f"SET memory_limit = '{self.session.memory}'")

    def _drop(self, name: str) -> None:
        self.backend.con.execute(f'DROP TABLE IF EXISTS "{name}"')

    def upload(self, rows: "pa.Table", error_prefix: str) -> Expression:
        """Copy a table of this process: DuckDB has statistics on its own tables."""
        import ibis
        from pyarrow import types

        name = self.scratch_name()
        self.backend.con.register(name, rows)
        try:
            if all(map(types.is_int64, rows.schema.types)):  # which DuckDB holds as they are
                select, schema = f'SELECT * FROM "{name}"', ibis.schema(rows.schema)  # noqa: S608
                return self._kept(select, schema, error_prefix)
            given = with_true_types(self.backend.table(name), [rows.schema])
            return self.materialise(given, error_prefix)
        finally:
            self.backend.con.unregister(name)

    def insert(self, table: Expression, rows: "pa.Table") -> None:
        """Add rows of this process to a kept table."""
        con, name = self.backend.con, self.scratch_name()
        con.register(name, rows)
        try:
            con.execute(f'INSERT INTO "{table.get_name()}" SELECT * FROM "{name}"')  # noqa: S608
        finally:
            con.unregister(name)

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query so that Ctrl-C ends it."""
        # As Ibis does it, but without importing pandas, which takes a quarter of a second. The cast
        # removes dictionaries, which would hold items that are not in the result. It is skipped if
        # there is nothing to cast, because it would import all of Arrow's functions first.
        con = self.backend.con
        select, schema = self.compiled(query), query.schema().to_pyarrow()
        rows = interruptibly(
            lambda: con.sql(select).to_arrow_table(), con.interrupt, self.session.cancel
        )
        return rows if rows.schema.equals(schema) else rows.cast(schema)


def _in_nanoseconds(time: Expression) -> bool:
    kind = time.type()
    return bool(kind.is_timestamp() and kind.scale == _NANOSECOND_DIGITS)


def _down_to_microseconds(time: Expression) -> Expression:
    """Return a timestamp in UTC without a zone, rounded down to whole microseconds."""
    import ibis

    @ibis.udf.scalar.builtin(signature=((time.type(),), "int64"))
    def epoch_ns(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        """DuckDB's built-in function; NULL for infinite times."""

    @ibis.udf.scalar.builtin(signature=(("int64", "int64"), "int64"))
    def divide(dividend, divisor):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        """DuckDB's built-in function, which rounds towards 0."""

    @ibis.udf.scalar.builtin(signature=(("int64",), "timestamp"))
    def make_timestamp(microseconds):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        """DuckDB's built-in function."""

    nanoseconds = epoch_ns(time)
    below = (nanoseconds % 1000 < 0).ifelse(ibis.literal(1, "int64"), ibis.literal(0, "int64"))
    return make_timestamp(divide(nanoseconds, 1000) - below)


def _at_zone(time: Expression, zone: str) -> Expression:
    """Convert a moment to local time in a zone, or local time to a moment."""
    import ibis

    kind = "timestamp" if time.type().timezone else "timestamp('UTC')"

    @ibis.udf.scalar.builtin(signature=(("string", time.type()), kind))
    def timezone(zone, value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        """DuckDB's built-in function."""

    return timezone(zone, time)
