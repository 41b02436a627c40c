"""The exponential mechanism by clocks that are compared exactly, however close they come.

Every candidate i has a clock that rings at time E_i/w_i, with E_i exponential of mean 1 and
w_i = exp(x_i) its weight. The order in which clocks ring is that of picks, one after the other,
each with P(i) ∝ w_i among those left (race.md). −ln(E_i) is a Gumbel variate, so "the clock rings
before" is what the paper calls "score plus Gumbel noise is larger". Clocks are compared by

    key = ln(E) − x,        E = −ln(1 − V),  V uniform on (0, 1),

where V is a string of fair bits, and only as many of them are drawn as a comparison needs.
The first 64 are read in floating point with a bound on the error (`read`). If two keys are
closer than their bounds, more bits are drawn and compared in decimal arithmetic (`rings_before`).
So no comparison is decided by rounding, and V has full precision where it is tiny, which is
where δ lives.
"""

import functools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.sampling.uniform import LazyUniform, Words, WordSource

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Words nearer than this to 0 or to 2^64 leave V or 1 − V with fewer than 40 good bits. They are
# given an infinite error bound, so that every comparison with them draws more bits.
_COARSE = np.uint64(2**40)
# Below this, which is V < 1/64, 1 − V as a float has lost too many digits of V.
_SMALL = np.uint64(2**58)

# The error of ln(E) for a word that is not coarse: at most 1.5·2^-40 from the bits not drawn yet
# (relative error of V or 1 − V), and less than 2^-45 from floating point.
READING_ERROR = 2.0**-38
# A float key also carries the rounding of x = ε·gap − Λ, a few ulp of its terms.
RELATIVE_ERROR = 2.0**-49


def read(words: Words) -> tuple[Floats, Floats]:
    """Return ln(E) for the first 64 bits of each V, and a bound on the error of each."""
    ones_complement = ~words
    exponential = -np.log((ones_complement + 1.0) * 2.0**-64)
    small = words < _SMALL
    exponential[small] = -np.log1p(-(words[small] * 2.0**-64))
    with np.errstate(divide="ignore"):
        logarithm = np.log(exponential)
    coarse = (words < _COARSE) | (ones_complement < _COARSE)
    return logarithm, np.where(coarse, math.inf, READING_ERROR)


class Clock:
    """A clock that rings at E/exp(x), with x = ε·gap − Λ exactly."""

    __slots__ = ("_epsilon", "_gap", "_log_ratio", "_uniform")

    def __init__(self, uniform: LazyUniform, epsilon: float, gap: int, log_ratio: float) -> None:
        self._uniform = uniform
        self._epsilon = epsilon
        self._gap = gap
        self._log_ratio = log_ratio

    def draw_more_bits(self) -> None:
        """Draw more bits of V."""
        self._uniform.draw_more_bits()

    def bounds(self) -> tuple[Decimal, Decimal]:
        """Return a lower and an upper bound of the key that hold whatever bits are drawn later."""
        length = self._uniform.length
        with localcontext() as context:
            # E loses up to 0.302·length digits to cancellation in 1 − V, and x has fewer than 25
            # before the point; the remaining digits are far more than the slack needs.
            context.prec = 30 + 2 * math.ceil(length * math.log10(2))
            slack = Decimal(10) ** -(8 + math.ceil(length * math.log10(2)))
            x = Fraction(self._epsilon) * self._gap - Fraction(self._log_ratio)
            advantage = Decimal(x.numerator) / x.denominator
            unit = Decimal(2**length)
            low = -((unit - self._uniform.bits) / unit).ln()
            rest = unit - self._uniform.bits - 1
            high = Decimal("Infinity") if rest == 0 else -(rest / unit).ln()
            # In this arithmetic ln(0) is −Infinity and ln(Infinity) is Infinity, as intended.
            return low.ln() - advantage - slack, high.ln() - advantage + slack


def rings_before(first: Clock, second: Clock) -> bool:
    """Whether the first clock rings before the second, exactly."""
    while True:
        first_low, first_high = first.bounds()
        second_low, second_high = second.bounds()
        if first_high < second_low:
            return True
        if second_high < first_low:
            return False
        first.draw_more_bits()
        second.draw_more_bits()


def first_to_ring(gaps: Integers, epsilon: float, number: int, source: WordSource) -> Integers:
    """Return the places of the first clocks to ring, all of which have Λ = 0, in no useful order.

    Edge cases: if there are no more clocks than are asked for, nothing is drawn.
    """
    if number >= gaps.size or number == 0:
        return np.arange(min(number, gaps.size))
    return _Clocks(gaps, epsilon, 0.0, source, bottom=False).first(number)


def before_bottom(gaps: Integers, epsilon: float, log_ratio: float, source: WordSource) -> Integers:
    """Return the places of the clocks that ring before ⊥, whose x is 0, in the order of ringing."""
    return _Clocks(gaps, epsilon, log_ratio, source, bottom=True).before_bottom()


class _Clocks:
    """A clock for each gap and, last, one for ⊥: floats, and exact where these are not enough."""

    def __init__(
        self,
        gaps: Integers,
        epsilon: float,
        log_ratio: float,
        source: WordSource,
        *,
        bottom: bool,
    ) -> None:
        self._gaps, self._epsilon, self._log_ratio = gaps, epsilon, log_ratio
        self._source = source
        self._words = source.words(gaps.size + bottom)
        self._exact: dict[int, Clock] = {}
        log_e, error = read(self._words)
        gains = np.zeros(self._words.size)
        gains[: gaps.size] = epsilon * gaps
        keys = log_e - gains
        keys[: gaps.size] += log_ratio
        error += RELATIVE_ERROR * (np.abs(gains) + log_ratio)
        # One in 2^23 words says so little that its key may be anything.
        coarse = np.isinf(error)
        self._low = np.where(coarse, -math.inf, keys - np.where(coarse, 0.0, error))
        self._high = np.where(coarse, math.inf, keys + np.where(coarse, 0.0, error))

    def first(self, number: int) -> Integers:
        """Return the first ``number`` to ring, in no meaningful order."""
        # At most `number` keys can be below the (number + 1)-th lowest of the lower bounds.
        surely_in = self._high < np.partition(self._low, number)[number]
        surely_out = self._low > np.partition(self._high, number - 1)[number - 1]
        close = self._sorted(np.flatnonzero(~surely_in & ~surely_out))
        chosen = np.flatnonzero(surely_in)
        return np.concatenate([chosen, close[: number - chosen.size]])

    def before_bottom(self) -> Integers:
        """Return those that ring before ⊥, in the order of ringing."""
        while math.isinf(self._high[-1]):  # else all of them would be compared one by one
            bottom = self._clock(self._gaps.size)
            bottom.draw_more_bits()
            low, high = map(float, bottom.bounds())
            if high - low < 1:
                self._low[-1], self._high[-1] = low - READING_ERROR, high + READING_ERROR
        order = self._sorted(np.flatnonzero(self._low <= self._high[-1]))
        return order[: int(np.flatnonzero(order == self._gaps.size)[0])]

    def _sorted(self, places: Integers) -> Integers:
        """Return the places in the order of ringing, one exact comparison after the other."""
        order = sorted(places.tolist(), key=functools.cmp_to_key(self._compared))
        return np.array(order, dtype=np.int64)

    def _compared(self, first: int, second: int) -> int:
        if self._high[first] < self._low[second]:
            return -1
        if self._high[second] < self._low[first]:
            return 1
        return -1 if rings_before(self._clock(first), self._clock(second)) else 1

    def _clock(self, place: int) -> Clock:
        """Return a place's clock, the same one each time: drawn bits are kept."""
        if place not in self._exact:
            uniform = LazyUniform(int(self._words[place]), self._source)
            bottom = place == self._gaps.size
            gap, log_ratio = (0, 0.0) if bottom else (int(self._gaps[place]), self._log_ratio)
            self._exact[place] = Clock(uniform, self._epsilon, gap, log_ratio)
        return self._exact[place]
