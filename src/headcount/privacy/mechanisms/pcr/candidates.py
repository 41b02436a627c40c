"""The candidates of a release and their cut-off, which belong together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

# Counts up to here are exact as floats, which the race's error bounds rely on.
LARGEST_COUNT = 2**53


@dataclass(frozen=True)
class Candidates:
    """A: the k̄ items with the highest counts of distinct users; c: the count of the next.

    Formal guarantee required of the code that builds one: ``counts`` holds the k̄ highest counts of
    a histogram in which one more user raises any set of counts by exactly 1 and lowers none, and no
    item left out has more than ``cutoff`` users. A and c are a pair: both stay fixed for the whole
    release.

    Attributes:
        counts: positive counts in falling order, at most k̄ of them.
        cutoff: c, a true count. It is used in the race and must never leave it.
    """

    counts: NDArray[np.int64]
    cutoff: int

    def __post_init__(self) -> None:
        falling = bool(np.all(self.counts[:-1] >= self.counts[1:]))
        smallest = int(self.counts[-1]) if self.counts.size else self.cutoff
        largest = int(self.counts[0]) if self.counts.size else self.cutoff
        if not (falling and 0 <= self.cutoff <= smallest and largest <= LARGEST_COUNT):
            raise ValueError("candidates need falling counts, none of them below the cut-off")
        if self.counts.size and smallest < 1:
            raise ValueError("an item that nobody has is not a candidate")

    @classmethod
    def from_top(cls, top: Sequence[int] | NDArray[np.int64], k_bar: int, floor: int = 0) -> Self:
        """Cut the k̄+1 highest counts of a histogram, in falling order, into A and c.

        Args:
            top: the k̄+1 highest counts; all of them if there are fewer.
            k_bar: k̄, never replaced by the actual number of items.
            floor: the largest count that an item missing from a list of fewer than k̄+1 may
                have: 0 for a complete histogram, m − 1 if counts below m were dropped.
        """
        counts = np.asarray(top, dtype=np.int64)
        cutoff = int(counts[k_bar]) if counts.size > k_bar else floor
        return cls(counts[:k_bar], cutoff)
