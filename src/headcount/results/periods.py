"""Periods among the columns of a release, for the order in which people read its rows."""

from collections.abc import Callable, Sequence
from datetime import date

#: The names of the columns of a release that say which period a row is about.
PERIODS = ("day", "week", "month", "year")


def period_among(columns: Sequence[str], values: Callable[[str], Sequence[object]]) -> str | None:
    """Return the column that says which period a row is about, if there is one."""
    for name in columns:
        if name.lower() in PERIODS and (dates := values(name)) and all(map(_is_date, dates)):
            return name
    return None


def _is_date(value: object) -> bool:
    try:
        date.fromisoformat(str(value))
    except ValueError:
        return False
    return True
