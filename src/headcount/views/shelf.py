"""Where arrays are kept: in memory or, beyond some total size, in memory-mapped files."""

import itertools
import mmap
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Shelf:
    """Keeps arrays. The folder may hold private data, and its owner must remove it."""

    def __init__(self, folder: Path, most_bytes: float) -> None:
        """Start without arrays.

        Args:
            folder: where files are made when they are needed.
            most_bytes: how much may be kept in memory, of keys and of other arrays each.
        """
        self.most_bytes = most_bytes
        self._folder = folder
        self._kept = 0
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def file(self) -> Path:
        """Return an unused path."""
        return self._folder / f"array-{next(self._numbers)}"

    def keep(self, array: NDArray[Any]) -> NDArray[Any]:
        """Keep an array: return it, or a memory map of a file with the same numbers."""
        with self._lock:
            self._kept += array.nbytes
            fits = self._kept <= self.most_bytes
        if fits or not array.size:
            return array
        path = self.file()
        path.write_bytes(array.data)
        return np.memmap(path, array.dtype, "r")


def let_go(array: NDArray[Any]) -> None:
    """Release the memory of what was read from a mapped file, until it is read again.

    Otherwise, all that was ever read counts as memory of this process, however many files it is in.
    """
    mapped = getattr(array, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        mapped.madvise(mmap.MADV_DONTNEED)


def give_back() -> None:
    """Return memory that arrays had to the system: the C library of Linux keeps it for others."""
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:  # only GNU's has it
            trim(0)
