"""Values of any column as plain ones, for formats that are text."""

import math
from collections.abc import Iterator
from datetime import date, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

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


def plain_rows(table: "pa.Table") -> Iterator[tuple[Plain, ...]]:
    """Return the rows of a table as plain values."""
    return zip(*(_plain_column(column) for column in table.columns), strict=True)


def _plain_column(column: Any) -> list[Plain]:  # noqa: ANN401 (PyArrow has no types)
    import pyarrow as pa

    try:
        return [plain(value) for value in column.to_pylist()]
    except (OverflowError, ValueError):
        # Python's calendar ends at the year 9999. What was paid for must not be lost by that.
        return [plain(value) for value in column.cast(pa.string()).to_pylist()]
