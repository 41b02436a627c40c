"""Discrete Gaussian noise: what it costs, how much of it a budget asks for, how far it reaches."""

import math
from fractions import Fraction
from statistics import NormalDist

from headcount.errors import BudgetExceededError
from headcount.privacy.accounting.rounding import float_above, quotient_above

_NORMAL = NormalDist()


def measure_cost(sigma: float, sensitivity_squared: int = 1) -> Fraction:
    """ρ of whole numbers that a user moves by so much, with noise of σ, rounded up.

    The squared norm of the move, divided by 2σ² (Canonne, Kamath, Steinke 2020).
    """
    numerator, denominator = sigma.as_integer_ratio()
    return Fraction(quotient_above(sensitivity_squared * denominator**2, 2 * numerator**2))


def ensure_covers(rho: Fraction, sigma: float, sensitivity_squared: int) -> None:
    """Refuse to ask what costs more than is about to be charged; that is a bug in a mechanism.

    Args:
        rho: what is charged.
        sigma: the noise.
        sensitivity_squared: what the view says that a user can move (`views.protocol.Sensitivity`).
    """
    if 2 * rho * Fraction(sigma) ** 2 < sensitivity_squared:
        raise BudgetExceededError("a step is charged less than what one user can move costs")


def sigma_for(rho: Fraction, sensitivity_squared: int = 1) -> float:
    """σ whose cost is at most ρ, rounded up a little."""
    return math.sqrt(float_above(sensitivity_squared / (2 * rho))) * (1 + 1e-12)


def upper_quantile(probability: Fraction | float) -> float:
    """Return a z with P[N > z] ≤ the probability, for a standard normal N.

    It is taken at the small probability, not at 1 minus it, which would lose its digits; the factor
    covers the rounding of the library, and of the probability if that is a float.
    """
    return -_NORMAL.inv_cdf(float(probability) * (1 - 1e-9))


def reach(sigma: float, probability: Fraction | float) -> int:
    """Return a whole m ≥ 1 with P[X > m] ≤ the probability, for discrete Gaussian noise X.

    P[X ≥ m + 1] ≤ P[N ≥ m] for the continuous N of the same σ (rationed.md). The factor covers the
    rounding of the product.
    """
    return max(1, math.ceil(sigma * upper_quantile(probability) * (1 + 1e-12)))


def reach_of_two(first: float, second: float, probability: Fraction) -> int:
    """Return a whole m with P[X + Y > m] ≤ the probability, for independent discrete Gaussians.

    Each is below a normal variable of the same σ plus 1 (vetting.md), so that their sum is below a
    normal variable plus 2. Rounding as in `reach`.
    """
    quantile = upper_quantile(probability)
    return math.ceil(2 + math.hypot(first, second) * quantile * (1 + 1e-12))
