"""Words, and a uniform number of which only as many bits are drawn as comparisons need."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


class WordSource(Protocol):
    """Where uniform words come from."""

    def words(self, count: int) -> Words:
        """Return independent uniform 64-bit words."""


class LazyUniform:
    """A uniform number V on (0, 1) whose leading bits are known.

    Whatever shares a V shares the object, so that the same further bits are seen everywhere.
    """

    __slots__ = ("_source", "bits", "length")

    def __init__(self, word: int, source: WordSource) -> None:
        self.bits = word
        self.length = 64
        self._source = source

    def draw_more_bits(self) -> None:
        """Draw 64 more bits."""
        self.bits = self.bits << 64 | int(self._source.words(1)[0])
        self.length += 64


def uniform_below(bound: int, source: WordSource) -> int:
    """Return a whole number from 0 to ``bound`` − 1, all equally likely, for any ``bound``."""
    number = bound.bit_length() // 64 + 1
    while True:
        drawn = int.from_bytes(source.words(number).tobytes(), "little")
        # The remainder beyond a whole multiple of the bound would make small results likelier.
        if drawn < 2 ** (64 * number) // bound * bound:
            return drawn % bound
