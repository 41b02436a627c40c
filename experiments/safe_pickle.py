"""Reads a pickled data frame of texts without running anything that the pickle asks for.

Unpickling calls whatever functions a file names, so a pickle from elsewhere is a program. Here,
nothing that a file names is called. A data frame with columns of Python objects needs only a few
names. Each of these gives a record of the arguments it would have been called with, and any other
name is refused. The texts are then looked up in the records.
"""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np

from headcount.errors import SourceError

# The names in a data frame of pandas 1 to 3: the frame, its block manager, its blocks, its index
# and columns, and NumPy's arrays. Columns of pandas' own string types are not supported.
_NAMES = {
    ("_codecs", "encode"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
    ("pandas", "DataFrame"),
    ("pandas", "Index"),
    ("pandas", "RangeIndex"),
    ("pandas._libs.internals", "_unpickle_block"),
    ("pandas.core.frame", "DataFrame"),
    ("pandas.core.indexes.base", "Index"),
    ("pandas.core.indexes.base", "_new_Index"),
    ("pandas.core.indexes.numeric", "Int64Index"),
    ("pandas.core.indexes.range", "RangeIndex"),
    ("pandas.core.internals.blocks", "new_block"),
    ("pandas.core.internals.managers", "BlockManager"),
}


class _Record:
    """What would have been called, and with which arguments."""

    args: tuple[Any, ...]
    state: Any

    def __new__(cls, *args: Any) -> Self:
        record = object.__new__(cls)
        record.args, record.state = args, None
        return record

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in (("builtins", "slice"), ("__builtin__", "slice")):
            return slice  # the positions of a block's columns; it only holds numbers
        if (module, name) not in _NAMES:
            raise pickle.UnpicklingError("not a plain data frame")
        return type(name, (_Record,), {})


def read_text_frame(path: Path, column: str) -> list[Any]:
    """Return a column of Python objects from a pickled pandas data frame."""
    try:
        with path.open("rb") as file:
            frame = _Unpickler(file).load()
        manager = frame.state.get("_mgr") or frame.state["_data"]
        columns, blocks = _parts(manager)
        place = columns.index(column)
        for values, places in blocks:
            if place in places:
                rows = values.state[1][1]  # from the block's shape, columns by rows
                start = places.index(place) * rows
                return list(_objects(values)[start : start + rows])
        raise LookupError
    except Exception:  # a file that is not a good pickle can raise anything
        raise SourceError(
            f"cannot read {str(path)!r}: it must be a pickled pandas data frame that has a column "
            f"{column} of Python strings and holds nothing but texts and numbers"
        ) from None


def _parts(manager: _Record) -> tuple[list[Any], Iterator[tuple[_Record, list[int]]]]:
    """Return the column names, and for each block its values and the columns they belong to."""
    if manager.state is None:  # since pandas 1.3
        blocks, axes = manager.args
        parts = [block.args[:2] for block in blocks]
    else:
        parts_by_version = manager.state[3]["0.14.1"]  # the name of the format, in pandas 1.0 too
        axes = parts_by_version["axes"]
        parts = [(block["values"], block["mgr_locs"]) for block in parts_by_version["blocks"]]
    columns = _objects(axes[0].args[1]["data"])
    return columns, ((values, _places(where, len(columns))) for values, where in parts)


def _objects(array: _Record) -> list[Any]:
    """Return the elements of an array of Python objects, row by row."""
    elements = array.state[4]
    if not isinstance(elements, list):
        raise TypeError
    return elements


def _places(where: slice | _Record, size: int) -> list[int]:
    if isinstance(where, slice):
        return list(range(size))[where]
    content = where.args[0] if where.state is None else where.state[4]
    if isinstance(content, _Record):  # bytes in protocol 2
        content = content.args[0].encode("latin1")
    return [int(place) for place in np.frombuffer(content, "<i8")]
