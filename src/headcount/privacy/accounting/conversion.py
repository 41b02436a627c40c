"""Tight conversion between concentrated and approximate differential privacy, both ways.

A δₛ-approximate ρ-CDP mechanism is (ε, δ)-DP if, for some α > 1,

    δ ≥ δₛ + (1 − δₛ) · exp((α−1)(αρ−ε)) · (1−1/α)^α / (α−1)

(Canonne, Kamath, Steinke 2020, corollary 13, applied to the good part of the mixture).
Solved for ε or for ρ at a fixed α, this is ``_epsilon_at`` or ``_rho_at`` below, with
δ' = (δ − δₛ)/(1 − δₛ). **Any** α gives a valid answer, so an optimiser that stops early
costs a little accuracy and never privacy.

The simple form ε = ρ + 2·sqrt(ρ·ln(1/δ')) is looser. The paper's last theorem prints it
without the ρ under the root; that is not a bound for ρ > 1.
"""

import math
from collections.abc import Callable

# Floating-point error of the formulas below is a few ulp of their largest term;
# the results are moved by this relative amount in the safe direction.
_SAFETY = 1e-12

# ln(α − 1) is searched for on this range: α from 1 + 2e-16 to 1e30.
_LOW, _HIGH = -36.0, 69.0


def epsilon_of(rho: float, delta: float, delta_selection: float = 0.0) -> float:
    """Return the smallest ε for which δₛ-approximate ρ-CDP is known to give (ε, δ)-DP.

    Formal guarantee: a mechanism that is ``delta_selection``-approximate ``rho``-CDP is
    (ε, ``delta``)-DP for the returned ε (rounded up).
    """
    delta_left = _delta_left(delta, delta_selection)
    best = -_maximise(lambda x: -_epsilon_at(x, rho, delta_left))
    return max(0.0, best + _SAFETY * (abs(best) + rho))


def rho_of(epsilon: float, delta: float, delta_selection: float = 0.0) -> float:
    """Return the largest ρ whose tight conversion stays within (ε, δ).

    Formal guarantee: a mechanism that is ``delta_selection``-approximate CDP with the
    returned ρ (rounded down) is (``epsilon``, ``delta``)-DP.
    """
    delta_left = _delta_left(delta, delta_selection)
    best = _maximise(lambda x: _rho_at(x, epsilon, delta_left))
    return best * (1 - _SAFETY)


def chance_beyond(epsilon: float, rho: float, delta: float, delta_selection: float = 0.0) -> float:
    """Return how often, at most, a release changes the odds of two neighbours by more than e^ε.

    Formal guarantee: of a δₛ-approximate ρ-CDP mechanism, on either neighbour, the privacy loss
    leaves [−ε, ε] with at most this probability (budget.md, "What δ is", which ``delta`` is not).

    Edge cases: it is 1 unless ρ and a δ' above ``delta`` give an ε' below ε.
    """
    best = 1.0
    while (delta := delta * 1.1) < best:  # every δ' is valid; beyond the best, none is better
        below = epsilon_of(rho, delta, delta_selection)
        if below < epsilon:
            one_sided = delta / -math.expm1(below - epsilon)
            best = min(best, one_sided * (1 + math.exp(-epsilon)) * (1 + _SAFETY))
    return best


def _delta_left(delta: float, delta_selection: float) -> float:
    if not 0 <= delta_selection < delta < 1:
        raise ValueError("needs 0 <= delta_selection < delta < 1")
    return (delta - delta_selection) / (1 - delta_selection) * (1 - _SAFETY)


def _epsilon_at(log_order: float, rho: float, delta: float) -> float:
    """ε at α = 1 + exp(log_order)."""
    excess = math.exp(log_order)
    order = 1 + excess
    shrink = -math.log1p(1 / excess)  # ln(1 − 1/α)
    return order * rho + shrink - (math.log(order) + math.log(delta)) / excess


def _rho_at(log_order: float, epsilon: float, delta: float) -> float:
    """ρ at α = 1 + exp(log_order): ``_epsilon_at`` solved for ρ."""
    return (epsilon - _epsilon_at(log_order, 0.0, delta)) / (1 + math.exp(log_order))


def _maximise(function: Callable[[float], float]) -> float:
    """Return the largest value of a unimodal function that a bracketing search finds."""
    steps = 210
    points = [_LOW + (_HIGH - _LOW) * i / steps for i in range(steps + 1)]
    best = max(range(steps + 1), key=lambda i: function(points[i]))
    low, high = points[max(best - 1, 0)], points[min(best + 1, steps)]
    for _ in range(100):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if function(left) < function(right):
            low = left
        else:
            high = right
    return max(function((low + high) / 2), function(points[best]))
