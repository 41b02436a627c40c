"""Exponential clocks that are compared exactly, however close they come.

In a race every runner i has a clock that rings at time E_i/w_i, with E_i exponential of mean 1
and w_i = exp(x_i) its weight. −ln(E_i) is a Gumbel variate, so "the clock rings before" is what
the paper calls "score plus Gumbel noise is larger". Clocks are compared by

    key = ln(E) − x,        E = −ln(1 − V),  V uniform on (0, 1),

where V is a string of fair bits, and only as many of them are drawn as a comparison needs.
The first 64 are read in floating point with a bound on the error (`read`). If two keys are
closer than their bounds, more bits are drawn and compared in decimal arithmetic (`rings_before`).
So no comparison is decided by rounding, and V has full precision where it is tiny, which is
where δ lives.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.sampling.uniform import LazyUniform, Words

Floats = NDArray[np.float64]

# Words nearer than this to 0 or to 2^64 leave V or 1 − V with fewer than 40 good bits. They are
# given an infinite error bound, so that every comparison with them draws more bits.
_COARSE = np.uint64(2**40)
# Below this, which is V < 1/64, 1 − V as a float has lost too many digits of V.
_SMALL = np.uint64(2**58)

# The error of ln(E) for a word that is not coarse: at most 1.5·2^-40 from the bits not drawn yet
# (relative error of V or 1 − V), and less than 2^-45 from floating point.
READING_ERROR = 2.0**-38
_NARROW = Decimal(2) ** -38
# A float key also carries the rounding of x = ε·(h − 1 − c) − Λ, a few ulp of its terms.
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
    """A clock that rings at E/exp(x), with x = ε·gap − Λ exactly.

    E is the sum of −ln(1 − V_j)/d_j over its terms: one term with d = 1 for a single clock, and k
    terms with d = n, n−1, …, n−k+1 for the k-th to ring of n equal clocks (Rényi).
    """

    __slots__ = ("_epsilon", "_gap", "_log_ratio", "_terms")

    def __init__(
        self, terms: list[tuple[LazyUniform, int]], epsilon: float, gap: int, log_ratio: float
    ) -> None:
        self._terms = terms
        self._epsilon = epsilon
        self._gap = gap
        self._log_ratio = log_ratio

    def draw_more_bits(self) -> None:
        """Draw more bits of every V."""
        for uniform, _ in self._terms:
            uniform.draw_more_bits()

    def bounds(self) -> tuple[Decimal, Decimal]:
        """Return a lower and an upper bound of the key that hold whatever bits are drawn later."""
        shortest = min(uniform.length for uniform, _ in self._terms)
        longest = max(uniform.length for uniform, _ in self._terms)
        with localcontext() as context:
            # E loses up to 0.302·longest digits to cancellation in 1 − V, and x has fewer than 25
            # before the point; the remaining digits are far more than the slack needs.
            context.prec = 30 + 2 * math.ceil(longest * math.log10(2))
            slack = Decimal(10) ** -(8 + math.ceil(shortest * math.log10(2)))
            x = Fraction(self._epsilon) * self._gap - Fraction(self._log_ratio)
            advantage = Decimal(x.numerator) / x.denominator
            low = high = Decimal(0)
            for uniform, divisor in self._terms:
                unit = Decimal(2**uniform.length)
                low -= ((unit - uniform.bits) / unit).ln() / divisor
                rest = unit - uniform.bits - 1
                high += Decimal("Infinity") if rest == 0 else -((rest / unit).ln()) / divisor
            # In this arithmetic ln(0) is −Infinity and ln(Infinity) is Infinity, as intended.
            return low.ln() - advantage - slack, high.ln() - advantage + slack

    def reading(self) -> tuple[float, float]:
        """Return the key as a float and a bound on its error, drawing bits until it is small."""
        while True:
            low, high = self.bounds()
            if high - low < _NARROW:
                # Halving and conversion to float add an error smaller than READING_ERROR.
                return float((low + high) / 2), float(high - low) + READING_ERROR
            self.draw_more_bits()


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
