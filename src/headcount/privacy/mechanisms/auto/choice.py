"""Which of two mechanisms promises more items: a choice from released values only.

Private Count Release pays for every released item as if one user had them all; a rationed release
pays for each user's own items, but must find them by weights that are small if users have many.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import PrivacyFilter
from headcount.privacy.mechanisms.pcr.look import (
    STEP,
    RankCurve,
    choose_k_bar,
    counts_at_ranks,
    look_sigma,
    nonnegative_posterior_mean,
)
from headcount.privacy.mechanisms.pcr.private_count_release import (
    ReleasedCounts,
    private_count_release,
)
from headcount.privacy.mechanisms.pcr.settings import Settings
from headcount.privacy.mechanisms.rationed.queries import PaidQueries
from headcount.privacy.mechanisms.rationed.rationed_release import RationedCounts, rationed_release
from headcount.privacy.mechanisms.rationed.sizes import Sizes
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from headcount.privacy.randomness import Entropy
from headcount.views.protocol import Population

# A weight must exceed its noise by about this many σ to be found (rationed.md, threshold).
FOUND_AT = 6.6
# In the second round users have fewer items left, so that each weighs more.
SECOND_ROUND = 0.6
# How much of the pairs must count in full; what is not proportional to a user's size is lost on
# top of that.
COUNTED = 0.97
# A rationed release is the more work, so it must promise this much more.
MUST_EXCEED = 1.1


def rationed_items(seen: dict[int, int], sizes: Sizes, settings: Settings, budget: Budget) -> float:
    """Return how many items a rationed release promises.

    Of the n most frequent items a user with m items is taken to have a share in proportion to m.
    What earlier steps say of few items is believed less (`beliefs.TRUST_TAKES`), and so many
    fewer are promised.
    """
    # Far ranks may have counts below the noise; a line through the noise would lead anywhere.
    sigma = look_sigma(settings, budget)
    falling = RankCurve(
        {rank: nonnegative_posterior_mean(count, sigma) for rank, count in seen.items()}
    )
    pairs = float((sizes.users * sizes.items).sum())
    if not pairs:
        return 0
    ration = 0.57 * budget.rho
    sigma = 1 / math.sqrt(2 * 0.1 * budget.rho)
    smallest = FOUND_AT * sigma * sizes.count_per_weight() * SECOND_ROUND
    spent, before, rank = 0.0, 0, 1
    while rank < max(seen):
        count = falling.count_at(rank)
        spent += (rank - before) / (2 * (TUNING.aim * settings.r) ** 2 * count)
        shares = [min(1.0, math.sqrt(ration * pairs / (m * spent))) for m in sizes.items]
        counted = float((sizes.users * sizes.items * shares).sum()) / pairs
        if count < smallest or counted < COUNTED:
            break
        before, rank = rank, max(rank + 1, int(rank * STEP))
    return before**2 / (before + 60)


def release_automatically(
    top: Sequence[int] | NDArray[np.int64],
    population: Population,
    settings: Settings,
    budget: Budget,
    entropy: Entropy,
    on_step: Callable[[str], None] = lambda step: None,
) -> ReleasedCounts | RationedCounts:
    """Buy a look at the counts and at the users, and go on with what promises more.

    Formal guarantee: as for `private_count_release` and `rationed_release`: one filter grants the
    look and all that follows, which depends on what the look released (look.md).

    Edge cases: without ranks to look at there is nothing to choose by, and nothing is spent on
    choosing: it is Private Count Release.

    Args:
        top: the highest counts, as for `private_count_release` of a complete histogram.
        population: who has what, as for `rationed_release`.
        settings: of Private Count Release.
        budget: what may be spent on everything together.
        entropy: where noise comes from.
        on_step: called with what is being done, which may be shown.
    """
    if not settings.ranks:
        return private_count_release(top, 0, settings, budget, entropy, on_step)
    on_step("finding and counting items")  # by which method is an outcome, and not said
    privacy_filter = PrivacyFilter(budget.for_filter)
    seen = counts_at_ranks(top, 0, settings, budget, privacy_filter, entropy)
    k_bar, promised = choose_k_bar(seen, settings, budget)
    sizes = PaidQueries(population, entropy, privacy_filter).sizes(TUNING.sizes * budget.rho_for_filter)
    if rationed_items(seen, sizes, settings, budget) > MUST_EXCEED * promised:
        return rationed_release(
            population, settings.r, budget, entropy, privacy_filter=privacy_filter
        )
    return private_count_release(
        top, 0, settings, budget, entropy, privacy_filter=privacy_filter, k_bar=k_bar
    )
