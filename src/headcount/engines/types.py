"""Types that hold less than others: columns that would be cut are refused before any is read.

An engine that has no type for what a file or another engine holds may silently take the nearest
one it has. Items would be merged, or come out wrong; users would be merged, so that one could
change what another contributes.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

_UNITS = ("s", "ms", "us", "ns")
_DIGITS_OF_INTEGERS = 20


def refuse_cuts(
    stored: "pa.Schema", held: "pa.Schema", columns: Collection[str] | None, by: str
) -> None:
    """Refuse columns whose values would be cut, judged by their types alone.

    Args:
        stored: the types that the values have.
        held: the types that they would be read or kept as.
        columns: the requested ones; all if None.
        by: what reads or keeps them, as messages name it.
    """
    kinds = dict(zip(held.names, held.types, strict=True))
    for field in stored:
        kind = kinds.get(field.name)
        asked = columns is None or field.name in columns
        if asked and kind is not None and _cuts(field.type, kind):
            raise SourceError(
                f"column {field.name!r} is stored as {field.type}, which {by} would cut to {kind}; "
                "store it as that type, or as text"
            )


def refuse_differences(
    kinds: Mapping[Path, Mapping[str, tuple[str, str]]], columns: Collection[str] | None
) -> None:
    r"""Refuse files in which a column does not have the same type, judged by their schemas alone.

    An engine that reads a value of one type as another may fail at it, so that one person's value
    ends the release, or make two values equal: the bytes ff are the text ``\xFF`` to DuckDB.

    Args:
        kinds: the type of each column of each file, as `type_of` has it.
        columns: the requested ones; all if None.
    """
    (first, expected), *others = kinds.items()
    for path, found in others:
        for column in dict.fromkeys([*expected, *found] if columns is None else columns):
            one, other = expected.get(column), found.get(column)
            if one == other or (other is not None and other[0].lower() == "null"):
                continue
            if one is None or other is None:
                there, gone = (first, path) if other is None else (path, first)
                raise SourceError(
                    f"column {column!r} is in {str(there)!r} but not in {str(gone)!r}; give files "
                    "with the same columns"
                )
            place = int(one[0] == other[0])  # the type, or else what Parquet says besides
            raise SourceError(
                f"column {column!r} has the type {one[place]} in {str(first)!r} and {other[place]} "
                f"in {str(path)!r}; convert it to one type in all files"
            )


def type_of(kind: "pa.DataType", annotation: str = "") -> tuple[str, str]:
    """Return a type without its encoding, and what a file says of it that Arrow does not know."""
    from pyarrow import types as of

    if of.is_dictionary(kind):
        kind = kind.value_type
    return str(kind).removeprefix("large_").removesuffix("_view"), annotation


def _cuts(stored: "pa.DataType", held: "pa.DataType") -> bool:
    """Whether values of a type may change or become equal when held as another type."""
    from pyarrow import types as of

    if of.is_dictionary(stored):
        stored = stored.value_type
    if of.is_dictionary(held):
        held = held.value_type
    if of.is_null(held):
        return not of.is_null(stored)
    if of.is_integer(stored) and of.is_decimal(held):  # Spark's type for unsigned integers
        return bool(held.precision < _DIGITS_OF_INTEGERS)
    if of.is_date(stored) and of.is_timestamp(held):
        return False
    kinds = (of.is_integer, of.is_floating, of.is_decimal, of.is_timestamp, of.is_time)
    kind = next((is_kind for is_kind in (*kinds, of.is_date, _is_text) if is_kind(stored)), None)
    if kind is None:
        return False
    sizes = zip(_size(stored), _size(held), strict=True) if kind(held) else [(1, 0)]
    return any(needed > there for needed, there in sizes)


def _size(kind: Any) -> tuple[int, ...]:  # noqa: ANN401 (Arrow has no types)
    """Return how much a type holds, to be compared with another of its kind."""
    from pyarrow import types as of

    if of.is_timestamp(kind) or of.is_time(kind):
        return (_UNITS.index(kind.unit),)
    if of.is_decimal(kind):
        return (kind.precision - kind.scale, kind.scale)
    if of.is_integer(kind) or of.is_floating(kind):
        return (kind.bit_width,)
    return ()


def _is_text(kind: Any) -> bool:  # noqa: ANN401
    return str(kind) in ("string", "large_string", "string_view")
