"""PostgreSQL as an engine: what it runs, and which of its values Python can hold."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Engine, Expression
from headcount.engines.guard import interruptibly
from headcount.engines.postgres.catalog import PostgresCatalog
from headcount.engines.postgres.failures import translated
from headcount.engines.postgres.read import query

if TYPE_CHECKING:
    import pyarrow as pa

# The first day that Python's dates can hold, and the first after those.
_PYTHONS_YEARS = ("0001-01-01", "10000-01-01")
_MOST_DIGITS = 38  # of Arrow's decimals
_SAVEPOINT = "headcount_reads"


def _is_text(kind: Any) -> bool:  # noqa: ANN401
    """Whether decimals may have so many digits that only text shows them all."""
    return bool(kind.is_decimal()) and (kind.precision is None or kind.precision > _MOST_DIGITS)


class Postgres(Engine):
    """PostgreSQL. Collations may treat different texts as equal, but never their bytes."""

    compares_bytes = False
    _reads_only = False

    def read_only(self) -> None:
        """Let nothing change the database from here on, except temporary tables of this engine."""
        self._reads_only = True
        self._protect()

    def _protect(self) -> None:
        # In a transaction, READ ONLY ends with the savepoint, and no SQL can end either before.
        for statement in (f"SAVEPOINT {_SAVEPOINT}", "SET TRANSACTION READ ONLY"):
            translated(partial(self.backend.con.execute, statement), "cannot begin to read")

    @contextmanager
    def _writable(self) -> Iterator[None]:
        """Allow a temporary table to be made, by a statement that runs nobody's SQL."""
        if not self._reads_only:
            yield
            return
        self.backend.con.execute(f"RELEASE SAVEPOINT {_SAVEPOINT}")
        yield
        self._protect()

    def typed(self, table: Expression) -> Expression:
        """Return a table with the types that it has on the server.

        Ibis mistakes money for a decimal, and a time with a zone for one without.
        """
        PostgresCatalog(self.backend.con).refuse_stand_ins()
        return query(self.backend, self.compiled(table))

    def user_key(self, user: Expression) -> Expression:
        """Return an id as it is, or text as its bytes; no id reaches Python."""
        kind = user.type()
        return user if kind.is_decimal() or kind.is_uuid() else self.canonical_key(user)

    def has_value(self, column: Expression) -> Expression:
        """Return whether a row has a value that Python can hold: neither NULL nor out of range.

        Dates may be beyond Python's years, a time may be 24:00, and a numeric may be NaN, which
        counts as more than any number here.
        """
        import ibis

        kind = column.type()
        if kind.is_date() or kind.is_timestamp():
            first, beyond = (ibis.literal(day).cast(kind) for day in _PYTHONS_YEARS)
            return (column >= first) & (column < beyond)
        if kind.is_time():
            return column < ibis.literal("24:00").cast(kind)
        if kind.is_decimal() and not _is_text(kind):
            whole = kind.precision - kind.scale
            return column < ibis.literal(Decimal(10) ** whole, type=f"decimal({whole + 1}, 0)")
        return super().has_value(column)

    def canonical_key(self, column: Expression) -> Expression:
        """Return a column whose values are equal only if they look the same."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("decimal",), "decimal"))
        def trim_scale(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's built-in function: 1.50 and 1.5 are equal, and shown as 1.5."""

        if _is_text(column.type()):
            return self.text_to_bytes(trim_scale(column).cast("string"))
        return super().canonical_key(column)

    def as_float(self, column: Expression) -> Expression:
        """Return a column of numbers as floats; those too large become NULL, those too small 0.

        Casting such a numeric would be an error. NaN counts as more than any number.
        """
        import ibis

        if not _is_text(column.type()):
            return super().as_float(column)
        column = column.cast("decimal")  # one declared with other digits could not be compared
        huge = ibis.literal(Decimal(10) ** 307, type="decimal(308, 0)")
        tiny = ibis.literal(Decimal(1).scaleb(-307), type="decimal(308, 307)")
        fits = (column < huge) & (column > -huge)
        shown = ibis.cases((column.abs() < tiny, 0.0), else_=column.cast("float64"))
        return ibis.cases((fits, shown))

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its UTF-8 bytes."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("string", "string"), "binary"))
        def convert_to(value, encoding):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's built-in function."""

        return convert_to(text, "UTF8")

    def whole_quotient(self, dividend: Expression, divisor: Expression) -> Expression:
        """Return ``dividend // divisor``."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("int64", "int64"), "decimal"))
        def div(dividend, divisor):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's built-in function, for its decimals."""

        return div(dividend, divisor).cast("int64")

    def stable_hash(self, left: Expression, right: Expression) -> Expression:
        """Return PostgreSQL's own hash of two values as text."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("string", left.type(), right.type()), "string"))
        def concat_ws(between, left, right):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's built-in function, for values of any type."""

        @ibis.udf.scalar.builtin(signature=(("string", "int64"), "int64"))
        def hashtextextended(text, seed):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's built-in function."""

        return hashtextextended(concat_ws(",", left, right), 0)

    def local_time(self, moment: Expression, zone: str) -> Expression:
        """Return the local time of a moment in a time zone."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("string", moment.type()), "timestamp"))
        def timezone(zone, moment):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's built-in function."""

        return timezone(zone, moment)

    @property
    def several_passes(self) -> bool:
        """Whether this login may create temporary tables; nobody may on a read-only replica."""
        asked = (
            "SELECT has_database_privilege(current_database(), 'TEMPORARY') "
            "AND current_setting('transaction_read_only') = 'off'"
        )
        with self._writable():
            row = translated(
                lambda: self.backend.con.execute(asked).fetchone(), "cannot ask for rights"
            )
        return bool(row[0])

    def materialise(self, query: Expression, error_prefix: str) -> Expression:
        """Run a query into a temporary table."""
        name, select = self.scratch_name(), self.compiled(query)
        created = f'CREATE TEMP TABLE "{name}" AS {select}'
        if not self._reads_only:  # at once, for which PostgreSQL may use several processes
            self._create(name, created, error_prefix)
            return self._analysed(name, query.schema(), error_prefix)
        self._create(name, f"{created} WITH NO DATA", error_prefix)
        insert = f'INSERT INTO pg_temp."{name}" {select}'
        self._execute(insert, error_prefix)
        return self._analysed(name, query.schema(), error_prefix)

    def upload(self, rows: "pa.Table", error_prefix: str) -> Expression:
        """Copy a table into a temporary one."""
        import ibis

        name, schema = self.scratch_name(), ibis.schema(rows.schema)
        columns = ", ".join(c.sql("postgres") for c in schema.to_sqlglot_column_defs("postgres"))
        self._create(name, f'CREATE TEMP TABLE "{name}" ({columns})', error_prefix)

        def copy() -> None:
            with (
                self.backend.con.cursor() as cursor,
                cursor.copy(f'COPY pg_temp."{name}" FROM STDIN') as lines,
            ):
                for row in rows.to_pylist():
                    lines.write_row(tuple(row.values()))

        translated(lambda: self._interruptibly(copy), error_prefix)
        return self._analysed(name, schema, error_prefix)

    def _create(self, name: str, statement: str, error_prefix: str) -> None:
        def drop() -> None:
            with suppress(Exception):  # the connection, or the transaction, may be gone
                self.backend.con.execute(f'DROP TABLE IF EXISTS pg_temp."{name}"')

        self.session.at_end(drop)
        with self._writable():
            self._execute(statement, error_prefix)

    def _execute(self, statement: str, error_prefix: str) -> None:
        execute = self.backend.con.execute
        translated(
            lambda: self._interruptibly(lambda: execute(statement)), error_prefix, self.expected
        )

    def _analysed(self, name: str, schema: Any, error_prefix: str) -> Expression:  # noqa: ANN401
        """Return a temporary table after ANALYZE, which tells the planner how large it is."""
        import ibis

        execute = self.backend.con.execute
        translated(
            lambda: self._interruptibly(lambda: execute(f'ANALYZE pg_temp."{name}"')), error_prefix
        )
        return ibis.table(schema, name=name)

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query so that Ctrl-C ends it, on the server too."""
        return self._interruptibly(lambda: self.backend.to_pyarrow(query))

    def _interruptibly(self, action: Callable[[], Any]) -> Any:  # noqa: ANN401
        def interrupt() -> None:
            with suppress(Exception):  # the connection may be gone
                self.backend.con.cancel()

        return interruptibly(action, interrupt, self.session.cancel)

    def run(self, query: Expression, error_prefix: str) -> "pa.Table":
        """Run a query; if it fails, the error begins with ``error_prefix``."""
        return translated(lambda: self.fetch(query), error_prefix, self.expected)
