"""A pickled data frame of texts, read without running what a pickle may ask for.

Unpickling calls whatever functions a file names, so a pickle from elsewhere is a program. Here only
the functions that rebuild a data frame with columns of Python objects may be named; anything else
ends the reading before it is called.
"""

import pickle
from pathlib import Path
from typing import Any

from headcount.errors import SourceError

# A data frame of pandas 1 to 3: the frame, its block manager, its blocks, its index and columns,
# and NumPy's arrays. Each only makes an object of its own kind from the values that follow. Columns
# of pandas' own string type are not among them: they can hold other things.
_ALLOWED = {
    ("builtins", "slice"),
    ("copyreg", "_reconstructor"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
    ("pandas._libs.internals", "_unpickle_block"),
    ("pandas.core.frame", "DataFrame"),
    ("pandas", "DataFrame"),
    ("pandas.core.indexes.base", "Index"),
    ("pandas.core.indexes.base", "_new_Index"),
    ("pandas.core.indexes.numeric", "Int64Index"),
    ("pandas.core.indexes.range", "RangeIndex"),
    ("pandas", "Index"),
    ("pandas", "RangeIndex"),
    ("pandas.core.internals.blocks", "new_block"),
    ("pandas.core.internals.managers", "BlockManager"),
}


def read_text_frame(path: Path, column: str) -> list[Any]:
    """Return a column of a pickled pandas data frame."""
    import pandas as pd
    from pandas.compat import pickle_compat

    class Careful(pickle_compat.Unpickler):  # type: ignore[misc]
        """Knows pandas' older names, and refuses what is not on the list."""

        def find_class(self, module: str, name: str) -> Any:
            if (module, name) not in _ALLOWED:
                raise pickle.UnpicklingError("not a plain data frame")
            return super().find_class(module, name)

    try:
        with path.open("rb") as file:
            frame = Careful(file).load()
        if not isinstance(frame, pd.DataFrame) or column not in frame:
            raise pickle.UnpicklingError("not the data frame that was expected")
        return list(frame[column])
    except Exception:  # a file that is not a good pickle can raise anything
        raise SourceError(
            f"cannot read {str(path)!r}: it must be a pickled pandas data frame that has a column "
            f"{column} and holds nothing but plain texts and numbers"
        ) from None
