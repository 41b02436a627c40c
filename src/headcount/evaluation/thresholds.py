"""Noise and thresholds of the methods that bound each user's contribution.

If a user has t items that no other user has, t noisy values would be absent without this user. The
probability that any of them exceeds the threshold must be at most δ. As the noise is independent,
each may exceed it with probability 1 − (1 − δ)^(1/t).
"""

import functools
import math
from statistics import NormalDist

_NORMAL = NormalDist()


def share_of_delta(delta: float, items: int) -> float:
    """Return the p with 1 − (1 − p)^items = δ."""
    return -math.expm1(math.log1p(-delta) / items)


def gaussian_sigma(l2_sensitivity: float, rho: float) -> float:
    """Return the σ for which Gaussian noise is ρ-CDP: Δ₂/√(2ρ) (Bun & Steinke 2016)."""
    return l2_sensitivity / math.sqrt(2 * rho)


def gaussian_threshold(sigma: float, max_items_per_user: int, delta: float) -> float:
    """Return 1 + σ·Φ⁻¹((1 − δ)^(1/m)), for users who add 1 to the counts of up to m items."""
    return 1 + sigma * _upper_quantile(share_of_delta(delta, max_items_per_user))


def laplace_scale(max_items_per_user: int, rho: float) -> float:
    """Return b = m/ε with ε = √(2ρ): ε-DP is ε²/2-CDP (Bun & Steinke 2016)."""
    return max_items_per_user / math.sqrt(2 * rho)


def laplace_threshold(scale: float, max_items_per_user: int, delta: float) -> float:
    """Return 1 − b·ln(2 − 2(1 − δ)^(1/m)) (Wilson et al. 2020, theorem 2)."""
    return 1 - scale * math.log(2 * share_of_delta(delta, max_items_per_user))


@functools.lru_cache(maxsize=1024)
def weighted_threshold(sigma: float, max_items_per_user: int, delta: float) -> float:
    """Return the maximum over t ≤ m of 1/√t + σ·Φ⁻¹((1 − δ)^(1/t)) (Gopi et al. 2020).

    This is for users who add 1/√t to each of their t items.
    """
    return max(
        1 / math.sqrt(t) + sigma * _upper_quantile(share_of_delta(delta, t))
        for t in range(1, max_items_per_user + 1)
    )


def _upper_quantile(probability: float) -> float:
    """Return the x that a standard normal variate exceeds with this probability.

    Computed as minus the lower quantile, as 1 − p would lose the digits of a small p.
    """
    return -_NORMAL.inv_cdf(probability)
