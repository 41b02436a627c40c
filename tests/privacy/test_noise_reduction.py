"""Measuring in steps: every step is paid for, and what is combined has the noise that is said."""

from fractions import Fraction

import numpy as np
import pytest

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.gaussian import measure_cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.noise_reduction import (
    SHARES,
    measure_in_steps,
    step_sigmas,
    with_steps,
)
from headcount.privacy.mechanisms.pcr.private_count_release import private_count_release
from headcount.privacy.mechanisms.pcr.schedule import levels
from headcount.privacy.mechanisms.pcr.settings import settings_for
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.stats import assert_noise_of_this_scale

SIGMA, R = 50.0, 0.1
#: 1.5σ is r of this count: about what a level with that σ is for.
JUST_ENOUGH = round(1.5 * SIGMA / R)


class Recorded(SeededEntropy):
    """Remember every call for noise; add none, or so much that it decides."""

    def __init__(self, noise: int) -> None:
        super().__init__(1)
        self.noise, self.calls = noise, []

    def discrete_gaussian(self, values, sigma):
        self.calls.append((list(values), sigma))
        return [value + self.noise for value in values]


def measured(counts, entropy):
    gate = Gate(Cost(Fraction(1000)), entropy)
    return *measure_in_steps(np.array(counts), SIGMA, R, gate), gate.spent


def steps_taken(count, noise=0):
    entropy = Recorded(noise)
    _, (sigma,), _ = measured([count], entropy)
    return len(entropy.calls), sigma


def test_a_large_count_needs_few_steps_and_a_small_one_all():
    taken = [steps_taken(count)[0] for count in (JUST_ENOUGH * f for f in (9, 4, 2, 1))]
    assert taken[0] == 1
    assert taken == sorted(taken)
    assert taken[-1] == len(SHARES)
    assert steps_taken(JUST_ENOUGH // 2)[0] == len(SHARES)


@pytest.mark.parametrize("factor", [0.5, 1, 1.3, 2.2, 5])
def test_it_stops_at_the_first_step_that_meets_the_target(factor):
    taken, sigma = steps_taken(round(JUST_ENOUGH * factor))
    reached = [share >= 1 / factor**2 for share in SHARES]
    first = reached.index(True) if any(reached) else len(SHARES) - 1
    # At 1 exactly the rounding of the last float decides, and there is no further step.
    assert taken == first + 1
    assert sigma == pytest.approx(SIGMA / SHARES[first] ** 0.5)


def test_going_on_is_decided_from_the_noisy_count():
    """The same true count, with noise that makes it look large or small."""
    assert steps_taken(JUST_ENOUGH, noise=8 * JUST_ENOUGH)[0] == 1
    assert steps_taken(9 * JUST_ENOUGH, noise=-9 * JUST_ENOUGH)[0] == len(SHARES)


def test_every_step_is_charged():
    """At least Σ 1/(2σ²) over every value that was given noise."""
    entropy = Recorded(0)
    counts = [JUST_ENOUGH // 3, JUST_ENOUGH, 2 * JUST_ENOUGH, 20 * JUST_ENOUGH]
    _, _, spent = measured(counts, entropy)
    exact = sum(len(values) / (2 * Fraction(sigma) ** 2) for values, sigma in entropy.calls)
    assert exact <= spent.rho <= exact * (1 + Fraction(1, 10**12))
    assert len({len(values) for values, _ in entropy.calls}) > 2


def test_the_combined_noise_is_what_is_said():
    """Σ((combined − true)/σ)² is χ² where every step is taken, and not for one 12 % off.

    The noise has whole values, which matters only to the tenth digit at these σ.
    """
    true = [JUST_ENOUGH // 3] * 5000
    counts, sigmas, _ = measured(true, SeededEntropy(5))
    assert sigmas == pytest.approx(np.full(5000, SIGMA))
    assert_noise_of_this_scale((counts - true) / sigmas)


@pytest.mark.parametrize("rho", [1e-4, 0.1, 1, 30])
def test_enough_is_set_aside_for_every_step(rho):
    """Where all counts are small beside σ, each item costs all that was reserved for it."""
    settings, budget = settings_for("pcr-noise-reduction"), Budget(rho=rho)
    for plain in levels(settings, budget):
        level = with_steps(plain)
        steps = sum(measure_cost(sigma) for sigma in step_sigmas(plain.sigma))
        assert level.measure == steps
        assert level.required >= level.pick + steps
        assert float(steps) == pytest.approx(float(plain.measure))


@pytest.mark.parametrize("seed", range(5))
def test_a_level_that_was_cut_goes_on_with_what_large_counts_did_not_need(seed):
    """Counts far above the first level's threshold: one level, and the budget is used up.

    Measured once each, it is gone after fewer items.
    """
    counts, budget = [3_000_000] * 5000, Budget(rho=2e-5)
    settings, paper = (
        settings_for(name, k_bar=5000) for name in ("pcr-noise-reduction", "pcr-paper")
    )
    run, once = (
        private_count_release(counts, 0, how, budget, Gate(budget.for_filter, SeededEntropy(seed)))
        for how in (settings, paper)
    )
    assert run.levels_run == once.levels_run == 1
    assert run.spent.rho <= budget.for_filter.rho
    left = budget.for_filter.rho - run.spent.rho
    level = with_steps(next(levels(settings, budget)))
    assert left < level.required
    assert len(run.positions) > 1.3 * len(once.positions)
    assert len(set(run.positions.tolist())) == len(run.positions)
