"""How many items a budget will find, and how many it can count: forecasts from noisy answers."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from headcount.privacy.mechanisms.rationed.prices import centres, needed
from headcount.privacy.mechanisms.rationed.sizes import Floats, Sizes
from headcount.privacy.mechanisms.rationed.tuning import TUNING

#: Ranks are gone through in steps of this, up to as many items as were ever found.
_STEP, _LAST = 1.05, 10**6


def ranks_up_to(last: int) -> Floats:
    """Return ranks from 1 on, in growing steps."""
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
    """Return how many of the most frequent items users can be counted for within their ration.

    A user has an item with a chance in proportion to its count and to how many items they have in
    all, or for certain. Little may be lost, on average over the items. Rarer ones than the noise of
    a whole ration allows are not counted at all.

    Args:
        ranks: of the items.
        counts: at these ranks.
        sizes: how many items users have.
        ration: ρ that a user has for them.
        r: the target.
        hidden: cases that are asked about: how many users noise may hide in each bin beyond those
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
    costs = steps / (2 * ration * (TUNING.forecast_aim * r * counts) ** 2)
    full = np.cumsum(costs) + np.sqrt(ranks) * costs / steps
    rations = needed(np.cumsum(chances * costs, axis=1), full, centres(full))
    each = np.cumsum(chances * steps / counts, axis=1) / ranks
    lost_by_user = each * (1 - np.maximum(rations, 1.0) ** -0.5)
    common = counts * r >= (2 * ration) ** -0.5
    seen = np.arange(sizes.users.size) <= sizes.top
    numbers = []
    for case in hidden:
        users = sizes.users if case is None else np.where(seen, sizes.users, case)
        good = (users @ lost_by_user <= TUNING.forecast_loss) & common
        numbers.append(float(ranks[good].max(initial=0.0)))
    return numbers


def lost(loads: Floats, sizes: Sizes) -> Floats:
    """Return what share of all pairs is lost if users are asked for so many rations in all.

    A user is asked in proportion to how many items they have. Where no users are seen, all is lost.
    """
    pairs = sizes.users * sizes.items
    if not pairs.any():
        return np.ones(loads.size)
    rations = np.maximum(loads[:, None] * sizes.items / pairs.sum(), 1.0)
    losses: Floats = (1 - rations**-0.5) @ pairs / pairs.sum()
    return losses


def second_share(weights: Floats, sizes: Sizes, left: Sizes, rho: float, r: float) -> Fraction:
    """Return what share of ρ the second round of discovery is worth: 0 if nobody has items left.

    More of it finds more items and leaves less to count them with.

    Args:
        weights: the noisy weights that the first round found, falling.
        sizes: how many items users had before the first round.
        left: and after it.
        rho: ρ of the release.
        r: the target.
    """
    if not left.known:
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
    # Users give more to each of fewer items.
    grown = max(sizes.count_per_weight() / left.count_per_weight(), 1.0)
    other = 1 - TUNING.first_round - TUNING.fixed

    def promised(share: Fraction) -> float:
        # The lowest weight found is about the threshold, which is in proportion to the noise.
        least = float(weights[-1] * math.sqrt(TUNING.first_round / share)) / grown
        found = max(float(ranks[falling >= least].max(initial=0.0)), float(weights.size))
        (counted,) = countable(ranks, counts, sizes, float(other - share) * rho, r)
        return min(found, counted)

    return max(TUNING.second_rounds, key=lambda share: (promised(share), -share))
