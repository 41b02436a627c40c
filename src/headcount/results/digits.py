"""The digits that mean something: three of a standard error, and an interval to the same place.

A standard error says how far the digits of a count can be trusted. Three digits of it, rounded up,
overstate it by at most 1 %. The rounded numbers are what is published, in every form alike, so that
all forms have one fingerprint. It is post-processing. A standard error is rounded up and an
interval outwards, so that a release never claims to be more precise than it is.
"""

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.mechanisms.base import COUNT

_SIGNIFICANT = 3
# No noise is smaller: amounts are multiples of 2⁻¹⁵⁸ at least. An error of 0 is taken to be this.
_LEAST_ERROR = 1e-50
# Floats from here on are whole numbers, and have no digits to lose.
_WHOLE_FROM = 2.0**53

#: A number for people to read has one more decimal for each of these that its standard error is
#: below, so that two digits of the error are shown, and all the whole ones.
DECIMALS_BELOW = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001)
#: If its error is below the first of these, or it reaches the second, it is shown with an exponent.
EXPONENTS = (0.00001, 1e16)

Floats = NDArray[np.float64]


def for_people(value: object, error: object) -> str:
    """Write a released number with the digits that its standard error leaves it.

    Whole numbers keep all of theirs. Where no error is known, one decimal is shown.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(error, int | float) or not error > 0:
        return _fixed(value, 1)
    if error < EXPONENTS[0] or abs(value) >= EXPONENTS[1]:
        size, exponent = f"{value:.4e}".split("e")
        return f"{size}e{int(exponent):+d}"
    return _fixed(value, sum(error < step for step in DECIMALS_BELOW))


def _fixed(value: float, decimals: int) -> str:
    """Write a number with that many decimals, halves rounded away from 0, as a browser does."""
    if not math.isfinite(value):
        return str(value)
    with localcontext() as context:
        context.prec = 400  # a float has no more digits before the point
        rounded = Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return f"{rounded:,f}"


def errors_of(columns: Sequence[str]) -> dict[str, str]:
    """Return, for each column with a released number, the column with its standard error."""
    found: dict[str, str] = {}
    for name in columns:
        prefix = "" if name == COUNT else f"{name}_"
        error, noisy_error = f"{prefix}std_error", f"{prefix}noisy_std_error"
        if error in columns:
            found |= dict.fromkeys((name, error, f"{prefix}lower", f"{prefix}upper"), error)
            found |= dict.fromkeys((f"noisy_{name}", noisy_error), noisy_error)
    return {name: error for name, error in found.items() if {name, error} <= set(columns)}


def rounded_interval(errors: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Floats, Floats]:
    """Return standard errors with three digits, and lower and upper limits to the same place."""
    decimals = _decimals(errors)
    return (
        0.0 - _floor(-errors, decimals),
        _floor(lower, decimals),
        0.0 - _floor(-upper, decimals),
    )


def _decimals(errors: Floats) -> NDArray[np.int64]:
    """Return how many decimals a number with such an error has; below 0 for tens and so on."""
    size = np.floor(np.log10(np.maximum(errors, _LEAST_ERROR)))
    decimals: NDArray[np.int64] = (_SIGNIFICANT - 1 - size).astype(int)
    return decimals


def _floor(values: Floats, decimals: NDArray[np.int64]) -> Floats:
    """Return values rounded down; each is the float that is nearest to the decimal."""
    scale = 10.0 ** np.abs(decimals)
    scaled = np.where(decimals >= 0, values * scale, values / scale)
    # A value that already has so few digits must not lose one to the arithmetic.
    near = np.rint(scaled)
    exact = np.where(decimals >= 0, near / scale, near * scale) == values
    whole = np.where(exact, near, np.floor(scaled))
    rounded = np.where(decimals >= 0, whole / scale, whole * scale)
    return np.where(np.abs(scaled) < _WHOLE_FROM, rounded, values) + 0.0  # no minus zero
