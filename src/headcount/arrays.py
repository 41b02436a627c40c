"""Values on their way into Arrow and out of it: numbers from and to NumPy, and anything as text.

`pyarrow.array` and `to_numpy` import pandas where it is installed, which takes longer than
everything else they do here.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def to_arrow(values: NDArray[Any]) -> "pa.Array":
    """Return numbers of any fixed width as an Arrow array."""
    import pyarrow as pa

    values = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(values)])


def to_numpy(column: "pa.ChunkedArray") -> NDArray[Any]:
    """Return a column of numbers without NULLs as an array."""
    return np.from_dlpack(column.combine_chunks())


def as_text(value: object) -> str | None:
    """Return a value of any kind as text: text as it is, bytes in hexadecimal.

    No value raises an error, which would tell everybody that somebody has it.
    """
    match value:
        case None:
            return None
        case str():
            text = value
        case bytes():
            return value.hex()
        case _:
            try:
                text = str(value)
            except Exception:  # such as for an integer with very many digits
                text = f"<{type(value).__name__}>"
    # Lone surrogates, which UTF-8 cannot hold, are written as escapes.
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
