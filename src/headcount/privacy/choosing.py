"""Which of two mechanisms promises more items: a choice from released values only.

Private Count Release pays for every released item as if one user had them all; a rationed release
pays for each user's own items, but must find them by weights that are small if users have many.
"""

import math

from headcount.privacy.budget import Budget
from headcount.privacy.look import STEP, Falling
from headcount.privacy.rationed import DISCOVERIES, FINAL
from headcount.privacy.rationing import AIM, Sizes

# A weight must exceed its noise by about this many σ to be found (rationed.md, threshold).
FOUND_AT = 6.6
# In the second round users have fewer items left, so that each weighs more.
SECOND_ROUND = 0.6
# How much of the pairs must count in full; what is not proportional to a user's size is lost on
# top of that.
COUNTED = 0.97


def rationed_items(seen: dict[int, int], sizes: Sizes, r: float, budget: Budget) -> int:
    """Return how many items a rationed release promises.

    Of the n most frequent items a user with m items is taken to have a share in proportion to m.
    """
    falling = Falling(seen)
    pairs = float((sizes.users * sizes.items).sum())
    if not pairs:
        return 0
    ration = float(FINAL) * budget.rho
    sigma = 1 / math.sqrt(2 * float(DISCOVERIES[-1]) * budget.rho)
    smallest = FOUND_AT * sigma * sizes.count_per_weight() * SECOND_ROUND
    spent, before, rank = 0.0, 0, 1
    while rank < max(seen):
        count = falling.count_at(rank)
        spent += (rank - before) / (2 * (AIM * r) ** 2 * count)
        shares = [min(1.0, math.sqrt(ration * pairs / (m * spent))) for m in sizes.items]
        counted = float((sizes.users * sizes.items * shares).sum()) / pairs
        if count < smallest or counted < COUNTED:
            break
        before, rank = rank, max(rank + 1, int(rank * STEP))
    return before
