"""Which of two mechanisms promises more items: a choice from released values only.

Private Count Release pays for every released item as if one user had them all; a rationed release
pays for each user's own items, but must find them by weights that are small if users have many.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.auto.tuning import TUNING
from headcount.privacy.mechanisms.pcr.centred_look import CentredLook, centred_look
from headcount.privacy.mechanisms.pcr.settings import Settings
from headcount.privacy.mechanisms.pcr.vetted_release import VettedCounts, vetted_release
from headcount.privacy.mechanisms.rationed.forecast import countable, ranks_up_to
from headcount.privacy.mechanisms.rationed.hidden import HiddenUsers
from headcount.privacy.mechanisms.rationed.queries import PaidQueries
from headcount.privacy.mechanisms.rationed.rationed_release import RationedCounts, rationed_release
from headcount.privacy.mechanisms.rationed.sizes import Floats, Sizes
from headcount.privacy.mechanisms.rationed.tuning import TUNING as RATIONED
from headcount.privacy.questions import Population


@dataclass(frozen=True)
class Promises:
    """How many items each mechanism promises, in each case of what noise may hide.

    A histogram of users may hide few heavy ones, or none.

    Attributes:
        chances: of the cases.
        rationed: what a rationed release promises in each.
        vetted: what a vetted release does, which does not depend on them.
    """

    chances: Floats
    rationed: Floats
    vetted: float

    @property
    def gain(self) -> float:
        """By what factor a rationed release gives more on average, as a logarithm."""
        return float(self.chances @ self._gains)

    @property
    def worth_knowing(self) -> float:
        """How much more, as a logarithm, the better of the two gives than the one to choose now."""
        best = float(self.chances @ np.maximum(self._gains, 0.0))
        return best - max(self.gain, 0.0)

    @property
    def _gains(self) -> Floats:
        return np.log1p(self.rationed) - math.log1p(self.vetted)


def promises(look: CentredLook, sizes: Sizes, settings: Settings, budget: Budget) -> Promises:
    """Forecast both mechanisms, a rationed one with the best share of the budget for discovery."""
    falling = look.curve()
    ranks = ranks_up_to(max(look.seen))
    counts = np.array([falling.count_at(rank) for rank in ranks])
    cases = HiddenUsers([sizes]).cases()
    chances = np.array([chance for chance, _ in cases])
    hidden = [users for _, users in cases]

    def promised(share: Fraction) -> Promises:
        weight = TUNING.found_at * (2 * float(share) * budget.rho) ** -0.5
        found = ranks[counts >= weight * sizes.count_per_weight()].max(initial=0.0)
        ration = float(1 - RATIONED.first_round - RATIONED.fixed - share) * budget.rho
        counted = countable(ranks, counts, sizes, ration, settings.r, hidden)
        return Promises(chances, np.minimum(counted, found), look.promised)

    return max(map(promised, RATIONED.second_rounds), key=lambda each: each.gain)


def release_automatically(
    top: Sequence[int] | NDArray[np.int64],
    population: Population,
    settings: Settings,
    budget: Budget,
    gate: Gate,
    progress: Callable[[str], None] = lambda message: None,
) -> VettedCounts | RationedCounts:
    """Buy a look at the counts and at the users, and go on with what promises more.

    Formal guarantee: as for `vetted_release` and `rationed_release`: one gate grants the look and
    all that follows, which depends on what the look released (look.md).

    Edge cases: without ranks to look at there is nothing to choose by, and nothing is spent on
    choosing: it is a vetted release.

    Args:
        top: the highest counts, as for `vetted_release` of a complete histogram.
        population: who has what, as for `rationed_release`.
        settings: of Private Count Release.
        budget: what may be spent on everything together.
        gate: answers with noise; before anything was spent its total was `conditioned_total`.
        progress: called with what is being done, which may be shown.
    """
    progress("finding and counting items")  # by which method is an outcome, and not said
    (users,) = population.sizes((1,))
    rho = gate.left.rho
    look = centred_look(top, 0, users, settings, budget, gate)
    if look.seen:
        asking = PaidQueries(population, gate)
        sizes = asking.sizes(TUNING.sizes * rho)
        promised = promises(look, sizes, settings, budget)
        for share in TUNING.closer:
            if promised.worth_knowing <= share:
                break
            sizes = sizes.combined(asking.sizes(share * rho))
            promised = promises(look, sizes, settings, budget)
        if promised.gain > 0:
            return rationed_release(population, settings.r, budget, gate, sizes=sizes)
    return vetted_release(top, 0, users, settings, budget, gate, look=look)
