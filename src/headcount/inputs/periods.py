"""Events by day, week, month or year, and protection of a person's rows within one period.

`unit.md`, next to this file, is the proof.
"""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from headcount.engines.names import no_such_column
from headcount.errors import SettingsError, SourceError
from headcount.inputs.calendar import DayRange, ensure_first_days, in_each, most_within
from headcount.inputs.known import MOST_ITEMS
from headcount.inputs.open import Events
from headcount.inputs.sql import cast_of_column
from headcount.inputs.unit import PROTECTED_PERIODS

if TYPE_CHECKING:
    import pyarrow as pa

#: What ``by=`` accepts as a period. Weeks are those of ISO 8601, from Monday.
Period = Literal["day", "week", "month", "year"]
#: What ``protect=`` accepts.
Protect = Literal["user", "user-day", "user-week", "user-month", "user-year"]

DEFAULT_TIMEZONE = "UTC"
#: The protected periods that each period always lies within: a week may lie in two months.
_WITHIN = {
    "day": ("day", "week", "month", "year"),
    "week": ("week",),
    "month": ("month", "year"),
    "year": ("year",),
}
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")
# No date contains it as text, whatever the engine and its settings.
_BETWEEN = "|"


@dataclass(frozen=True)
class Periods:
    """The periods in which the users of an item are counted, and what is protected.

    Attributes:
        period: their length, which is also the name of their column in the result.
        column: the column of times.
        timezone: the one whose days are meant, if the times have a time zone; UTC if not given.
        protect: ``"user"``, or a user's rows within one period: ``"user-week"``.
        between: the only days whose rows count; None for all.

    Raises:
        SettingsError: they make no sense.
    """

    period: Period
    column: str
    timezone: str | None = None
    protect: Protect = "user"
    between: DayRange | None = None

    def __post_init__(self) -> None:
        if self.period not in get_args(Period):
            raise SettingsError(f"a period is one of: {', '.join(get_args(Period))}")
        if not isinstance(self.column, str):
            raise SourceError("the column of times is given by its name, as in by=('week', 'when')")
        if self.timezone is not None:
            _check_zone(self.timezone)
        within = self.protected_period
        if within is not None and within not in _WITHIN[self.period]:
            raise SettingsError(
                f"--protect {self.protect} does not go with --by {self.period}: a {self.period} "
                f"may lie in more than one {within}, and someone with rows in two of them would "
                f"count twice. With --by {_listed(_inner(within))}, each user counts once"
            )

    @property
    def protected_period(self) -> Period | None:
        """The period within which a person's rows are protected; None if all of them are."""
        return cast("Period | None", PROTECTED_PERIODS[self.protect])

    def described(self, table: Any) -> dict[str, str | None]:  # noqa: ANN401 (Ibis has no types)
        """Return what a release states; the time zone is None if the times have none."""
        check_times(table, self)
        zone = self.zone if has_zone(table, self.column) else None
        return {"period": self.period, "column": self.column, "timezone": zone}

    def ensure_countable(self, items: int) -> None:
        """Refuse a list that makes more rows than can be counted."""
        if self.between is None:
            return
        if items * self.between.first_days(self.period).size > MOST_ITEMS:
            raise SettingsError(
                f"there are more than {MOST_ITEMS:,} items in the periods of this range: name "
                "fewer days, or longer periods"
            )

    def of_each(self, listed: "pa.Table | None") -> "tuple[pa.Table, int]":
        """Return the rows of the result, and how many of them one user can have at most.

        Args:
            listed: a public list of items, with the first days of periods unless there is a range;
                None if only the periods of the range are counted.

        Raises:
            SourceError: a day of the list is not the first of its period.
        """
        if self.between is not None:
            listed = in_each(listed, self.between.first_days(self.period), self.period)
        elif listed is None:
            raise ValueError("neither a list nor a range")
        ensure_first_days(listed, self.period)
        return listed, most_within(listed, self.period, self.protected_period)

    @property
    def zone(self) -> str:
        """The time zone whose days are meant, if the times have one."""
        return self.timezone or DEFAULT_TIMEZONE


def periods_of(
    by: object, timezone: str | None, protect: str, between: object = None
) -> Periods | None:
    """Return the periods that were asked for; None if none were."""
    if protect not in PROTECTED_PERIODS:
        raise SettingsError(f"--protect (protect=) is one of: {', '.join(get_args(Protect))}")
    if by is None:
        if timezone is not None:
            raise SettingsError("a time zone is only for periods: --by (by=)")
        if between is not None:
            raise SettingsError("a range of days is only for periods: --by (by=)")
        if protect != "user":
            raise SettingsError(
                f"--protect {protect} needs periods that say what a {PROTECTED_PERIODS[protect]} "
                "is: --by (by=)"
            )
        return None
    if not isinstance(by, list | tuple) or len(by) != 2:
        raise SettingsError("periods are given by their length and a column: by=('week', 'when')")
    period, column = by
    days = None if between is None else DayRange.of(between)
    return Periods(period, column, timezone, protect, days)  # type: ignore[arg-type]


def in_periods(
    events: Events, user: str, items: list[str], periods: Periods, *, with_person: bool = False
) -> Events:
    """Return events with the first day of their period in a column named after it.

    If a person's rows within one period are protected, the user column is from here on the pair of
    the user and that period, and nothing that counts knows of anything else.

    Formal guarantee: a row's period and its pair are functions of that row alone. Two rows have the
    same pair only if both their users and their protected periods are the same (`unit.md`). With
    ``with_person`` a pair's user is kept as well, in the column that the result's ``person`` names.

    Edge cases: a row without a time, or with one beyond the calendar, has no period, and is left
    out like a row with NULL for an item. So is a row outside the range of days, if there is one.
    """
    import ibis

    table, engine = events.table, events.engine
    check_times(table, periods)
    name = periods.period
    taken = [column.casefold() for column in table.columns]
    day = _unused("day of the event", taken)
    known = engine.with_day(table, periods.column, day, periods.zone)
    if periods.between is not None:
        first, last = map(ibis.literal, (periods.between.first, periods.between.last))
        known = known.filter((known[day] >= first) & (known[day] <= last))
    columns: dict[str, Any] = {column: known[column] for column in (user, *items)}
    columns[name] = engine.first_day(known[day], name)
    if periods.protected_period is not None:
        protected = engine.first_day(known[day], periods.protected_period)
        columns[user] = protected.cast("string") + _BETWEEN + _user_text(known[user], user, periods)
        if with_person:
            person = _unused("person", [column.casefold() for column in columns])
            columns[person] = known[user]
            events = replace(events, person=person)
    return replace(events, table=known.select(**columns))


def check_times(table: Any, periods: Periods) -> None:  # noqa: ANN401 (Ibis has no types)
    """Refuse a column that holds no times, and a time zone for times that have none."""
    column = periods.column
    if column not in table.columns:
        raise SourceError(no_such_column(column, table.columns))
    kind = table.schema()[column]
    if not kind.is_date() and not kind.is_timestamp():
        cast = f", or with SQL if it is in a file: {cast_of_column(column, 'TIMESTAMP')}"
        raise SourceError(
            f"column {column!r} holds {_kind(kind)}, but a {periods.period} needs dates or "
            "timestamps; convert it where the file or table is made"
            f"{cast if kind.is_string() else ''}"
        )
    if periods.timezone is not None and not has_zone(table, column):
        raise SourceError(
            f"the times in column {column!r} have no time zone: their days are used as they are "
            "written; leave out --timezone (timezone=)"
        )


def has_zone(table: Any, column: str) -> bool:  # noqa: ANN401
    """Whether the times of a column are instants, which lie on a day only in a time zone."""
    kind = table.schema()[column]
    return bool(kind.is_timestamp() and kind.timezone)


def _user_text(column: Any, user: str, periods: Periods) -> Any:  # noqa: ANN401
    """Return user ids as text, one for each; equal ids of other types may differ as text."""
    kind = column.type()
    if not (kind.is_string() or kind.is_integer() or kind.is_uuid()):
        raise SourceError(
            f"--protect {periods.protect} needs a user column of text or whole numbers; {user!r} "
            f"holds {_kind(kind)}. Convert it to text"
        )
    return column.cast("string")


def _kind(kind: Any) -> str:  # noqa: ANN401
    if kind.is_string():
        return "text"
    return "numbers" if kind.is_numeric() else f"values of the type {type(kind).__name__.lower()}"


def _check_zone(name: str) -> None:
    import zoneinfo

    known = isinstance(name, str) and _ZONE.fullmatch(name) is not None
    if known and name != DEFAULT_TIMEZONE:
        known = name in zoneinfo.available_timezones()
    if not known:
        raise SettingsError(
            "a time zone is a name in the IANA database, spelled as it is there: Europe/Berlin or "
            "UTC"
        )


def _inner(outer: str) -> list[str]:
    return [period for period, outside in _WITHIN.items() if outer in outside]


def _listed(names: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _unused(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name
