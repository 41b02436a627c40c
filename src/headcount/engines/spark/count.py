"""Spark as an engine: what it runs, and how to interrupt that and clean up."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Engine, Expression
from headcount.engines.groups import GroupedRows
from headcount.engines.guard import interruptibly
from headcount.engines.spark.failures import translated, undo
from headcount.engines.spark.moments import with_time_zones
from headcount.errors import SettingsError

if TYPE_CHECKING:
    import pyarrow as pa


_ANSI = "spark.sql.ansi.enabled"


class Spark(Engine):
    """Spark. Since version 4 a column may have a collation, as in PostgreSQL."""

    compares_bytes = False
    groups_users = True

    def typed(self, table: Expression) -> Expression:
        """Return a table in which moments have a time zone."""
        if not any(kind.is_timestamp() for kind in table.schema().types):
            return table
        prefix = "this Ibis table cannot be read"
        spark = self.backend._session
        frame = translated(lambda: spark.sql(self.compiled(table)), prefix)
        return self.viewed(frame, prefix)

    def user_key(self, user: Expression) -> Expression:
        """Return Spark's own 64-bit hash of an id."""
        import ibis

        if user.type().is_integer():
            return user

        @ibis.udf.scalar.builtin(signature=((self.canonical_key(user).type(),), "int64"))
        def xxhash64(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Spark's built-in function."""

        return xxhash64(self.canonical_key(user))

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its own bytes.

        Spark's ``encode`` would replace bytes that are not UTF-8, and two ids would become one.
        """
        import ibis

        @ibis.udf.scalar.builtin(signature=(("string",), "binary"))
        def binary(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Spark's built-in function."""

        return binary(text)

    def whole_quotient(self, dividend: Expression, divisor: Expression) -> Expression:
        """Return ``dividend // divisor``."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("int64", "int64"), "int64"))
        def div(dividend, divisor):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Spark's built-in function."""

        return div(dividend, divisor)

    def stable_hash(self, left: Expression, right: Expression) -> Expression:
        """Return Spark's own hash of two values."""
        import ibis

        @ibis.udf.scalar.builtin(signature=((left.type(), right.type()), "int64"))
        def xxhash64(left, right):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Spark's built-in function."""

        return xxhash64(left, right)

    def exact_sum(self, numbers: Expression) -> Expression:
        """Return the sum as a decimal: a 64-bit sum that overflows is an error."""
        return numbers.cast("decimal(38, 0)").sum()

    def row_numbers(self) -> Expression:
        """Return Spark's own row numbers, which need not bring all rows to one place."""
        import ibis

        @ibis.udf.scalar.builtin(signature=((), "int64"))
        def monotonically_increasing_id():  # type: ignore[no-untyped-def]  # noqa: ANN202
            """Spark's built-in function."""

        return monotonically_increasing_id()

    def local_time(self, moment: Expression, zone: str) -> Expression:
        """Return a moment's local time in a time zone, as a time of the session's zone, UTC."""
        import ibis

        @ibis.udf.scalar.builtin(signature=((moment.type(), "string"), "timestamp('UTC')"))
        def from_utc_timestamp(moment, zone):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Spark's built-in function."""

        return from_utc_timestamp(moment, zone)

    def first_day(self, day: Expression, period: str) -> Expression:
        """Return the first day of a period; Spark's own function stays with dates."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("date", "string"), "date"))
        def trunc(day, period):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Spark's built-in function, whose weeks begin on Monday."""

        return day if period == "day" else trunc(day, period)

    @property
    def several_passes(self) -> bool:
        """Whether a sum that overflows is an error, and blocks can be dropped afterwards."""
        spark = self.backend._session
        return not _is_remote(spark) and spark.conf.get(_ANSI) == "true"

    def materialise(self, query: Expression, error_prefix: str) -> Expression:
        """Run a query and keep its rows on the executors, without their lineage.

        If a block is lost with its executor, that is then an error. With `cache`, Spark would read
        the tables again, which may have changed.
        """
        spark, select = self.backend._session, self.compiled(query)
        return self.viewed(self.keep_frame(lambda: spark.sql(select), error_prefix), error_prefix)

    def keep_frame(self, made: Callable[[], Any], error_prefix: str) -> Any:  # noqa: ANN401
        """Keep the rows of a data frame, as `materialise` does."""
        if self.backend._session.conf.get(_ANSI) != "true":
            raise SettingsError(
                f"{error_prefix}: methods with several passes need {_ANSI}=true, so that a sum "
                "that overflows is an error"
            )
        frame = self.answered(lambda: made().localCheckpoint(), error_prefix)
        self.session.at_end(partial(undo, lambda: _drop_blocks(frame)))
        return frame

    def drop_frame(self, frame: Any) -> None:  # noqa: ANN401
        """Drop kept rows before the session ends."""
        undo(lambda: _drop_blocks(frame))

    def answered(self, action: Callable[[], Any], error_prefix: str) -> Any:  # noqa: ANN401
        """Run an action that starts Spark jobs, so that Ctrl-C ends these."""
        return translated(lambda: self._interruptibly(action), error_prefix, self.expected)

    def group_users(
        self, rows: Expression, user: str, items: Sequence[str], error_prefix: str
    ) -> GroupedRows:
        """Keep one row for each user, with their items in an array."""
        from headcount.engines.spark.groups import group_users

        return group_users(self, rows, user, items, error_prefix)

    def upload(self, rows: "pa.Table", error_prefix: str) -> Expression:
        """Let Spark send a table of this process to the tasks that need it."""
        spark = self.backend._session
        return self.viewed(
            translated(lambda: spark.createDataFrame(rows), error_prefix), error_prefix
        )

    def viewed(self, frame: Any, error_prefix: str) -> Expression:  # noqa: ANN401
        """Return a data frame as an Ibis table, which lasts until the session ends."""
        name = self.scratch_name()
        drop = self.backend._session.catalog.dropTempView
        self.session.at_end(partial(undo, lambda: drop(name)))

        def view() -> Expression:
            frame.createTempView(name)
            return with_time_zones(self.backend.table(name), frame)

        return translated(view, error_prefix)

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query so that Ctrl-C ends it, and only it."""
        spark, select = self.backend._session, self.compiled(query)
        rows = self._interruptibly(lambda: spark.sql(select).toArrow())
        return rows.cast(query.schema().to_pyarrow())

    def _interruptibly(self, action: Callable[[], Any]) -> Any:  # noqa: ANN401
        spark = self.backend._session
        tag = self.scratch_name()

        # Tags of the context, not of the session: cancelling by the latter waits until the last
        # task has seen that it is cancelled, which may take as long as the query.
        jobs = spark if _is_remote(spark) else spark.sparkContext

        def run() -> Any:  # noqa: ANN401
            (spark.addTag if jobs is spark else jobs.addJobTag)(tag)
            if jobs is not spark:
                jobs.setInterruptOnCancel(True)
            try:
                return action()
            finally:
                with suppress(Exception):  # Spark may be gone
                    (spark.removeTag if jobs is spark else jobs.removeJobTag)(tag)

        def interrupt() -> None:
            with suppress(Exception):
                (spark.interruptTag if jobs is spark else jobs.cancelJobsWithTag)(tag)

        return interruptibly(run, interrupt, self.session.cancel)

    def run(self, query: Expression, error_prefix: str) -> "pa.Table":
        """Run a query; if it fails, the error begins with ``error_prefix``."""
        return translated(lambda: self.fetch(query), error_prefix, self.expected)


def _drop_blocks(frame: Any) -> None:  # noqa: ANN401
    """Free what `localCheckpoint` keeps; Spark itself does so when Java collects garbage."""
    if not _is_remote(frame.sparkSession):  # there the server does so when the frame is gone
        frame._jdf.queryExecution().analyzed().rdd().unpersist(False)


def _is_remote(spark: Any) -> bool:  # noqa: ANN401
    """Whether a session uses Spark Connect, which has no context."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")
