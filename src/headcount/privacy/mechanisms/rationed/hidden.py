"""Heavy users whom noise hides: too few to stand out of a histogram, and each loses much.

Free of cost: all of it follows from noisy answers and from public limits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.privacy.mechanisms.rationed.losses import AMOUNTS, Losers
from headcount.privacy.mechanisms.rationed.sizes import Floats

#: How many users such a group may have, in σ of a histogram.
_STEP = 0.25
_NUMBERS: Floats = np.arange(_STEP, 16, _STEP)[:, None]
#: Over how many bins they are spread, and how many bins the heaviest lose less than the most.
_WIDTHS = (1, 2, 4, 8)
_SHAPES = [(below, width) for below in range(len(Losers.BOUNDS)) for width in _WIDTHS]


@dataclass(frozen=True)
class HiddenUsers:
    """A group of users beyond the bins that stand out of some histograms of losses, or none.

    The users are the same in every histogram, and about as far from what a user with every item
    loses, which is public. Before anything is seen, a group with its heaviest in some bin is as
    likely as none, and every number of users is as likely as any other. One to four times as
    likely gave the same results; half as likely for each bin further out left the intervals of
    thirty users among 5,000 false (experiments/shapes.py).

    Attributes:
        asked: the histograms.
    """

    asked: Sequence[Losers]

    @cached_property
    def _chances(self) -> Floats:
        """The chance of each number of users and shape."""
        logs = sum((_evidence(each) for each in self.asked), np.log(_STEP / len(_WIDTHS)))
        spreads = [_spread(each) for each in self.asked]
        unseen = np.any([spread.any(axis=1) for spread in spreads], axis=0)
        logs = np.where(unseen, logs, -np.inf)  # the others are seen wherever they lose
        none = max(0.0, float(logs.max()))
        chances: Floats = np.exp(logs - none)
        normed: Floats = chances / (chances.sum() + math.exp(-none))
        return normed

    def loss(self, place: int, counted: float = 0.0) -> tuple[float, float]:
        """Return what share of items the group loses where one histogram was asked for.

        Args:
            place: which histogram.
            counted: what of each user's loss is counted otherwise.

        Returns:
            The mean over what may be, and how far off it may be.
        """
        losers = self.asked[place]
        each = _spread(losers) @ np.maximum(AMOUNTS - counted, 0.0)
        lost = _NUMBERS * losers.sigma * each / losers.unit
        mean = float((self._chances * lost).sum())
        square = float((self._chances * lost**2).sum())
        return mean, math.sqrt(max(square - mean**2, 0.0))


def _spread(losers: Losers) -> Floats:
    """Return what part of a group of each shape is in each bin beyond those that stand out."""
    parts = np.zeros((len(_SHAPES), losers.users.size))
    for row, (below, width) in enumerate(_SHAPES):
        end = losers.last - below + 1
        start = max(end - width, losers.top + 1)
        if start < end:
            parts[row, start:end] = 1 / width
    return parts


def _evidence(losers: Losers) -> Floats:
    """Return, as a logarithm, how much likelier an answer is with a group than with none."""
    parts = _spread(losers)
    answer = parts @ losers.users / losers.sigma
    found: Floats = _NUMBERS * answer - _NUMBERS**2 * (parts**2).sum(axis=1) / 2
    return found
