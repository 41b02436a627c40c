"""The frozen form of a release: what a ledger hashes, and what JSON and CSV files show.

A fingerprint has to come out the same years later, on any machine and with any version of Python,
PyArrow or headcount, so nothing here goes through Python objects whose text may change. It starts
from what was published (the account in the table's metadata, as it was written, and the columns),
and every Arrow type has a text that is defined here and never changes. A release that needs another
text, or another structure, gets another `FORMAT`; the old one stays, with the golden files in
``tests/golden`` that hold it in place.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

#: The form of a release that is written today: the second, whose account says how the release came
#: about. A release that names no form is of an older headcount. Values have the same text in all.
FORMAT = "headcount-release-2"
FIRST_FORMAT = "headcount-release-1"
_KNOWN = (None, FIRST_FORMAT, FORMAT)

#: The key of a release's account in the metadata of its Arrow table and of its Parquet file.
METADATA_KEY = b"headcount"

Plain = str | int | float | bool | None

_UNITS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS_PER_DAY = 86_400


def canonical_json(value: object) -> str:
    """Return a JSON value in the one form in which it is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def strict_json(text: str | bytes) -> Any:  # noqa: ANN401 (any JSON value)
    """Parse JSON; refuse a key that appears twice, as programs may read either value."""
    return json.loads(text, object_pairs_hook=_no_key_twice)


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def account_of(table: "pa.Table") -> dict[str, Any]:
    """Return the account that a table carries in its metadata, as it was written.

    Raises:
        ValueError: it has none, or anything else besides.
    """
    metadata = table.schema.metadata or {}
    if list(metadata) != [METADATA_KEY]:
        raise ValueError("a release has its account in its metadata, and nothing else")
    account = strict_json(metadata[METADATA_KEY])
    if not isinstance(account, dict):
        raise ValueError("an account is an object")
    return account


def fingerprint(table: "pa.Table") -> str:
    """Return what identifies a release: a hash of all that is published of it."""
    return fingerprint_of_document(document_of(table))


def document_of(table: "pa.Table") -> dict[str, Any]:
    """Return what is published of a release as one JSON object.

    Raises:
        ValueError: the table is not a release, or has a column twice.
    """
    names, account = table.column_names, account_of(table)
    if len(set(names)) < len(names) or "items" in account:
        raise ValueError("a release has each column, and its items, once")
    items = [dict(zip(names, row, strict=True)) for row in plain_rows(table)]
    return {**account, "items": items}


def fingerprint_of_document(document: Mapping[str, Any]) -> str:
    """Return the fingerprint of the release that a JSON file holds."""
    ensure_known(document.get("format"))
    return hashlib.sha256(canonical_json(document).encode()).hexdigest()


def ensure_known(form: object) -> None:
    """Refuse a form that only a newer headcount knows."""
    if form not in _KNOWN:
        raise ValueError("this release has a form that a newer headcount knows")


def plain_rows(table: "pa.Table") -> Iterator[tuple[Plain, ...]]:
    """Return the rows of a table as values that JSON and CSV can hold without loss."""
    return zip(*(plain_column(column) for column in table.columns), strict=True)


def plain_column(column: "pa.ChunkedArray") -> list[Plain]:
    """Return the values of one column: truth values, whole numbers and text as they are.

    Floats that are not finite are text, bytes are hexadecimal, decimals have all digits of their
    column. Dates and times are written as in ISO 8601, with no fraction, six digits of it, or nine,
    whichever is the first to hold it; those with a time zone are written in UTC.
    """
    import pyarrow as pa

    kind, of = column.type, pa.types
    if of.is_boolean(kind) or of.is_integer(kind) or of.is_null(kind) or _is_text(kind):
        return list(column.to_pylist())
    if of.is_floating(kind):
        return _each(column if of.is_float64(kind) else column.cast(pa.float64()), _number)
    if of.is_binary(kind) or of.is_large_binary(kind) or of.is_fixed_size_binary(kind):
        return _each(column, bytes.hex)
    if of.is_decimal(kind):
        return _each(column, _decimal)
    if of.is_date(kind):
        days = column.cast(pa.date32()).cast(pa.int32())
        return _each(days, _date)
    if of.is_time(kind):
        units = _UNITS_PER_SECOND[kind.unit]
        return _each(_as_integers(column), lambda value: _time(value, units))
    if of.is_timestamp(kind):
        units, zone = _UNITS_PER_SECOND[kind.unit], "" if kind.tz is None else "+00:00"
        return _each(_as_integers(column), lambda value: _timestamp(value, units) + zone)
    raise TypeError(f"a release has no column of type {kind}")


def as_text_unless(table: "pa.Table", holds: Callable[["pa.ChunkedArray"], object]) -> "pa.Table":
    """Return a table in which columns are text where ``holds`` fails at one of their values."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        try:
            holds(table[place])
        except (OverflowError, ValueError):
            text = pa.array(plain_column(table[place]), pa.string())
            table = table.set_column(place, name, text)
    return table


def _is_text(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _as_integers(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    import pyarrow as pa

    width = pa.int32() if column.type.bit_width == 32 else pa.int64()
    return column.cast(width)


def _each(column: "pa.ChunkedArray", text: Callable[[Any], Plain]) -> list[Plain]:
    return [None if value is None else text(value) for value in column.to_pylist()]


def _number(value: float) -> Plain:
    return value if math.isfinite(value) else str(value)


def _decimal(value: Decimal) -> str:
    return str(value)


def _date(days: int) -> str:
    return str(np.datetime64(days, "D"))  # Python's own calendar ends with the year 9999


def _time(value: int, units: int) -> str:
    seconds, rest = divmod(value, units)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if not rest:
        return clock
    microseconds, nanoseconds = divmod(rest * (10**9 // units), 1000)
    return f"{clock}.{microseconds:06}" + (f"{nanoseconds:03}" if nanoseconds else "")


def _timestamp(value: int, units: int) -> str:
    days, of_day = divmod(value, units * _SECONDS_PER_DAY)
    return f"{_date(days)}T{_time(of_day, units)}"
