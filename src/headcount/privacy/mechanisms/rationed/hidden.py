"""Heavy users hidden by noise: too few to stand out in a histogram, but each loses much.

No privacy cost: everything here follows from noisy answers and public limits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from headcount.privacy.mechanisms.rationed.losses import Losers
from headcount.privacy.mechanisms.rationed.sizes import GROUP, Floats, Sizes

#: The possible sizes of such a group, in σ of a histogram: with more users it is not small.
_STEP = 0.25
_NUMBERS: Floats = np.arange(_STEP, GROUP, _STEP)[:, None]
#: How many bins a group may be spread over. With 8 as well, the tail of all users on yelp_5core was
#: taken for a group reaching the last bin in 1 of 14 runs at ρ = 0.5: 45 items came out, not 740.
_WIDTHS = (1, 2, 4)
#: How many cases the possible numbers of users are combined into.
_CASES = 8
_BINS = max(len(Losers.BOUNDS), len(Sizes.BOUNDS))
_SHAPES = [(below, width) for below in range(_BINS) for width in _WIDTHS]


class Histogram(Protocol):
    """A noisy histogram of users."""

    @property
    def noisy(self) -> Floats:
        """How many users are in each bin."""

    @property
    def sigma(self) -> float:
        """σ of the noise."""

    @property
    def top(self) -> int:
        """The last bin that stands out from the noise."""

    @property
    def last(self) -> int:
        """The last bin that anybody can be in."""


@dataclass(frozen=True)
class HiddenUsers:
    """A possible group of users beyond the bins that stand out in some histograms.

    The users are the same in every histogram, and about equally far from the last bin that anybody
    can be in, which is public. A priori, a group is as likely as none; all numbers of users up to
    `GROUP` σ are equally likely, and so are all bins for its heaviest users. With a prior 16 times
    as high, 80 % instead of 55 % of the intervals held with ten users who have everything among
    5,000; but data without such users gave 10 to 15 % fewer items, and their number varied from run
    to run by 15 to 30 % instead of 5 to 15 %.

    Attributes:
        asked: the histograms.
    """

    asked: Sequence[Histogram]

    @cached_property
    def _bins(self) -> int:
        """How many bins a group may hide in."""
        return max((losers.last - losers.top for losers in self.asked), default=0)

    @cached_property
    def _chances(self) -> Floats:
        """The chance of each number of users and shape."""
        start = -math.log(_NUMBERS.size * len(_WIDTHS) * max(self._bins, 1))
        logs = sum((_evidence(each) for each in self.asked), start)
        unseen = np.array([below < self._bins for below, _ in _SHAPES])
        logs = np.where(unseen, logs, -np.inf)  # other groups are seen wherever they lose
        none = max(0.0, float(logs.max()))
        chances: Floats = np.exp(logs - none)
        normed: Floats = chances / (chances.sum() + math.exp(-none))
        return normed

    @property
    def none(self) -> float:
        """The chance that there is no such group."""
        return max(0.0, 1 - float(self._chances.sum()))

    def cases(self) -> list[tuple[float, Floats]]:
        """Return the possible cases, each with its chance and the group's users in each bin.

        The bins are those of the first histogram. In the first case there is no group.
        """
        users = (_NUMBERS * self.asked[0].sigma * self._chances) @ _spread(self.asked[0])
        chances = self._chances.sum(axis=1)
        parts = np.array_split(np.arange(chances.size), _CASES)
        some = [(float(chances[part].sum()), users[part].sum(axis=0)) for part in parts]
        none = (self.none, 0.0 * users[0])
        return [none, *((chance, all_ / chance) for chance, all_ in some if chance > 0)]

    def moments(self, lost: Floats) -> tuple[float, float]:
        """Return the mean and standard deviation of a loss given for each group size and shape."""
        mean = float((self._chances * lost).sum())
        square = float((self._chances * lost**2).sum())
        return mean, math.sqrt(max(square - mean**2, 0.0))


@dataclass(frozen=True)
class HiddenLosers(HiddenUsers):
    """The group in histograms of what users lose at points of a path.

    At every other point they are expected to be equally far from what a user with every item loses.
    """

    asked: Sequence[Losers]

    def losses(self, most_lost: Floats) -> tuple[Floats, Floats]:
        """Return the share that the group loses, given what a user with every item loses.

        Returns:
            Means and standard deviations.
        """
        if not self._bins:
            return 0.0 * most_lost, 0.0 * most_lost
        bins = [np.arange(below, min(below + width, self._bins)) for below, width in _SHAPES]
        each = [(2.0**-some).sum() / width for some, (_, width) in zip(bins, _SHAPES, strict=True)]
        mean, off = self.moments(_NUMBERS * self.asked[0].sigma * np.array(each))
        return mean * most_lost, off * most_lost


def _spread(histogram: Histogram) -> Floats:
    """Return, for each shape, the part of a group in each bin beyond those that stand out."""
    parts = np.zeros((len(_SHAPES), histogram.noisy.size))
    for row, (below, width) in enumerate(_SHAPES):
        end = histogram.last - below + 1
        start = max(end - width, histogram.top + 1)
        if start < end:
            parts[row, start:end] = 1 / width
    return parts


def _evidence(histogram: Histogram) -> Floats:
    """Return the log-likelihood ratio of an answer with each group to one without any."""
    parts = _spread(histogram)
    answer = parts @ histogram.noisy / histogram.sigma
    found: Floats = _NUMBERS * answer - _NUMBERS**2 * (parts**2).sum(axis=1) / 2
    return found
