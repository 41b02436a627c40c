"""Discrete Gaussian noise: what it costs, how much of it a budget asks for, how far it reaches."""

import math
from fractions import Fraction
from statistics import NormalDist

from headcount.privacy.accounting.rounding import float_above


def measure_cost(sigma: float, sensitivity_squared: int = 1) -> Fraction:
    """ρ of whole numbers that a user moves by so much, with noise of σ, rounded up.

    The squared norm of the move, divided by 2σ² (Canonne, Kamath, Steinke 2020).
    """
    return Fraction(float_above(sensitivity_squared / (2 * Fraction(sigma) ** 2)))


def sigma_for(rho: Fraction, sensitivity_squared: int = 1) -> float:
    """σ whose cost is at most ρ, rounded up a little."""
    return math.sqrt(float_above(sensitivity_squared / (2 * rho))) * (1 + 1e-12)


def reach(sigma: float, probability: Fraction) -> int:
    """Return a whole m ≥ 1 with P[X > m] ≤ the probability, for discrete Gaussian noise X.

    P[X ≥ m + 1] ≤ P[N ≥ m] for the continuous N of the same σ (rationed.md). The quantile is taken
    at the small probability, not at 1 minus it, which would lose its digits; the factors cover the
    rounding of the library.
    """
    quantile = -NormalDist().inv_cdf(float(probability) * (1 - 1e-9))
    return max(1, math.ceil(sigma * quantile * (1 + 1e-12)))
