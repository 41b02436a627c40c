"""Public days: a range of them, the periods in it, and a list of items in each period.

Nothing here looks at the events.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headcount.engines.base import BEYOND_LAST_DAY, FIRST_DAY
from headcount.errors import SettingsError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

Days = NDArray[np.datetime64]

_CALENDAR = (date.fromisoformat(FIRST_DAY), date.fromisoformat(BEYOND_LAST_DAY) - timedelta(days=1))
_UNITS = {"month": "datetime64[M]", "year": "datetime64[Y]"}
_MONDAY = np.datetime64("1969-12-29", "D")


@dataclass(frozen=True)
class DayRange:
    """A range of days, including both ends.

    Attributes:
        first: its first day.
        last: its last day.
    """

    first: date
    last: date

    @classmethod
    def of(cls, given: object) -> "DayRange":
        """Return the range that was given as two days: dates, or text such as 2026-03-31.

        Raises:
            SettingsError: they are not two days in order, or lie beyond the calendar.
        """
        if not isinstance(given, list | tuple) or len(given) != 2:
            raise SettingsError(
                "a range of days has a first and a last day: between=('2026-01-01', …)"
            )
        first, last = map(_day, given)
        if first > last:
            raise SettingsError(
                f"the range of days begins on {first}, after its end on {last}: swap the two"
            )
        if first < _CALENDAR[0] or last > _CALENDAR[1]:
            raise SettingsError(
                f"the days of a range must lie between {_CALENDAR[0]} and {_CALENDAR[1]}, not from "
                f"{first} to {last}"
            )
        return cls(first, last)

    def to_list(self) -> list[str]:
        """Return both days as text."""
        return [self.first.isoformat(), self.last.isoformat()]

    def first_days(self, period: str) -> Days:
        """Return the first day of every period that overlaps the range, in order."""
        ends = first_days(np.array([self.first, self.last], dtype="datetime64[D]"), period)
        if period in _UNITS:
            whole = ends.astype(_UNITS[period])
            return np.arange(whole[0], whole[1] + 1).astype("datetime64[D]")
        step = 7 if period == "week" else 1
        return np.arange(ends[0], ends[1] + 1, np.timedelta64(step, "D"))

    def cuts(self, period: str) -> tuple[bool, bool]:
        """Return whether the range begins, and whether it ends, in the middle of a period."""
        edges = np.array([self.first, self.last + timedelta(days=1)], dtype="datetime64[D]")
        first, last = (first_days(edges, period) != edges).tolist()
        return first, last


def first_days(days: Days, period: str) -> Days:
    """Return the first day of the period that each day lies in."""
    if period in _UNITS:
        return days.astype(_UNITS[period]).astype("datetime64[D]")
    if period == "week":
        return days - (days - _MONDAY) % np.timedelta64(7, "D")
    return days


def in_each(listed: "pa.Table | None", days: Days, period: str) -> "pa.Table":
    """Return a list with every item of another once for each period."""
    import pyarrow as pa

    if listed is None:
        return pa.table({period: pa.array(days)})
    items = listed.take(pa.array(np.repeat(np.arange(listed.num_rows), days.size)))
    return items.append_column(period, pa.array(np.tile(days, listed.num_rows)))


def ensure_first_days(listed: "pa.Table", period: str) -> None:
    """Refuse a list with a day that does not begin a period: no row could ever match it."""
    days = _as_days(listed, period)
    least, most = first_days(np.array(_CALENDAR, dtype="datetime64[D]"), period)
    if not ((days >= least) & (days <= most) & (days == first_days(days, period))).all():
        from_monday = ", a Monday" if period == "week" else ""
        raise SourceError(
            f"the list of items has a day in column {period!r} that is not the first of a "
            f"{period}{from_monday}"
        )


def most_within(listed: "pa.Table", period: str | None, within: str | None) -> int:
    """Return the most items of a list that lie in one period: one user cannot have more.

    Args:
        listed: the list.
        period: its column of first days; None if it has none.
        within: the period within which a user's rows are protected; None if all of them are.
    """
    if period is None or within is None:
        return int(listed.num_rows)
    _, counts = np.unique(first_days(_as_days(listed, period), within), return_counts=True)
    return int(counts.max())


def _as_days(listed: "pa.Table", period: str) -> Days:
    return np.asarray(listed[period].cast("int32").to_numpy(), "datetime64[D]")


def _day(given: Any) -> date:  # noqa: ANN401 (whatever was given)
    if isinstance(given, date) and not isinstance(given, datetime):
        return given
    if isinstance(given, str) and _ISO_DAY.fullmatch(given):
        try:
            return date.fromisoformat(given)
        except ValueError:
            raise SettingsError(f"{given!r} is not a day of the calendar") from None
    what = repr(given) if isinstance(given, str) else f"a value of the type {type(given).__name__}"
    raise SettingsError(f"{what} is not a day; write year, month and day: 2026-03-31")
