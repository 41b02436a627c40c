"""What the rounds of a vetted release look like: chosen, for free, from what was paid for.

Sizes are counts above the cut-off c. A round is made for items of a given size: nearly all of them
are nominated, and most of these pass their test.
"""

import math
from fractions import Fraction

from headcount.privacy.accounting.gaussian import upper_quantile
from headcount.privacy.mechanisms.pcr.vetting import Round

#: The most rounds, each with the same part of δ. Runs take 15 to 60 of them; twice as many rounds
#: would raise a bound by 1 %.
ROUNDS = 96
#: An item of the size that a round is made for is nominated with this probability.
NOMINATED = 0.99
# The m-th of k̄ equal clocks rings at about m/k̄; a clock with e^a times the rate k̄/m has rung by
# then with probability 1 − exp(−e^a).
_ABOVE = math.log(-math.log(1 - NOMINATED))
#: Where the bound of a test lies, as a share of the size (measured: vetting.md).
BOUND_AT = 0.85
# In doubled counts, the bound is 4 and half a unit of rounding above its quantile.
_OFFSET = 2.25
# Less noise than this buys nothing.
_LEAST_SIGMA = 0.5


def plan_round(
    size: float, nominations: int, retests: int, k_bar: int, delta: Fraction
) -> Round | None:
    """Return the round for items of a size above the cut-off; None if the size is too small."""
    tests = nominations + retests
    room = BOUND_AT * size - _OFFSET
    if not tests or room <= 0:
        return None
    share = cutoff_share(tests)
    sigma = room / (upper_quantile(delta / tests) * math.sqrt(1 + share))
    if sigma < _LEAST_SIGMA:
        return None
    return Round(
        epsilon=nomination_epsilon(size, max(1, nominations), k_bar),
        nominations=nominations,
        tests=tests,
        sigma=sigma,
        cutoff_sigma=sigma * math.sqrt(share),
        delta=delta,
    )


def cutoff_share(tests: int) -> float:
    """Return the variance of the cut-off's noise as a multiple of a test's.

    T tests and a cut-off cost (T/σ² + 1/σ₀²)/8, and the bound depends on σ² + σ₀²; with σ₀² = κ·σ²
    that costs the least at κ = 1/√T.
    """
    return 1 / math.sqrt(tests)


def nomination_epsilon(size: float, nominations: int, k_bar: int) -> float:
    """Return ε at which items of a size above the cut-off are nominated as often as intended."""
    return (math.log(k_bar / nominations) + _ABOVE) / max(size, 1.0)
