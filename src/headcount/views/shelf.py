"""Where arrays are kept: in memory, or beyond some size in files of a folder, mapped."""

import itertools
import mmap
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Shelf:
    """Keeps arrays. The folder may hold what is private, and is for its owner to remove."""

    def __init__(self, folder: Path, most_bytes: float) -> None:
        """Begin without arrays.

        Args:
            folder: of files, which are made when there is need of them.
            most_bytes: what may be kept in memory; of keys and of other arrays as much each.
        """
        self.most_bytes = most_bytes
        self._folder = folder
        self._kept = 0
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def file(self) -> Path:
        """Return a path that nothing has."""
        return self._folder / f"array-{next(self._numbers)}"

    def keep(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array that is to be kept: itself, or a map of a file with the same numbers."""
        with self._lock:
            self._kept += array.nbytes
            fits = self._kept <= self.most_bytes
        if fits or not array.size:
            return array
        path = self.file()
        path.write_bytes(array.data)
        return np.memmap(path, array.dtype, "r")


def let_go(array: NDArray[Any]) -> None:
    """Take what was read of a mapped file out of this process's memory, until it is read again.

    Else all that was ever looked at counts as memory of the process, however many files it is in.
    """
    mapped = getattr(array, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        mapped.madvise(mmap.MADV_DONTNEED)


def give_back() -> None:
    """Give the system memory back that arrays had: the C library of Linux keeps it for others."""
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:  # it is GNU's alone
            trim(0)
