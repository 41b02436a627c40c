"""Private Count Release, the paper's algorithm, one race per level.

`pcr.md`, next to this file, proves what `private_count_release` claims.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.mechanisms.pcr.candidates import Candidates
from headcount.privacy.mechanisms.pcr.look import choose_k_bar, counts_at_ranks
from headcount.privacy.mechanisms.pcr.noise_reduction import (
    measure_in_steps,
    with_steps,
)
from headcount.privacy.mechanisms.pcr.race import entries, races
from headcount.privacy.mechanisms.pcr.schedule import levels
from headcount.privacy.mechanisms.pcr.settings import Settings
from headcount.privacy.randomness import Entropy


@dataclass(frozen=True)
class ReleasedCounts:
    """The transcript of a run. All of it may be published.

    Attributes:
        positions: which candidates were released, in the order they came out.
        counts: their counts with discrete Gaussian noise, or several of those combined.
        sigmas: σ of each count's noise.
        thresholds: T of the level that each came out at.
        k_bar: k̄, how many candidates were considered.
        levels_run: how many levels were run.
        spent: what the filter recorded.
    """

    positions: NDArray[np.int64]
    counts: NDArray[np.float64]
    sigmas: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    k_bar: int
    levels_run: int
    spent: Cost


def private_count_release(
    top: Sequence[int] | NDArray[np.int64],
    floor: int,
    settings: Settings,
    budget: Budget,
    entropy: Entropy,
    progress: Callable[[str], None] = lambda message: None,
    privacy_filter: PrivacyFilter | None = None,
    k_bar: int | None = None,
) -> ReleasedCounts:
    """Release as many candidates as the budget allows, each with a noisy count.

    Formal guarantee: the whole result is ``budget.delta_selection``-approximate ``budget.rho``-CDP
    with respect to adding or removing one user (pcr.md).

    Edge cases: the run never asks whether candidates are left. With none, ⊥ wins every level, each
    is charged, and the run ends when the filter or the number of levels ends it.

    Args:
        top: the k̄+1 highest counts of a histogram of distinct users, in falling order; all of
            them if there are fewer.
        floor: the largest count that an item missing from a shorter list may have.
        settings: the mechanism's parameters.
        budget: what may be spent.
        entropy: where noise comes from.
        progress: called with what is being done, which may be shown.
        privacy_filter: if part of the budget has been spent already; the rest is used.
        k_bar: k̄, if it has been chosen already, from what was released; at most the settings' k̄.
    """
    if privacy_filter is None:
        privacy_filter = PrivacyFilter(budget.for_filter)
    if k_bar is None:
        seen = counts_at_ranks(top, floor, settings, budget, privacy_filter, entropy)
        k_bar, _ = choose_k_bar(seen, settings, budget)
    if k_bar > settings.k_bar:
        raise ValueError("counts were cut at fewer candidates than these")
    candidates = Candidates.from_top(top, k_bar, floor)
    alive = np.ones(candidates.counts.size, dtype=np.bool_)
    positions: list[int] = []
    counts: list[float] = []
    sigmas: list[float] = []
    thresholds: list[float] = []
    levels_run = 0
    progress("choosing and measuring items")  # once: the number of levels is an outcome
    stages = levels(settings, budget, k_bar)
    for plain, order in races(stages, candidates, alive, entropy):
        level = plain.with_noise(settings.factor(len(positions)))
        if settings.in_steps:
            level = with_steps(level)
        most_picks = level.most_picks(privacy_filter.left)
        if most_picks == 0:
            break
        levels_run += 1
        while most_picks:
            privacy_filter.reserve(level.most(most_picks))
            outcome = entries(order, alive, most_picks)
            items = outcome.picked
            positions += items
            thresholds += [level.threshold] * len(items)
            alive[items] = False
            picks = len(items) + outcome.reached_bottom
            if settings.in_steps:
                true = candidates.counts[items].tolist()
                measured = measure_in_steps(true, level.sigma, settings.r, entropy)
                counts += measured.counts.tolist()
                sigmas += measured.sigmas.tolist()
                privacy_filter.settle(level.cost(picks, 0) + measured.cost)
            else:
                # Noisy counts are paid for here. No level depends on them, so all are drawn below.
                sigmas += [level.sigma] * len(items)
                privacy_filter.settle(level.cost(picks, len(items)))
            # What large counts did not need may be enough to go on with a level that was cut.
            go_on = settings.in_steps and not outcome.reached_bottom
            most_picks = level.most_picks(privacy_filter.left) if go_on else 0
            if most_picks:
                ((_, order),) = races([plain], candidates, alive, entropy)
    if not settings.in_steps:
        true = candidates.counts[positions].tolist()
        counts += entropy.discrete_gaussian(true, np.array(sigmas))
    return ReleasedCounts(
        positions=np.array(positions, dtype=np.int64),
        counts=np.array(counts, dtype=np.float64),
        sigmas=np.array(sigmas, dtype=np.float64),
        thresholds=np.array(thresholds, dtype=np.float64),
        k_bar=k_bar,
        levels_run=levels_run,
        spent=privacy_filter.spent,
    )
