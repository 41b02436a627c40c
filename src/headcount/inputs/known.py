"""A public list of items: exactly these are counted, and no others exist.

It is read before anything is reserved, and never comes from the source of the events: a list
derived from them would be an answer about them, at no cost.
"""

import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.engines.files import as_path, named
from headcount.engines.names import did_you_mean
from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

#: The most rows of a list. A user with that many items still counts in full (known.md).
MOST_ITEMS = 10**6

_WHAT = "a list of known items is a .csv or .parquet file, a table in memory or a list of values"
_PUBLIC = "the list of items has to be public: it must not be made from the events themselves"


@dataclass(frozen=True, eq=False)
class KnownItems:
    """A list of items that was read.

    Attributes:
        table: the item columns, one row each, in the order of the list.
        typed: whether its columns have types; those of a CSV file do not.
    """

    table: "pa.Table"
    typed: bool

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def to_dict(self) -> dict[str, Any]:
        """Return what stands for the list where a question is written down: not where it was."""
        return {"items": len(self), "sha256": self.sha256}

    @cached_property
    def sha256(self) -> str:
        """What identifies the list: a hash of its types and values, in order."""
        digest = hashlib.sha256()
        for field, column in zip(self.table.schema, self.table.columns, strict=True):
            parts = [str(field.type), *map(repr, column.to_pylist())]
            # Each is prefixed with its length, so that they cannot run together.
            digest.update("".join(f"{len(part)}:{part}" for part in parts).encode())
        return digest.hexdigest()

    def with_types_of(self, schema: Any) -> "pa.Table":  # noqa: ANN401 (Ibis has no types)
        """Return the list with the types of the events' columns.

        Raises:
            SourceError: its own types do not fit. No row of the events is read.
        """
        import pyarrow as pa

        columns = {
            name: _converted(self.table[name], schema[name], name, typed=self.typed)
            for name in self.table.column_names
        }
        return _checked(pa.table(columns))


def read_known_items(
    given: Any,  # noqa: ANN401 (whatever a user has)
    items: Sequence[str],
    source: Any,  # noqa: ANN401
    period: str | None = None,
) -> KnownItems:
    """Read a public list of items.

    Args:
        given: a path, a table in memory, or values (tuples for several columns).
        items: the columns of the list.
        source: the source of the events, from which the list must not come.
        period: the one of these columns with the first days of periods, if there is one.

    Raises:
        SourceError: it is not such a list, or it was or may have been made from the events.
    """
    if isinstance(given, KnownItems):
        return given
    _refuse_own(given, source)
    if isinstance(given, str | PathLike):
        table, typed = _from_file(str(given), items, period)
    else:
        table, typed = _from_memory(given, items, _hint(period)), True
    _check_there(items, table.column_names, period)
    table = _plain(table.select(list(items)))
    return KnownItems(_checked(table), typed)


def _check_there(items: Sequence[str], there: Sequence[str], period: str | None) -> None:
    missing = next((name for name in items if name not in there), None)
    if missing is None:
        return
    listed = ", ".join(map(repr, there)) or "none"
    hint = _hint(period) if missing == period else did_you_mean(missing, there)
    raise SourceError(f"the list of items has no column {missing!r}; it has: {listed}{hint}")


def _refuse_own(given: Any, source: Any) -> None:  # noqa: ANN401
    if isinstance(given, str | PathLike):
        if isinstance(source, str | PathLike) and _is_below(as_path(str(given)), str(source)):
            raise SourceError(_PUBLIC)
    elif given is source or _buffers(given) & _buffers(source):
        raise SourceError(_PUBLIC)


def _is_below(path: Path, source: str) -> bool:
    """Whether a source names a file, under any name, or a folder that it lies in."""
    if "://" in source and not source.startswith("file://"):
        return False
    if not os.path.exists(path):  # noqa: PTH110 (False, not an error, for an impossible name)
        return False
    real = Path(os.path.realpath(path))
    for one in named(source.removeprefix("file://")):
        try:
            if one.samefile(path):
                return True
        except OSError:
            continue
        if one.is_dir() and real.is_relative_to(os.path.realpath(one)):
            return True
    return False


def _buffers(table: Any) -> set[int]:  # noqa: ANN401
    """Return where in memory the columns of a table lie, if that is known."""
    import pyarrow as pa

    polars = sys.modules.get("polars")
    if polars is not None and isinstance(table, polars.DataFrame):
        table = table.to_arrow()
    if not isinstance(table, pa.Table):
        return set()
    chunks = [chunk for column in table.columns for chunk in column.chunks]
    found = (buffer for chunk in chunks for buffer in chunk.buffers())
    return {buffer.address for buffer in found if buffer is not None and buffer.size}


def _hint(period: str | None) -> str:
    if period is None:
        return ""
    return (
        f". With periods, a list names the first day of each in the column {period!r}; or give the "
        "range that they lie in: --between (between=)"
    )


def _from_file(name: str, items: Sequence[str], period: str | None) -> "tuple[pa.Table, bool]":
    path = as_path(name)
    ending = path.suffix.lower()
    if "://" in name or ending not in (".csv", ".parquet"):
        raise SourceError(f"{_WHAT}; the first line of a .csv file names its columns")
    if not os.path.isfile(path):  # noqa: PTH113 (False, not an error, for an impossible name)
        raise SourceError(f"there is no file {name!r} with a list of items")
    read = _csv if ending == ".csv" else _parquet
    try:
        return read(path, items, period), ending != ".csv"
    except SourceError:
        raise
    except Exception:  # whatever the library says about a file that anybody may have made
        raise SourceError(
            f"the list of items {name!r} cannot be read: it needs the columns "
            f"{', '.join(map(repr, items))}, which the first line of a CSV file names, and at most "
            f"a million rows{_hint(period)}"
        ) from None


def _csv(path: Path, items: Sequence[str], period: str | None) -> "pa.Table":
    import pyarrow as pa
    from pyarrow import csv

    text = csv.ConvertOptions(
        column_types=dict.fromkeys(items, pa.string()),
        include_columns=list(items),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    with csv.open_csv(path) as file:
        _check_there(items, file.schema.names, period)
    return csv.read_csv(path, convert_options=text)


def _parquet(path: Path, items: Sequence[str], period: str | None) -> "pa.Table":
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        _check_there(items, file.schema_arrow.names, period)
        if file.metadata.num_rows > MOST_ITEMS:
            raise ValueError("too many rows")
        return file.read(columns=list(items))


def _from_memory(given: Any, items: Sequence[str], hint: str) -> "pa.Table":  # noqa: ANN401
    import pyarrow as pa

    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    try:
        if isinstance(given, pa.Table):
            return given
        if polars is not None and isinstance(given, polars.DataFrame):
            return given.to_arrow()
        if pandas is not None and isinstance(given, pandas.DataFrame):
            return pa.Table.from_pandas(given, preserve_index=False)
        if isinstance(given, list | tuple):
            return _of_values(given, items, hint)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise SourceError("each column of the list of items must hold values of one type") from None
    raise SourceError(f"{_WHAT}, got {type(given).__name__}")


def _of_values(values: Sequence[Any], items: Sequence[str], hint: str) -> "pa.Table":
    import pyarrow as pa

    rows = [(value,) for value in values] if len(items) == 1 else list(values)
    if not all(isinstance(row, tuple | list) and len(row) == len(items) for row in rows):
        raise SourceError(
            f"with several item columns, each item is a tuple of {len(items)} values: "
            f"{', '.join(map(repr, items))}{hint}"
        )
    columns = zip(*rows, strict=True) if rows else ([] for _ in items)
    return pa.table(
        {name: pa.array(list(column)) for name, column in zip(items, columns, strict=True)}
    )


def _plain(table: "pa.Table") -> "pa.Table":
    """Return the table without dictionary columns, and with one type for all text."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        column = table[place]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if _is_text(column.type):
            column = column.cast(pa.string())
        table = table.set_column(place, name, column)
    return table


def _checked(table: "pa.Table") -> "pa.Table":
    import pyarrow as pa
    import pyarrow.compute as pc

    if not table.num_rows:
        raise SourceError("the list of items is empty")
    if table.num_rows > MOST_ITEMS:
        raise SourceError(f"a list of items has at most {MOST_ITEMS:,} rows")
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count:
            raise SourceError(f"the list of items has an empty value in column {name!r}")
        if pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
            raise SourceError(f"the list of items has NaN in column {name!r}")
        if pa.types.is_temporal(column.type) and not _in_pythons_years(column):
            raise SourceError(
                f"the list of items has a time in column {name!r} before the year 1 or after 9999"
            )
        if pa.types.is_nested(column.type):
            raise SourceError(f"column {name!r} of the list of items holds lists or structs")
    keys = table.rename_columns([str(place) for place in range(table.num_columns)])
    if keys.group_by(keys.column_names).aggregate([]).num_rows < table.num_rows:
        raise SourceError("an item appears twice in the list of items")
    return table


def _in_pythons_years(times: "pa.ChunkedArray") -> bool:
    import pyarrow.compute as pc

    try:
        pc.min_max(times).as_py()
    except (OverflowError, ValueError):
        return False
    return True


def _converted(
    column: "pa.ChunkedArray",
    kind: Any,  # noqa: ANN401 (a type of Ibis)
    name: str,
    *,
    typed: bool,
) -> "pa.ChunkedArray":
    """Return a column of the list, converted to the type that it has in the events."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = ("integer", "floating", "decimal", "boolean", "date", "time", "timestamp", "binary")
    of = next((one for one in plain if getattr(kind, f"is_{one}")()), None)
    target = pa.string() if of is None else kind.to_pyarrow()
    wrong = SourceError(
        f"column {name!r} of the events is of type {kind}, but the list of items has "
        f"{column.type if typed else f'text there that is not {kind}'}; give the list the type of "
        "the events"
    )
    if typed and _kind_of(column.type) != (of or "string"):
        raise wrong
    if of == "binary" and not typed:
        raise wrong
    if of == "timestamp" and typed and (column.type.tz is None) != (target.tz is None):
        raise wrong
    try:
        converted = column.cast(target)
    except pa.ArrowException:
        raise wrong from None
    # 0.0 and −0.0 are the same item.
    return pc.add(converted, pa.scalar(0.0, target)) if of == "floating" else converted


def _kind_of(kind: "pa.DataType") -> str:
    import pyarrow as pa

    names = ("integer", "floating", "decimal", "boolean", "date", "time", "timestamp", "binary")
    if _is_text(kind):
        return "string"
    return next((one for one in names if getattr(pa.types, f"is_{one}")(kind)), "other")


def _is_text(kind: "pa.DataType") -> bool:
    return str(kind) in ("string", "large_string", "string_view")
