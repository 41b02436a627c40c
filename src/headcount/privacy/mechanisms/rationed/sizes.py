"""A noisy histogram of users by their number of items."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.mechanisms.rationed.tuning import TUNING

Floats = NDArray[np.float64]

#: How many σ of users a bin and its neighbours must have together for the bin to count by itself.
#: A smaller group is told from noise by everything that is known about it (`HiddenUsers`).
GROUP = 16.0
#: How many neighbours on either side: a few similar users fill at most four bins in a row.
_NEIGHBOURS = 2


def last_that_stands_out(noisy: Floats, sigma: float) -> int:
    """Return the last bin of a histogram that stands out from the noise and is no small group."""
    around = np.convolve(noisy, np.ones(2 * _NEIGHBOURS + 1), mode="same")
    clear = (noisy > TUNING.seen * sigma) & (around > GROUP * sigma)
    return int(np.flatnonzero(clear).max(initial=0))


class Sizes:
    """A noisy histogram of users by their number of items.

    Bins grow by a factor of √2, up to a million items.
    """

    BOUNDS: ClassVar[list[int]] = sorted({math.ceil(2 ** (k / 2)) for k in range(41)})
    #: The most items that a user in each bin has; the last bin has no upper end.
    UPPERS: ClassVar[list[int]] = [bound - 1 for bound in [*BOUNDS[1:], BOUNDS[-1] * 2 + 1]]

    def __init__(self, noisy: Sequence[float], sigma: float) -> None:
        self.noisy = users = np.array(noisy, dtype=np.float64)
        self.sigma = sigma
        self._half = self._half_way(users, sigma)
        self._not_negative = np.maximum(users, 0.0)
        # Noise alone must not make up users with a million items.
        self.users = np.where(users < TUNING.seen * sigma, 0.0, users)
        #: The middle of each bin.
        self.items = np.sqrt(np.array(self.BOUNDS, dtype=np.float64) * np.array(self.UPPERS))

    def combined(self, other: "Sizes") -> "Sizes":
        """Return what two histograms of the same users say together."""
        mine, others = self.sigma**-2, other.sigma**-2
        noisy = (mine * self.noisy + others * other.noisy) / (mine + others)
        return Sizes(noisy.tolist(), (mine + others) ** -0.5)

    @cached_property
    def top(self) -> int:
        """The last bin that stands out from the noise and is no small group."""
        return last_that_stands_out(self.noisy, self.sigma)

    @property
    def last(self) -> int:
        """The last bin."""
        return self.noisy.size - 1

    def weight_within(self, most: int) -> float:
        """Return how much weight users with at most so many items give.

        Here noise may make up users with many items: leaving out real ones would cost more.
        """
        return float((self._not_negative * np.sqrt(self.items))[self.items <= most].sum())

    @staticmethod
    def _stand_out(users: Floats, sigma: float) -> bool:
        return float(users.sum()) >= TUNING.seen / 2 * sigma * math.sqrt(users.size)

    @classmethod
    def _half_way(cls, users: Floats, sigma: float) -> int | None:
        """Return the bin of the median user, if there are more users than noise makes up."""
        if not cls._stand_out(users, sigma):
            return None
        return int(np.flatnonzero(np.cumsum(users) >= users.sum() / 2)[0])

    def some_up_to(self, last: int) -> bool:
        """Whether bins up to this one have more users than noise makes up."""
        return self._stand_out(self.noisy[: last + 1], self.sigma)

    @property
    def known(self) -> bool:
        """Whether there are enough users to tell how many items they have."""
        return self._half is not None

    def count_per_weight(self) -> float:
        """Return how many users an item has per unit of weight, on average over all pairs.

        With few users, no bin may stand out; then the median user gives a lower bound.
        """
        half = math.sqrt(self.items[self._half]) if self._half is not None else 1.0
        pairs = float((self.users * self.items).sum())
        weights = float((self.users * np.sqrt(self.items)).sum())
        return max(pairs / weights if weights else 1.0, half, 1.0)
