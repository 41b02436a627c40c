"""Candidates nominated in secret: the exponential mechanism without ⊥, several picks at once.

Every candidate gets a clock of rate exp(ε·count) (`clocks`), and the first m to ring are nominated.
That set has the law of m picks, one after the other, each with P(i) ∝ exp(ε·count) among those left
(race.md, Plackett–Luce).
"""

import functools
import math

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.mechanisms.pcr.clocks import (
    RELATIVE_ERROR,
    Clock,
    read,
    rings_before,
)
from headcount.privacy.mechanisms.pcr.race import any_but
from headcount.privacy.randomness import Entropy
from headcount.privacy.sampling.uniform import LazyUniform

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def nominate(gaps: Integers, epsilon: float, number: int, entropy: Entropy) -> Integers:
    """Return the places of the first candidates to ring, in an order drawn by lot.

    Formal guarantee: the set has exactly the law of ``number`` picks, one after the other, with
    P(i) ∝ exp(ε·gap) among those left, so that it costs ``number`` times ε²/8 if a user moves gaps
    by 0 or by 1, all in the same direction. The order depends on nothing at all.

    Edge cases: if there are no more candidates than are asked for, all are nominated.

    Args:
        gaps: how far each candidate's count is above some number that all are compared with.
        epsilon: ε of every pick.
        number: how many are nominated.
        entropy: where the clocks' bits come from.
    """
    if number >= gaps.size:
        return by_lot(np.arange(gaps.size), entropy)
    if number == 0:
        return np.zeros(0, dtype=np.int64)
    return by_lot(_Clocks(gaps, epsilon, entropy).first(number), entropy)


def by_lot(places: Integers, entropy: Entropy) -> Integers:
    """Return the places in a uniformly random order (Fisher–Yates, without rounding)."""
    shuffled = places.copy()
    for last in range(shuffled.size - 1, 0, -1):
        other = any_but(set(), last + 1, entropy)
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return shuffled


class _Clocks:
    """One clock for each candidate, read in floating point, or exactly where that is not enough."""

    def __init__(self, gaps: Integers, epsilon: float, entropy: Entropy) -> None:
        self._gaps = gaps
        self._epsilon = epsilon
        self._entropy = entropy
        self._words = entropy.words(gaps.size)
        self._exact: dict[int, Clock] = {}
        log_e, error = read(self._words)
        gains = epsilon * gaps
        self._keys: Floats = log_e - gains
        self._errors: Floats = error + RELATIVE_ERROR * np.abs(gains)

    def first(self, number: int) -> Integers:
        """Return the first ``number`` candidates to ring, in no meaningful order."""
        # One in 2^23 words says so little that its key may be anything.
        coarse = np.isinf(self._errors)
        low = np.where(coarse, -math.inf, self._keys - np.where(coarse, 0.0, self._errors))
        high = np.where(coarse, math.inf, self._keys + np.where(coarse, 0.0, self._errors))
        # At most `number` keys can be below the (number + 1)-th lowest of the lower bounds.
        surely_in = high < np.partition(low, number)[number]
        surely_out = low > np.partition(high, number - 1)[number - 1]
        chosen = np.flatnonzero(surely_in)
        close = np.flatnonzero(~surely_in & ~surely_out).tolist()
        close.sort(key=functools.cmp_to_key(self._order))
        return np.concatenate([chosen, np.array(close[: number - chosen.size], dtype=np.int64)])

    def _order(self, first: int, second: int) -> int:
        return -1 if rings_before(self._clock(first), self._clock(second)) else 1

    def _clock(self, place: int) -> Clock:
        """Return the candidate's clock, the same one each time: drawn bits are kept."""
        if place not in self._exact:
            uniform = LazyUniform(int(self._words[place]), self._entropy)
            gap = int(self._gaps[place])
            self._exact[place] = Clock([(uniform, 1)], self._epsilon, gap, 0.0)
        return self._exact[place]
