"""Distinct pairs of users and items as arrays, made from keys that come in any order.

Keys are dealt out to parts by the high bits of the user, so that a part holds all pairs of its
users and is small enough to be sorted in one go. If the keys do not fit in memory, they first go to
one file per part. A part keeps the item of each pair, in the order of the users, and how many pairs
each user has.
"""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headcount.engines.codes import CodedRows, Division, bits_for
from headcount.views.shelf import Shelf, give_back, let_go
from headcount.views.workers import Workers

# Parts balance the threads' work and make a sort fit in the processor's cache; each costs a pass
# over all items in every pass over pairs.
_FEWEST_BITS, _USUAL_BITS, _MOST_BITS = 3, 6, 8
# Up to this many pairs are one part: a pass over them takes a millisecond, like starting threads.
_FEW = 2**16


@dataclass(frozen=True, eq=False)
class Part:
    """The pairs of some users.

    Attributes:
        items: the item of each pair; those of one user lie together.
        sizes: how many pairs each user has: at least one.
    """

    items: NDArray[Any]
    sizes: NDArray[Any]

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the pairs of each user begin."""
        starts: NDArray[np.int64] = np.cumsum(self.sizes, dtype=np.int64) - self.sizes
        return starts

    def kept(self, shelf: Shelf) -> "Part":
        """Return the same part, kept on a shelf."""
        return Part(shelf.keep(self.items), shelf.keep(self.sizes))

    def let_go(self) -> None:
        """Release the memory of what is in files, until it is read again."""
        let_go(self.items)
        let_go(self.sizes)

    def where(self, keep: NDArray[np.bool_], values: NDArray[Any]) -> "Part":
        """Return some of the pairs, with other items; users left without pairs are dropped."""
        if not self.sizes.size:
            return self
        sizes = np.add.reduceat(keep, self.starts, dtype=self.sizes.dtype)
        return Part(values[keep], sizes[sizes > 0])


def gathered(coded: CodedRows, workers: Workers, shelf: Shelf) -> list[Part]:
    """Return the distinct pairs of coded rows.

    Formal guarantee: each pair of user and item that occurs in a row is there exactly once, and all
    pairs of a user are in one part, next to each other.
    """
    parts = []
    for division in coded.divisions:
        dealt = _Deal(division, coded.number_of_items, shelf)
        workers.all(dealt.put, division.keys)
        parts += [part for part in workers.each(dealt.part, range(dealt.parts)) if part.items.size]
        del dealt
        give_back()
    on_disk = any(isinstance(part.items, np.memmap) for part in parts)
    if on_disk or not 0 < sum(part.items.size for part in parts) <= _FEW:
        return parts
    items, sizes = zip(*((part.items, part.sizes) for part in parts), strict=True)
    return [Part(np.concatenate(items), np.concatenate(sizes))]


class _Deal:
    """Keys of a division, dealt out to parts."""

    def __init__(self, division: Division, items: int, shelf: Shelf) -> None:
        user_bits, self._item_bits = bits_for(division.users), bits_for(items)
        # 32-bit keys sort twice as fast: they are used unless that takes too many parts.
        bits = max(user_bits + self._item_bits - 32, _FEWEST_BITS)
        bits = min(user_bits, bits if bits <= _MOST_BITS else _USUAL_BITS)
        self.parts = 2**bits
        self._local_bits = user_bits - bits + self._item_bits
        self._key: type[Any] = np.uint32 if self._local_bits <= 32 else np.uint64
        self._code: type[Any] = np.int32 if self._item_bits < 32 else np.int64
        self._chunks: list[list[NDArray[Any]]] = [[] for _ in range(self.parts)]
        self._files: list[Path | None] = [None] * self.parts
        self._shelf, self._held = shelf, 0
        self._lock = threading.Lock()

    def put(self, keys: NDArray[np.int64]) -> None:
        """Deal out some keys."""
        places = (keys >> self._local_bits).astype(np.uint8)
        local = (keys & (2**self._local_bits - 1)).astype(self._key)
        local = local[np.argsort(places, kind="stable")]  # by counting: they are bytes
        ends = np.cumsum(np.bincount(places, minlength=self.parts)).tolist()
        with self._lock:
            for chunks, start, end in zip(self._chunks, [0, *ends], ends, strict=False):
                if start < end:
                    chunks.append(local[start:end])
            self._held += local.nbytes
            if self._held > self._shelf.most_bytes:
                self._write()

    def _write(self) -> None:
        """Append all keys in memory to the files of their parts."""
        for place, chunks in enumerate(self._chunks):
            if chunks:
                path = self._files[place] = self._files[place] or self._shelf.file()
                with path.open("ab") as file:
                    for chunk in chunks:
                        file.write(chunk.data)
                chunks.clear()
        self._held = 0

    def part(self, place: int) -> Part:
        """Return the pairs of a part, each once, and let go of its keys."""
        keys = self._taken(place)
        keys.sort()
        keys = keys[_begins(keys)]
        items = (keys & self._key(2**self._item_bits - 1)).astype(self._code)
        begins = np.flatnonzero(_begins(keys >> self._key(self._item_bits)))
        sizes = np.diff(begins, append=keys.size).astype(self._code)
        return Part(items, sizes).kept(self._shelf)

    def _taken(self, place: int) -> NDArray[Any]:
        """Return the keys of a part without keeping them."""
        chunks, self._chunks[place] = self._chunks[place], []
        path = self._files[place]
        if path is not None:
            chunks.append(np.fromfile(path, self._key))
            path.unlink()
        return np.concatenate(chunks) if chunks else np.zeros(0, self._key)


def _begins(rising: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each number differs from the one before it."""
    begins = np.ones(rising.size, dtype=np.bool_)
    np.not_equal(rising[1:], rising[:-1], out=begins[1:])
    return begins
