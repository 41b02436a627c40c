"""Discrete Gaussian noise: what it costs, how much of it a budget requires, how far it reaches."""

import math
from fractions import Fraction
from statistics import NormalDist

from headcount.privacy.accounting.rounding import float_above, quotient_above

_NORMAL = NormalDist()


def measure_cost(sigma: float, sensitivity_squared: int = 1) -> Fraction:
    """ρ of whole numbers of this squared sensitivity, released with noise of σ, rounded up.

    The squared l2 sensitivity, divided by 2σ² (Canonne, Kamath, Steinke 2020).
    """
    numerator, denominator = sigma.as_integer_ratio()
    return Fraction(quotient_above(sensitivity_squared * denominator**2, 2 * numerator**2))


def sigma_for(rho: Fraction, sensitivity_squared: int = 1) -> float:
    """σ whose cost is at most ρ, rounded up a little."""
    return math.sqrt(float_above(sensitivity_squared / (2 * rho))) * (1 + 1e-12)


def upper_quantile(probability: Fraction | float) -> float:
    """Return a z with P[N > z] ≤ the probability, for a standard normal N.

    It is computed from the small probability itself, as 1 minus it would lose its digits; the
    factor covers the library's rounding, and that of the probability if it is a float.
    """
    return -_NORMAL.inv_cdf(float(probability) * (1 - 1e-9))


def reach(sigma: float, probability: Fraction | float) -> int:
    """Return a whole m ≥ 1 with P[X > m] ≤ the probability, for discrete Gaussian noise X.

    P[X ≥ m + 1] ≤ P[N ≥ m] for the continuous N with the same σ (rationed.md). The factor covers
    the rounding of the product.
    """
    return max(1, math.ceil(sigma * upper_quantile(probability) * (1 + 1e-12)))


def reach_of_two(first: float, second: float, probability: Fraction) -> int:
    """Return a whole m with P[X + Y > m] ≤ the probability, for independent discrete Gaussians.

    Each is stochastically below a normal variable of the same σ plus 1 (vetting.md), so their sum
    is below a normal variable plus 2. Rounding as in `reach`.
    """
    quantile = upper_quantile(probability)
    return math.ceil(2 + math.hypot(first, second) * quantile * (1 + 1e-12))
