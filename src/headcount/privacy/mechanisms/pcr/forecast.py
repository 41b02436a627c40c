"""How many items a vetted release gives if counts fall in a known way, at no privacy cost."""

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.mechanisms.pcr.look import STEP, RankCurve
from headcount.privacy.mechanisms.pcr.rounds import ROUNDS, plan_round

# Measured on the runs of vetting.md: nominations and tests per item that is found, and the share of
# ρ for everything that belongs to no item.
_NOMINATIONS, _TESTS, _OVERHEAD = 1.35, 1.7, 0.05
# The standard error that a count ends up with, as a share of the target error, and the least share
# of its precision that comes from the measurement.
_AIM, _LEAST = 0.63, 0.3
#: Nominations of a round: a few, and a share of what was found.
FEW, MORE = 8, 0.1


def forecast(k_bar: int, curve: RankCurve, r: float, budget: Budget) -> int:
    """Return how many items to expect with k̄ candidates, whose counts fall as the curve says."""
    cutoff = curve.count_at(k_bar)
    delta = budget.delta_selection / ROUNDS
    spent, before, rank = _OVERHEAD * budget.rho, 0, 1
    while rank < k_bar:
        count = curve.count_at(rank)
        planned = plan_round(count - cutoff, int(FEW + MORE * rank), 0, k_bar, delta)
        if planned is None:
            break
        goal = (_AIM * r * count) ** -2
        tested = planned.sigma**-2 + planned.cutoff_sigma**-2 / planned.tests
        measured = max(goal - planned.sigma**-2, _LEAST * goal)
        each = _NOMINATIONS * planned.epsilon**2 + _TESTS * tested + measured
        spent += (rank - before) * each / 8
        if spent > budget.rho:
            break
        before, rank = rank, max(rank + 1, int(rank * STEP))
    return before
