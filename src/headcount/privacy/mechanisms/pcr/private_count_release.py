"""Private Count Release, the paper's algorithm, one race per level.

`pcr.md`, next to this file, proves what `private_count_release` claims.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.sensitivity import EachByOne
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.candidates import Candidates
from headcount.privacy.mechanisms.pcr.look import choose_k_bar, counts_at_ranks
from headcount.privacy.mechanisms.pcr.noise_reduction import (
    measure_in_steps,
    with_steps,
)
from headcount.privacy.mechanisms.pcr.schedule import levels
from headcount.privacy.mechanisms.pcr.settings import Settings


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
    gate: Gate,
    progress: Callable[[str], None] = lambda message: None,
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
        gate: answers with noise; before anything was spent its total was the budget's for filters.
        progress: called with what is being done, which may be shown.
        k_bar: k̄, if it has been chosen already, from what was released; at most the settings' k̄.
    """
    if k_bar is None:
        seen = counts_at_ranks(top, floor, settings, budget, gate)
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
    for plain in levels(settings, budget, k_bar):
        level = plain.with_noise(settings.factor(len(positions)))
        if settings.in_steps:
            level = with_steps(level)
        most_picks = level.most_picks(gate.left)
        if most_picks == 0:
            break
        levels_run += 1
        while most_picks:
            left = np.flatnonzero(alive)
            gaps = candidates.counts[left] - (1 + candidates.cutoff)
            places, reached_bottom = gate.picked(
                gaps, level.epsilon, level.log_ratio, most_picks, level.picks
            )
            items = left[places]
            alive[items] = False
            positions += items.tolist()
            thresholds += [level.threshold] * items.size
            true = candidates.counts[items]
            if settings.in_steps:
                estimates, errors = measure_in_steps(true, level.sigma, settings.r, gate)
                counts += estimates.tolist()
                sigmas += errors.tolist()
            else:
                moved = EachByOne(items.size)
                counts += gate.noisy(partial(np.asarray, true), moved, level.sigma).tolist()
                sigmas += [level.sigma] * items.size
            # What large counts did not need may be enough to go on with a level that was cut.
            go_on = settings.in_steps and not reached_bottom
            most_picks = level.most_picks(gate.left) if go_on else 0
    return ReleasedCounts(
        positions=np.array(positions, dtype=np.int64),
        counts=np.array(counts, dtype=np.float64),
        sigmas=np.array(sigmas, dtype=np.float64),
        thresholds=np.array(thresholds, dtype=np.float64),
        k_bar=k_bar,
        levels_run=levels_run,
        spent=gate.spent,
    )
