"""What a filter may spend when a promise is conditional on an event of probability near 1."""

import math
from fractions import Fraction

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost

# A ledger takes ρ as the decimal that was typed, which may be below the float by a relative 2^-53.
_MARGIN = 1 - Fraction(1, 2**50)
# Below this, a float cannot hold its inverse.
_LEAST = Fraction(1, 10**300)


def conditioned_total(budget: Budget) -> Cost:
    """Return what a filter may spend on a transcript, part of which is published given an event.

    Formal guarantee: suppose that a run publishes the same function of its transcript on both
    neighbours, on an event of the transcript that has probability at least 1 − δₛ on both, and that
    the transcript is an adaptive composition within this total. Then what the run publishes is
    δₛ-approximate ρ-CDP, for the budget's ρ and δₛ (vetting.md, "The lemma").

    Edge cases: if δₛ is so large, or ρ so small, that nothing can be promised in this way, the
    total is zero, and a filter grants nothing.
    """
    rho, delta = Fraction(budget.rho) * _MARGIN, budget.delta_selection
    # The smallest x with x·(1 + x)·ρ·(1 − δₛ) ≥ 1 costs the least; any larger x is valid too.
    product = rho * (1 - delta)
    if product < _LEAST:
        return Cost(Fraction(0), delta)
    inverse = float(1 / product)
    x = Fraction(2 * inverse / (math.sqrt(1 + 4 * inverse) + 1))
    while x * (1 + x) * product < 1:
        x *= 1 + Fraction(1, 2**30)
    return Cost(max(Fraction(0), rho * (1 - (1 + x) * delta)), delta)
