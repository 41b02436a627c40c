"""Numbers between NumPy and Arrow, as Arrow's own ways do it but for importing pandas.

`pyarrow.array` and `to_numpy` import pandas where it is installed, which takes longer than all the
rest of what they do here.
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
