"""A first look where the number of users is known: N, and what look.py buys, centred."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.gaussian import sigma_for
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.centred import UserCount, centred
from headcount.privacy.mechanisms.pcr.forecast import forecast
from headcount.privacy.mechanisms.pcr.look import (
    SMALLEST_K_BAR,
    RankCurve,
)
from headcount.privacy.mechanisms.pcr.settings import Settings
from headcount.privacy.mechanisms.posterior import nonnegative_posterior_mean

#: The shares of ρ that the number of users and the counts at ranks cost.
USERS = Fraction(1, 100)
SHARE = Fraction(1, 200)


def ranks_looked_at(settings: Settings) -> tuple[int, ...]:
    """Return the settings' ranks, and the first, without which few items look like none."""
    return tuple(sorted({1, *settings.ranks})) if settings.ranks else ()


@dataclass(frozen=True)
class CentredLook:
    """What the look bought, and what follows from it.

    Attributes:
        users: the number of users, which can be measured again.
        seen: noisy counts at ranks, none if there are no ranks to look at.
        sigma: the standard error of each.
        k_bar: k̄, how many candidates to consider.
        promised: how many items a vetted release is expected to give.
    """

    users: UserCount
    seen: dict[int, float]
    sigma: float
    k_bar: int
    promised: int

    def curve(self) -> RankCurve:
        """Return how counts fall with their rank.

        Counts at far ranks may be below the noise; a line through the noise would lead anywhere.
        """
        return _curve(self.seen, self.sigma)


def centred_look(
    top: Sequence[int] | NDArray[np.int64],
    floor: int,
    users: int,
    settings: Settings,
    budget: Budget,
    gate: Gate,
) -> CentredLook:
    """Buy the number of users, and counts at ranks.

    Formal guarantee: N costs 1/(2σ²). The count at a fixed rank moves by 0 or by 1 with a user
    (look.md), so that twice it minus N moves by exactly 1, and R of them cost R/(8σ²) together.

    Args:
        top: the counts in falling order, at least down to the largest rank if there are that many.
        floor: the count that stands for whatever is beyond the end of the list.
        users: N, the number of users who have an item.
        settings: which ranks.
        budget: that of the whole release, of which `USERS` and `SHARE` are used.
        gate: answers with noise.
    """
    number = UserCount(users, gate)
    total = gate.left.rho
    if not total:
        return CentredLook(number, {}, math.inf, settings.k_bar, 0)
    number.measure(sigma_for(USERS * total))
    ranks = ranks_looked_at(settings)
    if not ranks:
        return CentredLook(number, {}, math.inf, settings.k_bar, 0)
    sigma = sigma_for(SHARE * total, len(ranks)) / 2
    true = [int(top[rank - 1]) if rank <= len(top) else floor for rank in ranks]
    noisy = centred(true, users, sigma, gate, "looking at counts at a few ranks")
    seen = dict(zip(ranks, ((noisy + number.estimate) / 2).tolist(), strict=True))
    error = math.sqrt(sigma**2 + number.halved_variance)
    curve = _curve(seen, error)
    options = [rank for rank in ranks if rank >= SMALLEST_K_BAR] or [settings.k_bar]
    promised = {k_bar: forecast(k_bar, curve, settings.r, budget) for k_bar in options}
    k_bar = max(options, key=lambda option: (promised[option], -option))
    return CentredLook(number, seen, error, k_bar, promised[k_bar])


def _curve(seen: dict[int, float], sigma: float) -> RankCurve:
    return RankCurve(
        {rank: nonnegative_posterior_mean(count, sigma) for rank, count in seen.items()}
    )
