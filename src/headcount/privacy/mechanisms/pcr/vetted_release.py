"""A vetted release: rounds of nominations and tests, then a measurement of all that was named.

`vetting.md`, next to this file, proves what `vetted_release` claims. Every number that
decides what is done next follows from noisy values that were paid for.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.candidates import Candidates
from headcount.privacy.mechanisms.pcr.centred_look import CentredLook, centred_look
from headcount.privacy.mechanisms.pcr.forecast import FEW, MORE
from headcount.privacy.mechanisms.pcr.measuring import Precisions, combined, precisions_for
from headcount.privacy.mechanisms.pcr.rounds import BOUND_AT, ROUNDS, plan_round
from headcount.privacy.mechanisms.pcr.settings import Settings
from headcount.privacy.mechanisms.pcr.vetting import Round, Vetting

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# If less than this share of nominees is named, the next round is for items this many times smaller.
_ENOUGH, _FALLS = 0.5, 1.25
# So little noise is none at all: a budget may be larger than counts can use.
_NO_NOISE = 2.0**-5
# The least count that a plan takes an item to have.
_LEAST_COUNT = 5.0


@dataclass(frozen=True)
class VettedCounts:
    """The part of a run's transcript that may be published.

    Attributes:
        positions: which candidates are released, highest estimates first.
        estimates: their counts, estimated from tests and measurements.
        errors: their standard errors.
        noisy: their counts as measured last.
        sigmas: the standard errors of these.
        k_bar: k̄, how many candidates were considered.
        rounds_run: how many rounds were run.
        spent: all of the budget: the promise only holds for the whole of it (vetting.md).
    """

    positions: Integers
    estimates: Floats
    errors: Floats
    noisy: Floats
    sigmas: Floats
    k_bar: int
    rounds_run: int
    spent: Cost


def vetted_release(
    top: Sequence[int] | NDArray[np.int64],
    floor: int,
    users: int,
    settings: Settings,
    budget: Budget,
    gate: Gate,
    progress: Callable[[str], None] = lambda message: None,
    look: CentredLook | None = None,
) -> VettedCounts:
    """Release as many candidates as the budget allows, each with a noisy count.

    Formal guarantee: the whole result is ``budget.delta_selection``-approximate ``budget.rho``-CDP
    with respect to adding or removing one user (vetting.md), **provided** that one more user raises
    ``users`` by exactly 1.

    Edge cases: the run never asks whether anybody has the candidates left: there are always k̄.

    Args:
        top: the k̄+1 highest counts of a histogram of distinct users, in falling order; all of
            them if there are fewer.
        floor: the largest count that an item missing from a shorter list may have.
        users: N, the number of users who have an item, counted by the same exact ids.
        settings: k̄, r and the ranks to look at.
        budget: what may be spent.
        gate: answers with noise; before anything was spent its total was `conditioned_total`.
        progress: called with what is being done, which may be shown.
        look: if it has been bought already, through the same gate.
    """
    progress("choosing and measuring items")  # once: the number of rounds is an outcome
    if look is None:
        look = centred_look(top, floor, users, settings, budget, gate)
    if look.k_bar > settings.k_bar:
        raise ValueError("counts were cut at fewer candidates than these")
    candidates = Candidates.from_top(top, look.k_bar, floor)
    vetting = Vetting(candidates, look.k_bar, users, gate)
    run = _Run(vetting, look, settings.r, budget, gate)
    run.name_items()
    return run.measured(Cost(Fraction(budget.rho), budget.delta_selection))


class _Run:
    """The rounds and the measurement. Nominees are known by their numbers in `Vetting`."""

    def __init__(
        self,
        vetting: Vetting,
        look: CentredLook,
        r: float,
        budget: Budget,
        gate: Gate,
    ) -> None:
        self._vetting = vetting
        self._users = look.users
        self._k_bar = look.k_bar
        self._start = _start(look)
        self._r = r
        self._gate = gate
        self._delta = budget.delta_selection / ROUNDS
        self._rounds = 0
        # The sum of the precisions of the noisy cut-offs, and their sum weighted with these.
        self._cutoff_precision = self._cutoff_weighted = 0.0

    def name_items(self) -> None:
        """Run rounds for smaller and smaller items, while what was named can still be measured."""
        count, falling = self._start, True
        while self._rounds < ROUNDS:
            vetting = self._vetting
            size = count - self._cutoff
            nominations = int(FEW + MORE * np.count_nonzero(vetting.named))
            nominations = min(nominations, vetting.not_nominated)
            again = self._tested_again(BOUND_AT * size + self._cutoff, falling)
            if count > 1 and not (nominations or again.any()):
                count, falling = count / _FALLS, True  # all were nominated; smaller ones may pass
                continue
            planned = plan_round(size, nominations, int(again.sum()), self._k_bar, self._delta)
            if planned is None or not self._affordable(planned):
                return
            self._rounds += 1
            named, difference = vetting.run(planned, again)
            self._learn_cutoff(difference, planned.cutoff_sigma)
            share = float(named.mean()) if named.size else 0.0
            falling = share < _ENOUGH
            if falling:
                count /= _FALLS

    def _tested_again(self, bound: float, falling: bool) -> NDArray[np.bool_]:
        waiting = ~self._vetting.named
        if not (falling and waiting.any()):
            return np.zeros(waiting.size, dtype=np.bool_)
        return waiting & (self._believed() >= bound)

    def _affordable(self, planned: Round) -> bool:
        left = self._gate.left
        if not planned.cost.fits(left):
            return False
        found = np.flatnonzero(self._vetting.named)
        return not found.size or self._plan(found).cost <= float(left.rho - planned.cost.rho)

    @property
    def _cutoff(self) -> float:
        if not self._cutoff_precision:
            return 0.0
        difference = self._cutoff_weighted / self._cutoff_precision
        return max(0.0, (self._users.estimate - difference) / 2)

    def _learn_cutoff(self, difference: int, sigma: float) -> None:
        self._cutoff_precision += sigma**-2
        self._cutoff_weighted += difference / sigma**2

    def _believed(self) -> Floats:
        """Return the counts of all nominees, according to their tests."""
        return (self._vetting.tested + self._users.estimate) / 2

    def _plan(self, found: Integers) -> Precisions:
        """Return the precisions that measuring items takes."""
        known = self._vetting.precision[found]
        counts = np.maximum(self._believed()[found], _LEAST_COUNT)
        return precisions_for(counts, known, 4 * self._users.precision, self._r)

    def measured(self, spent: Cost) -> VettedCounts:
        """Measure as many of the named items as possible, the largest first."""
        found = np.flatnonzero(self._vetting.named)  # numbers, not places: in the order of the lots
        if found.size:
            found = found[np.argsort(-self._believed()[found], kind="stable")]
        left = float(self._gate.left.rho) * (1 - 1e-6)
        number = _largest(found.size, lambda some: self._plan(found[:some]).cost <= left)
        found = found[:number]
        if not number:
            none = np.zeros(0)
            return VettedCounts(found, none, none, none, none, self._k_bar, self._rounds, spent)
        tests, test_sigmas = self._believed()[found], self._vetting.precision[found] ** -0.5
        users_before = self._users.estimate
        noisy, sigmas = self._measure(found, left)
        tests += (self._users.estimate - users_before) / 2
        estimates, errors = combined(tests, test_sigmas, noisy, sigmas)
        common = self._users.halved_variance
        errors = np.sqrt(errors**2 + common)
        good = np.flatnonzero(errors <= self._r * estimates)
        good = good[np.argsort(-estimates[good], kind="stable")]
        return VettedCounts(
            self._vetting.places[found[good]],
            estimates[good],
            errors[good],
            noisy[good],
            np.sqrt(sigmas[good] ** 2 + common),
            self._k_bar,
            self._rounds,
            spent,
        )

    def _measure(self, found: Integers, left: float) -> tuple[Floats, Floats]:
        """Spend what is left on noisy counts; return them and the σ of each, given N."""
        plan = self._plan(found)
        more = left / plan.cost  # nothing is left over
        if plan.users:
            self._users.measure(max(_NO_NOISE, 2 / math.sqrt(plan.users * more)))
        sigmas = np.maximum((plan.items * more) ** -0.5, _NO_NOISE)
        noisy = self._vetting.measure(found, sigmas, "counting the users of items")
        return (noisy + self._users.estimate) / 2, sigmas


# Items with fewer than about nine users pass no test, whatever the noise (`plan_round`).
_LEAST_START = 10.0
# The first round is for items of about this rank. It nominates those with more users first.
_FIRST_RANK = 10


def _start(look: CentredLook) -> float:
    """Return the count that the first round is for."""
    largest = 0.9 * look.users.estimate
    if not look.seen:
        return largest
    tenth = look.curve().count_at(_FIRST_RANK)
    return min(largest, 1.5 * max(tenth, 3 * look.sigma, _LEAST_START))


def _largest(end: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to ``end`` that fits, if all smaller ones do."""
    low, high = 0, end + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
