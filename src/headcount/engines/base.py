"""An engine: an Ibis backend, and what is specific to it."""

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

# Ibis types whose equal values look the same on every engine. A decimal has as many digits after
# the point as its column.
_CANONICAL_TYPES = ("boolean", "integer", "decimal", "binary", "date", "time", "timestamp")

#: Times before the first of these days, or from the second on, have no period. This leaves a day
#: at either end of the years 1 to 9999, so that no time zone leads out of the calendar that Python
#: and all engines share: beyond it an engine fails, and one row would end the release.
FIRST_DAY, BEYOND_LAST_DAY = "0001-01-02", "9999-12-31"
_TRUNCATED_TO = {"week": "W", "month": "M", "year": "Y"}


class Engine:
    """Any Ibis backend. An engine with specific support has a subclass in its own module."""

    #: Whether text compares byte by byte in GROUP BY, so that no collation merges items.
    compares_bytes = True
    #: Whether a float can be NaN.
    has_nan = True
    #: Whether it has `coded_rows`, which makes several passes fast.
    codes_rows = False
    #: Whether it has `group_users`, which also makes several passes fast.
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
            backend: an Ibis backend.
            session: drops or undoes what must not outlive it.
            compares_bytes: overrides the attribute where more is known than for all tables of the
                engine: files and tables in memory have no collations.
            expected: what an error says about data that cannot be read: the form it should have.
        """
        self.backend = backend
        self.session = session
        self.expected = expected
        if compares_bytes is not None:
            self.compares_bytes = compares_bytes

    @property
    def several_passes(self) -> bool:
        """Whether rows can be kept between passes, with the engine and permissions at hand."""
        return False

    @property
    def name(self) -> str:
        """Ibis's name for the engine."""
        return str(self.backend.name)

    def typed(self, table: Expression) -> Expression:
        """Return a table that a user made with Ibis, with its true types."""
        return table

    def user_key(self, user: Expression) -> Expression:
        """Return the key by which distinct users are counted.

        It may be a fixed hash of the id: a collision merges two users, so a count still moves by 0
        or 1 with a user (privacy/mechanisms/pcr/pcr.md). The count itself is never approximate.
        """
        return self.canonical_key(user)

    def has_value(self, column: Expression) -> Expression:
        """Return whether a row has an item in a column, one that Python can hold.

        This is decided row by row. An error would be raised only for items among the highest
        counts, and so reveal something about them.
        """
        return column.notnull()

    def canonical_key(self, column: Expression) -> Expression:
        """Return a column whose values are equal only if they look the same.

        GROUP BY returns any one of the values it treats as equal. If these looked different, one
        person's spelling could be published: texts that a collation treats as equal, 0.0 and −0.0,
        the many forms of NaN, 1 and 1.0 within JSON. Values of a type that is not known to be safe
        are compared as text.
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
        """Return text as its UTF-8 bytes."""
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
        """Return the sum of 64-bit integers in as many bits as it needs: it never overflows."""
        return numbers.sum()

    def with_day(self, table: Expression, column: str, name: str, zone: str) -> Expression:
        """Return a table with one more column: the day of each time in a column.

        Formal guarantee: each row's day is a function of its own time, and no row is an error.

        Args:
            table: an Ibis table.
            column: dates, or timestamps of any precision.
            name: the name of the new column of dates, which is NULL where there is no time, or one
                before `FIRST_DAY` or from `BEYOND_LAST_DAY` on.
            zone: the time zone of the days, if the timestamps have one themselves.
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
        """Return the local time of a moment in a time zone, as a timestamp without a zone."""
        raise SourceError(f"{self.name} cannot put times with a time zone into periods")

    def first_day(self, day: Expression, period: str) -> Expression:
        """Return the first day of the period that a day lies in; weeks begin on Monday."""
        if period == "day":
            return day
        # Via a timestamp without a zone: PostgreSQL would turn a date into one with a zone.
        return day.cast("timestamp").truncate(_TRUNCATED_TO[period]).date()

    def scratch_name(self) -> str:
        """Return a name that no table has."""
        import ibis

        return str(ibis.util.gen_name("headcount"))

    def whole_quotient(self, dividend: Expression, divisor: Expression) -> Expression:
        """Return the exact ``dividend // divisor`` of 64-bit integers, neither below 0.

        Ibis's own division goes through floats on most engines.
        """
        raise self._one_pass_only("whole numbers cannot be divided")

    def stable_hash(self, left: Expression, right: Expression) -> Expression:
        """Return a fixed pseudo-random value for each pair of values, to order by.

        Two pairs may share one. It is not secret, and is the same in every run on one version of
        the engine.
        """
        raise self._one_pass_only("items cannot be put into a pseudo-random order")

    def row_numbers(self) -> Expression:
        """Return a column of whole numbers, distinct by row; only `materialise` fixes them."""
        import ibis

        return ibis.row_number().cast("int64")

    def grouped(self, rows: Expression, by: str) -> Expression:
        """Return rows in an order that makes aggregating by a column fast, if sorting pays off."""
        return rows

    def compiled(self, query: Expression) -> str:
        """Return a query in the engine's SQL, once everything it refers to exists."""
        self.backend._run_pre_execute_hooks(query)
        return str(self.backend.compile(query))

    def materialise(self, query: Expression, error_prefix: str) -> Expression:
        """Run a query once and keep its rows on the engine until the session ends."""
        raise self._one_pass_only(error_prefix)

    def drop(self, table: Expression) -> None:
        """Drop a kept table before the session ends, if that saves anything."""

    def keep_distinct(self, rows: Expression, error_prefix: str) -> Expression:
        """Keep the distinct rows of a query, as `materialise` does.

        Formal guarantee: no two kept rows are equal to the engine that will count them, whatever
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
        """Turn rows without NULLs into codes. They are read more than once and must not change.

        Formal guarantee: two rows of a division have the same key only if user and item are the
        same, each user is in one division, and no row is left out.
        """
        raise self._one_pass_only(error_prefix)

    def group_users(
        self, rows: Expression, user: str, items: Sequence[str], error_prefix: str
    ) -> GroupedRows:
        """Keep one row for each user of some rows without NULLs, which are read once.

        Formal guarantee: users are told apart by their exact ids and items by their exact values,
        each user has one row that holds each of their items once, and no row is left out.
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
        """Run a query; if it fails, the error begins with ``error_prefix``."""
        return running(lambda: self.fetch(query), error_prefix, self.expected)
