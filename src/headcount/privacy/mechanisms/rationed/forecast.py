"""Forecasts, from noisy answers, of how many items a budget will find and can count."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from headcount.privacy.mechanisms.rationed.prices import centres, needed
from headcount.privacy.mechanisms.rationed.sizes import Floats, Sizes
from headcount.privacy.mechanisms.rationed.tuning import TUNING

#: Ranks grow by this factor, up to the most items that were ever found.
_STEP, _LAST = 1.05, 10**6


def ranks_up_to(last: int) -> Floats:
    """Return ranks from 1, in growing steps."""
    steps = math.ceil(math.log(last) / math.log(_STEP))
    return np.array(sorted({float(round(_STEP**step)) for step in range(steps + 1)}))


def countable(
    ranks: Floats,
    counts: Floats,
    sizes: Sizes,
    ration: float,
    r: float,
    hidden: Sequence[Floats | None] = (None,),
) -> list[float]:
    """Return how many of the most frequent items can be counted within users' rations.

    The chance that a user has an item is proportional to its count and to the user's number of
    items, and at most 1. The mean loss over the items must be small. Items that are too rare for
    the noise that a whole ration buys are not counted at all.

    Args:
        ranks: ranks of items.
        counts: the counts at these ranks.
        sizes: how many items users have.
        ration: a user's ration for the counts, as ρ.
        r: the target.
        hidden: the cases to forecast: how many users noise may hide in each bin beyond those
            of the sizes that stand out.

    Returns:
        A number for each case.
    """
    pairs = float(sizes.users @ sizes.items)
    if not pairs:
        return [0.0] * len(hidden)
    steps = np.diff(ranks, prepend=0.0)
    chances = np.minimum(sizes.items[:, None] * counts / pairs, 1.0)
    # A count of h costs each of its users 1/(2σ²), with σ in proportion to h.
    costs = steps / (2 * ration * (TUNING.aim / TUNING.step * r * counts) ** 2)
    full = np.cumsum(costs) + np.sqrt(ranks) * costs / steps
    rations = needed(np.cumsum(chances * costs, axis=1), full, centres(full))
    each = np.cumsum(chances * steps / counts, axis=1) / ranks
    lost_by_user = each * (1 - np.maximum(rations, 1.0) ** -0.5)
    common = counts * r >= (2 * ration) ** -0.5
    seen = np.arange(sizes.users.size) <= sizes.top
    numbers = []
    for case in hidden:
        users = sizes.users if case is None else np.where(seen, sizes.users, case)
        good = (users @ lost_by_user <= TUNING.most_loss * r) & common
        numbers.append(float(ranks[good].max(initial=0.0)))
    return numbers


def lost_at(loads: Floats, sizes: Sizes) -> Floats:
    """Return the share of all pairs that is lost, for loads given in rations over all users.

    Each user's load is proportional to their number of items. If no users are seen, all is lost.
    """
    pairs = sizes.users * sizes.items
    if not pairs.any():
        return np.ones(loads.size)
    rations = np.maximum(loads[:, None] * sizes.items / pairs.sum(), 1.0)
    losses: Floats = (1 - rations**-0.5) @ pairs / pairs.sum()
    return losses


def second_share(weights: Floats, sizes: Sizes, left: Sizes, rho: float, r: float) -> Fraction:
    """Return the share of ρ for the second round of discovery.

    It is 0 if the noisy sizes show nobody with items left. A larger share finds more items and
    leaves less for counting them.

    Args:
        weights: the noisy weights that the first round found, falling.
        sizes: how many items users had before the first round.
        left: how many they had left after it.
        rho: ρ of the release.
        r: the target.
    """
    # Nobody has more items left than the users before, so other bins are noise.
    if not left.some_up_to(sizes.top if sizes.known else sizes.last):
        return Fraction(0)
    if weights.size < TUNING.part:
        return TUNING.second_rounds[-1]
    ranks = ranks_up_to(_LAST)
    half = np.arange(weights.size // 2, weights.size)
    slope, level = np.polyfit(np.log(half + 1.0), np.log(weights[half]), 1)
    beyond = np.exp(level + slope * np.log(ranks))
    here = np.interp(ranks, np.arange(1, weights.size + 1), weights)
    falling = np.where(ranks <= weights.size, here, beyond)
    counts = falling * sizes.count_per_weight()
    # With fewer items left, users give more to each.
    grown = max(sizes.count_per_weight() / left.count_per_weight(), 1.0)
    other = 1 - TUNING.first_round - TUNING.fixed

    def promised(share: Fraction) -> float:
        # The lowest weight found is about the threshold, which is proportional to the noise.
        least = float(weights[-1] * math.sqrt(TUNING.first_round / share)) / grown
        found = max(float(ranks[falling >= least].max(initial=0.0)), float(weights.size))
        (counted,) = countable(ranks, counts, sizes, float(other - share) * rho, r)
        return min(found, counted)

    return max(TUNING.second_rounds, key=lambda share: (promised(share), -share))
