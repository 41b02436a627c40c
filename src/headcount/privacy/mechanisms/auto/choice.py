"""Which of two mechanisms promises more items: a choice from released values only.

Private Count Release pays for every released item as if one user had them all; a rationed release
pays for each user's own items, but must find them by weights that are small if users have many.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import PrivacyFilter
from headcount.privacy.mechanisms.pcr.look import (
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
from headcount.privacy.mechanisms.rationed.forecast import countable, ranks_up_to
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
# A rationed release is the more work, and of a few hundred users it promised up to 1.5 times what
# it then gave, so it must promise this much more.
MUST_EXCEED = 1.3


def rationed_items(seen: dict[int, int], sizes: Sizes, settings: Settings, budget: Budget) -> float:
    """Return how many items a rationed release promises, whatever discovery gets of the budget."""
    # Far ranks may have counts below the noise; a line through the noise would lead anywhere.
    sigma = look_sigma(settings, budget)
    falling = RankCurve(
        {rank: nonnegative_posterior_mean(count, sigma) for rank, count in seen.items()}
    )
    ranks = ranks_up_to(max(seen))
    counts = np.array([falling.count_at(rank) for rank in ranks])

    def promised(share: Fraction) -> float:
        weight = FOUND_AT * (2 * float(share) * budget.rho) ** -0.5
        found = ranks[counts >= weight * sizes.count_per_weight() * SECOND_ROUND].max(initial=0.0)
        ration = float(1 - TUNING.first_round - TUNING.fixed - share) * budget.rho
        return min(float(found), countable(ranks, counts, sizes, ration, settings.r))

    return max(promised(share) for share in TUNING.second_rounds)


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
    sizes = PaidQueries(population, entropy, privacy_filter).sizes(
        TUNING.sizes * budget.rho_for_filter
    )
    if rationed_items(seen, sizes, settings, budget) > MUST_EXCEED * promised:
        return rationed_release(
            population, settings.r, budget, entropy, privacy_filter=privacy_filter
        )
    return private_count_release(
        top, 0, settings, budget, entropy, privacy_filter=privacy_filter, k_bar=k_bar
    )
