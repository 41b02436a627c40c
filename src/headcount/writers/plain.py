"""Values of any column as plain ones, for formats that are text."""

import math
from datetime import date, time

Plain = str | int | float | bool | None


def plain(value: object) -> Plain:
    """Return a value that JSON and CSV can hold without losing any of it."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return value.hex()
        case date() | time():  # a datetime is a date
            return value.isoformat()
        case _:  # Decimal, UUID, timedelta
            return str(value)
