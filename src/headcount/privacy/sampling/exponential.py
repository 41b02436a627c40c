"""exp(−a): between two whole numbers in integer arithmetic, and in floats with a bounded error."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The sums below lose far less than 2^16 units to rounding.
_GUARD_BITS = 16


def exp_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Return whole numbers that bracket 2^bits·exp(−exponent), for an exponent of at least 0.

    Formal guarantee: low ≤ 2^bits·exp(−exponent) ≤ high, whatever the arguments. Every step is in
    integers and rounded outwards (sampling.md, "Bounds"). The two are at most 2 apart.

    Edge cases: at 0 both are 2^bits; for an exponent of ``bits`` or more they are 0 and 1.
    """
    if exponent == 0:
        return 1 << bits, 1 << bits
    if exponent >= bits:  # exp(−bits) < 2^−bits
        return 0, 1
    halvings = math.floor(exponent).bit_length() + 1
    # Each squaring at most doubles the error, and there are ``halvings`` of them.
    scale = bits + halvings + _GUARD_BITS
    # y = exponent/2^halvings < 1/2, in units of 2^−scale, rounded down.
    y = (exponent.numerator << scale) // (exponent.denominator << halvings)
    least, _ = _exp_of_small(y, scale)
    _, most = _exp_of_small(y + 1, scale)
    low, high = (1 << 2 * scale) // most, up(1 << 2 * scale, least)
    for _ in range(halvings):
        low, high = low * low >> scale, up(high * high, 1 << scale)
    return low >> (scale - bits), up(high, 1 << (scale - bits))


def up(dividend: int, divisor: int) -> int:
    """Return a quotient of whole numbers, rounded up."""
    return -(-dividend // divisor)


def _exp_of_small(y: int, scale: int) -> tuple[int, int]:
    """Return whole numbers that bracket 2^scale·exp(y/2^scale), for 0 ≤ y/2^scale ≤ 3/4.

    The terms y^n/n! are rounded down in one sum and up in the other. From the second on, each is
    less than half the one before it, so all those left out add up to less than the last one.
    """
    low = high = term_low = term_high = 1 << scale
    number = 0
    while term_high > 1:
        number += 1
        term_low = term_low * y // (number << scale)
        term_high = up(term_high * y, number << scale)
        low, high = low + term_low, high + term_high
    return low, high + term_high


# exp(−30) < 2^−43 is as good as 0 here.
_LARGEST_EXPONENT = 30.0
_HALVINGS = 6
# Taylor coefficients of exp(−y), from the highest power down, for y ≤ 30/2^6.
_COEFFICIENTS = [(-1) ** n / math.factorial(n) for n in range(7, -1, -1)]
#: The most that floats are off by: twice what sampling.md derives.
FLOAT_ERROR = 2.0**-41


def exp_of_minus(exponents: Floats) -> Floats:
    """Return exp(−a) for each a ≥ −2^−43, off by at most `FLOAT_ERROR`; ``inf`` gives about 0.

    Only sums, products and a minimum are used, which IEEE 754 defines to the last bit. A library's
    exp differs from platform to platform (sampling.md, "Floats").
    """
    y = np.minimum(exponents, _LARGEST_EXPONENT)
    y *= 2.0**-_HALVINGS
    result = np.full_like(y, _COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        result *= y
        result += coefficient
    for _ in range(_HALVINGS):
        result *= result
    return result
