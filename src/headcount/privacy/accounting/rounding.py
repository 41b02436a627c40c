"""Rounding that can only err on the safe side.

Costs and thresholds are real numbers; floats are not. Each is rounded once, here, in the direction
that keeps the guarantee true, and is an exact rational from then on.
"""

import math
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction


def float_above(value: Fraction) -> float:
    """Return the smallest float that is not below ``value``."""
    return quotient_above(value.numerator, value.denominator)


def quotient_above(dividend: int, divisor: int) -> float:
    """Return the smallest float not below a quotient of whole numbers, for a divisor above 0.

    Python rounds the quotient to the nearest float; integer arithmetic tells on which side that is.
    """
    nearest = dividend / divisor
    numerator, denominator = nearest.as_integer_ratio()
    above = numerator * divisor >= dividend * denominator
    return nearest if above else math.nextafter(nearest, math.inf)


def float_below(value: Fraction) -> float:
    """Return the largest float that is not above ``value``."""
    return 0.0 - float_above(-value)  # which is never minus zero


def shown_above(value: float, digits: int = 6) -> str:
    """Write a positive number with few digits, rounded so that it does not look smaller."""
    with localcontext() as context:
        context.prec, context.rounding = digits, ROUND_CEILING
        return f"{float(+Decimal(repr(value))):.{digits}g}"


def log_above(value: Fraction) -> float:
    """Return a float that is not below ``ln(value)`` and within 2 ulp of it."""
    with localcontext() as context:
        context.prec = 50
        # The quotient and the logarithm are each correctly rounded to 50 digits: their errors are
        # far below half the gap to the next float, and a whole gap is added.
        logarithm = (Decimal(value.numerator) / Decimal(value.denominator)).ln()
        return math.nextafter(float(logarithm), math.inf)
