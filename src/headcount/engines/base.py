"""An engine: an Ibis backend, and what is particular to it."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from headcount.engines.codes import CodedRows
from headcount.engines.groups import GroupedRows
from headcount.engines.guard import ANY_FORM, running
from headcount.engines.session import Session
from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

Expression = Any  # Ibis has no types

# Types of Ibis whose values, if they are equal, look the same on every engine; a decimal has as
# many digits after the point as its column.
_CANONICAL_TYPES = ("boolean", "integer", "decimal", "binary", "date", "time", "timestamp")

#: Times before the first of these days, or from the second on, have no period. They are a day
#: within the years 1 to 9999, so that no time zone leads out of the calendar that all engines and
#: Python share: beyond it an engine fails, and one row would end the release.
FIRST_DAY, BEYOND_LAST_DAY = "0001-01-02", "9999-12-31"
_TRUNCATED_TO = {"week": "W", "month": "M", "year": "Y"}


class Engine:
    """Any Ibis backend. Each engine that is known better has a subclass in a module of its own."""

    #: Whether text compares byte by byte in GROUP BY, so that no collation merges items.
    compares_bytes = True
    #: Whether a float can be NaN.
    has_nan = True
    #: Whether `coded_rows` can be had, which makes several passes fast.
    codes_rows = False
    #: Whether `group_users` can be had, which makes several passes fast too.
    groups_users = False

    def __init__(
        self,
        backend: Any,  # noqa: ANN401 (Ibis has no types)
        session: Session,
        *,
        compares_bytes: bool | None = None,
        expected: str = ANY_FORM,
    ) -> None:
        """Wrap a backend.

        Args:
            backend: of Ibis.
            session: what is to be dropped or undone goes with it.
            compares_bytes: as the attribute, where it is known better than for all tables of the
                engine: files and tables in memory have no collations.
            expected: what an error says of data that cannot be read: which form it should have.
        """
        self.backend = backend
        self.session = session
        self.expected = expected
        if compares_bytes is not None:
            self.compares_bytes = compares_bytes

    @property
    def several_passes(self) -> bool:
        """Whether rows can be kept between passes, here and with the rights that there are."""
        return False

    @property
    def name(self) -> str:
        """The engine's name, as Ibis calls it."""
        return str(self.backend.name)

    def typed(self, table: Expression) -> Expression:
        """Return a table that a user made with Ibis, with types that are true."""
        return table

    def user_key(self, user: Expression) -> Expression:
        """Return what stands for a user where distinct ones are counted.

        It may be a fixed hash of the id: a collision makes two users one, so a count still moves
        by 0 or 1 with a user (privacy/mechanisms/pcr/pcr.md). It is never an approximate count.
        """
        return self.canonical_key(user)

    def has_value(self, column: Expression) -> Expression:
        """Return whether a row has an item in a column: one that Python can hold.

        It is decided row by row. An error would be raised only for those among the highest counts,
        and so tell about them.
        """
        return column.notnull()

    def canonical_key(self, column: Expression) -> Expression:
        """Return a column whose values are equal only if they look the same.

        GROUP BY returns any one of the values it takes for equal. If these differed in what is
        shown, one person's spelling could be published: texts that a collation takes for
        the same, 0.0 and −0.0, the many forms of NaN, 1 and 1.0 within JSON. What is not of a type
        that is known to be safe is compared as its text.
        """
        import ibis

        kind = column.type()
        if kind.is_floating():
            nan = ibis.literal(float("nan"), type=kind)
            zero = ibis.literal(0.0, type=kind)
            if not self.has_nan:
                return ibis.cases((column == 0, zero), else_=column)
            return ibis.cases((column.isnan(), nan), (column == 0, zero), else_=column)
        if any(getattr(kind, f"is_{safe}")() for safe in _CANONICAL_TYPES):
            return column
        text = column.cast("string")
        return text if self.compares_bytes else self.text_to_bytes(text)

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its bytes in UTF-8."""
        raise SourceError(
            f"{self.name} may treat different texts as equal, depending on a collation; give "
            "the column as bytes (for instance CAST(… AS BINARY)), so that none are merged"
        )

    def as_float(self, column: Expression) -> Expression:
        """Return a column of numbers as 64-bit floats.

        Formal guarantee: each row's number is a function of its own value, and no row is an error.
        """
        return column.cast("float64")

    def exact_sum(self, numbers: Expression) -> Expression:
        """Return the sum of 64-bit integers, in as many bits as it needs: it never overflows."""
        return numbers.sum()

    def with_day(self, table: Expression, column: str, name: str, zone: str) -> Expression:
        """Return a table with one more column: the day that a column of times lies in.

        Formal guarantee: each row's day is a function of its own time, and no row is an error.

        Args:
            table: an Ibis table.
            column: dates, or timestamps of any precision.
            name: of the new column, whose type is a date; NULL where there is no time, or one that
                is none of `FIRST_DAY` to `BEYOND_LAST_DAY`.
            zone: the time zone whose days are meant, if the timestamps have one themselves.
        """
        import ibis

        time = table[column]
        kept = ibis.cases((self.has_day(time), time))
        return table.mutate(**{name: self.local_day(kept, zone)})

    def has_day(self, time: Expression) -> Expression:
        """Return whether a time lies within the calendar."""
        import ibis

        kind = time.type()
        clock = " 00:00:00+00:00" if kind.is_timestamp() and kind.timezone else ""
        first, beyond = (
            ibis.literal(day + clock).cast(kind) for day in (FIRST_DAY, BEYOND_LAST_DAY)
        )
        return (time >= first) & (time < beyond)

    def local_day(self, time: Expression, zone: str) -> Expression:
        """Return the day of a time that lies within the calendar."""
        kind = time.type()
        if kind.is_date():
            return time
        return (self.local_time(time, zone) if kind.timezone else time).date()

    def local_time(self, moment: Expression, zone: str) -> Expression:
        """Return what clocks in a time zone show at a moment, as a timestamp without a zone."""
        raise SourceError(f"{self.name} cannot put times with a time zone into periods")

    def first_day(self, day: Expression, period: str) -> Expression:
        """Return the first day of the week, from Monday, or of the month or year of a day."""
        if period == "day":
            return day
        # Through a timestamp without a zone: of a date PostgreSQL would make one with a zone.
        return day.cast("timestamp").truncate(_TRUNCATED_TO[period]).date()

    def scratch_name(self) -> str:
        """Return a name that no table has."""
        import ibis

        return str(ibis.util.gen_name("headcount"))

    def whole_quotient(self, dividend: Expression, divisor: Expression) -> Expression:
        """Return ``dividend // divisor`` of 64-bit integers, neither below 0, to the last digit.

        Ibis's own division goes through floats on most engines.
        """
        raise self._one_pass_only("whole numbers cannot be divided")

    def stable_hash(self, left: Expression, right: Expression) -> Expression:
        """Return a fixed pseudo-random value for each pair of values; it can be ordered by.

        Two pairs may have the same. It is not secret, and the same in every run on a version of the
        engine.
        """
        raise self._one_pass_only("items cannot be put into a pseudo-random order")

    def row_numbers(self) -> Expression:
        """Return a column of whole numbers, each row another; only `materialise` fixes them."""
        import ibis

        return ibis.row_number().cast("int64")

    def grouped(self, rows: Expression, by: str) -> Expression:
        """Return rows in an order that makes aggregating by a column fast, if that is worth it."""
        return rows

    def compiled(self, query: Expression) -> str:
        """Return a query in the engine's SQL, when all that it refers to is there."""
        self.backend._run_pre_execute_hooks(query)
        return str(self.backend.compile(query))

    def materialise(self, query: Expression, error_prefix: str) -> Expression:
        """Run a query once and keep its rows on the engine until the session ends."""
        raise self._one_pass_only(error_prefix)

    def drop(self, table: Expression) -> None:
        """Let go of a table that is kept, before the session ends, if that saves anything."""

    def keep_distinct(self, rows: Expression, error_prefix: str) -> Expression:
        """Keep each of the rows of a query once, as `materialise` does.

        Formal guarantee: no two rows that are kept are equal for what will count them, whatever
        became of their values on the way there. Sensitivity rests on this: a user whose pair with
        an item is there twice counts twice for it.
        """
        return self.materialise(rows.distinct(), error_prefix)

    def keep_rows(self, rows: Expression, error_prefix: str) -> Expression:
        """Keep all rows of a query over the events, repeated ones too, as `materialise` does."""
        return self.materialise(rows, error_prefix)

    def coded_rows(
        self, rows: Expression, user: str, items: Sequence[str], error_prefix: str
    ) -> AbstractContextManager[CodedRows]:
        """Turn rows without NULLs into codes; they are read more than once, and must be the same.

        Formal guarantee: two rows have the same key only if user and item are the same, each user
        is in one division, and no row is left out.
        """
        raise self._one_pass_only(error_prefix)

    def group_users(
        self, rows: Expression, user: str, items: Sequence[str], error_prefix: str
    ) -> GroupedRows:
        """Keep one row for each user of rows without NULLs; they are read once.

        Formal guarantee: users are told apart by their exact ids and items by their exact values,
        a user has one row and an item once in it, and no row is left out.
        """
        raise self._one_pass_only(error_prefix)

    def upload(self, rows: "pa.Table", error_prefix: str) -> Expression:
        """Put a small public table on the engine until the session ends."""
        raise self._one_pass_only(error_prefix)

    def _one_pass_only(self, error_prefix: str) -> SourceError:
        return SourceError(f"{error_prefix}: methods with several passes do not run on {self.name}")

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query and return its rows."""
        return self.backend.to_pyarrow(query)

    def run(self, query: Expression, error_prefix: str) -> "pa.Table":
        """Run a query; ``error_prefix`` begins the error if it fails."""
        return running(lambda: self.fetch(query), error_prefix, self.expected)
