"""A first look at the histogram, which is paid for: how many candidates to consider.

A larger k̄ lowers the cut-off c, which adds to every threshold, and raises ln(k̄/δ*), which
multiplies it. Which of the two matters more depends on the data, so a little of the budget buys
the counts at a few fixed ranks (look.md), and k̄ is a function of what was bought.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.gaussian import sigma_for
from headcount.privacy.accounting.sensitivity import Together
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.schedule import delta_star
from headcount.privacy.mechanisms.pcr.settings import SIGMAS_WITHIN_TARGET, Settings

#: The share of ρ that the look may cost.
SHARE = Fraction(1, 100)


def look_sigma(settings: Settings, budget: Budget) -> float:
    """σ of the noise in the counts at the settings' ranks."""
    return sigma_for(SHARE * budget.rho_for_filter, len(settings.ranks))


def counts_at_ranks(
    top: Sequence[int] | NDArray[np.int64],
    floor: int,
    settings: Settings,
    budget: Budget,
    gate: Gate,
) -> dict[int, int]:
    """Return noisy counts at the settings' ranks; with no ranks, nothing is paid.

    Formal guarantee: the count at a fixed rank moves by at most 1 with a user, so all of them
    together cost their number divided by 2σ² (look.md).

    Args:
        top: the counts in falling order, at least down to the largest rank if there are that many.
        floor: the count that stands for whatever is beyond the end of the list.
        settings: which ranks.
        budget: that of the whole release, of which `SHARE` is used.
        gate: answers with noise.
    """
    ranks = settings.ranks
    if not ranks:
        return {}
    sigma = look_sigma(settings, budget)
    true = [int(top[rank - 1]) if rank <= len(top) else floor for rank in ranks]
    noisy = gate.noisy(lambda: true, Together(len(ranks)), sigma)
    return dict(zip(ranks, noisy.tolist(), strict=True))


class RankCurve:
    """A histogram that falls as a power of the rank between noisy counts at a few ranks."""

    def __init__(self, seen: Mapping[int, float]) -> None:
        self._logs: list[tuple[float, float]] = []
        lowest = math.inf
        for rank in sorted(seen):
            lowest = max(min(lowest, float(seen[rank])), 0.5)
            self._logs.append((math.log(rank), math.log(lowest)))

    def count_at(self, rank: float) -> float:
        """Return the count at a rank."""
        x = math.log(rank)
        for (left, high), (right, low) in pairwise(self._logs):
            if x <= right:
                # Towards the very top it keeps rising at the slope of the first stretch.
                return math.exp(high + (x - left) / (right - left) * (low - high))
        return math.exp(self._logs[-1][1])


#: Ranks below this only show how the histogram falls.
SMALLEST_K_BAR = 10_000
#: The factor by which ranks are stepped through.
STEP = 1.05


def choose_k_bar(seen: dict[int, int], settings: Settings, budget: Budget) -> tuple[int, int]:
    """Return k̄, one of the ranks looked at, and the number of items that it promises.

    Post-processing: for each k̄, an item with H users costs (Λ·H/(H−c))²/8 for the pick and the
    rest for its noisy count, and the budget runs out somewhere.
    """
    if not seen:
        return settings.k_bar, 0
    falling = RankCurve(seen)
    options = [rank for rank in seen if rank >= SMALLEST_K_BAR] or [settings.k_bar]
    promised = {k_bar: _items_for(k_bar, falling, settings, budget) for k_bar in options}
    k_bar = max(options, key=lambda option: (promised[option], -option))
    return k_bar, promised[k_bar]


def _items_for(k_bar: int, falling: RankCurve, settings: Settings, budget: Budget) -> int:
    cutoff = falling.count_at(k_bar)
    log_ratio = math.log(k_bar / delta_star(settings, budget))
    measuring = 1 / (2 * (settings.noise * settings.r / SIGMAS_WITHIN_TARGET) ** 2)
    spent, before, rank = 0.0, 0, 1
    while rank < k_bar:
        above = falling.count_at(rank) - cutoff
        if above <= 0:
            break
        spent += (rank - before) * (log_ratio**2 / 8 + measuring) / above**2
        if spent > budget.rho:
            break
        before, rank = rank, max(rank + 1, int(rank * STEP))
    return before
