"""Types that hold less than others: columns that would be cut are refused before any is read.

An engine that has no type for what a file or another engine holds may silently take the nearest
one it has. Items would be merged, or come out wrong; users would be merged, so that one could
change what another contributes.
"""

from collections.abc import Collection
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
