"""Private Count Release: the fast one against the paper's, and what must not depend on data."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from headcount.errors import BudgetError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.candidates import Candidates
from headcount.privacy.mechanisms.pcr.look import SHARE, counts_at_ranks
from headcount.privacy.mechanisms.pcr.private_count_release import private_count_release
from headcount.privacy.mechanisms.pcr.schedule import levels
from headcount.privacy.mechanisms.pcr.settings import Charging, Settings, settings_for
from headcount.privacy.randomness import OsEntropy, SeededEntropy
from tests.privacy.literal import BOTTOM, private_count_release_literally
from tests.privacy.stats import assert_noise_of_this_scale, false_failure, fits, same_law_p

PAPER = settings_for("pcr-paper")
# Counts that fall off like words do, with ties and a tail beyond k̄.
COUNTS = sorted((int(3000 / rank**0.8) for rank in range(1, 61)), reverse=True)


def fast(counts, settings, budget, entropy):
    gate = Gate(budget.for_filter, entropy)
    return private_count_release(counts[: settings.k_bar + 1], 0, settings, budget, gate)


def literally(counts, settings, budget, rng, **changes):
    return private_count_release_literally(
        counts,
        rho=budget.rho_for_filter,
        delta=budget.delta_selection,
        epsilon_star=settings.epsilon_star,
        delta_star=settings.delta_star,
        k_bar=settings.k_bar,
        r=settings.r,
        growth=settings.growth,
        rng=rng,
        **changes,
    )


def levels_of(run, settings, budget):
    """The levels that ran, with their noise, and how many items each gave."""
    before = 0
    for plain in itertools.islice(levels(settings, budget, run.k_bar), run.levels_run):
        items = int(np.sum(run.thresholds == plain.threshold))
        yield plain.with_noise(settings.factor(before)), items
        before += items


@pytest.mark.parametrize("k_bar", [40, 1000])
def test_the_fast_run_has_the_law_of_the_literal_one(k_bar):
    """Number of results and spend, over many runs of both."""
    settings = Settings(
        epsilon_star=0.002,
        growth=math.sqrt(2),
        k_bar=k_bar,
        delta_star=1e-6,
        charging=Charging.PAPER,
    )
    budget, runs = Budget(rho=0.02, delta=1e-3), 1500
    rng, entropy = np.random.default_rng(7), SeededEntropy(8)
    ours = [fast(COUNTS, settings, budget, entropy) for _ in range(runs)]
    theirs = [literally(COUNTS, settings, budget, rng) for _ in range(runs)]
    for mine, paper in [
        ([len(run.positions) for run in ours], [len(run.results) for run in theirs]),
        (
            [round(float(run.spent.rho), 4) for run in ours],
            [round(float(run.rho), 4) for run in theirs],
        ),
        ([run.spent.delta for run in ours], [run.delta for run in theirs]),
        ([run.positions[-1] for run in ours], [list(run.results)[-1] for run in theirs]),
    ]:
        assert len(set(mine)) > 3
        p = same_law_p(mine, paper)
        assert fits(p), false_failure(p)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("delta", [1e-6, 3e-10])
def test_the_papers_charges_agree_to_the_last_digit(seed, delta):
    """The literal loop, fed with the picks of a fast run, charges and stops exactly alike.

    With δ = 3e-10 the run ends by δ, a δ* for every pick; otherwise by ρ.
    """
    budget = Budget(rho=0.5, delta=delta)
    run = fast(COUNTS, PAPER, budget, SeededEntropy(seed))
    epsilons = {level.sigma: level.epsilon for level in levels(PAPER, budget)}
    picks = [(int(p), epsilons[s]) for p, s in zip(run.positions, run.sigmas, strict=True)]
    left = list(range(len(COUNTS)))

    def replay(h, cutoff, beta, threshold, rng):
        if picks and picks[0][1] == pytest.approx(1 / beta, rel=1e-12):
            place = left.index(picks.pop(0)[0])
            del left[place]
            return place
        return BOTTOM

    paper = literally(COUNTS, PAPER, budget, np.random.default_rng(0), select=replay)
    assert picks == []
    assert paper.rho == run.spent.rho
    assert paper.delta == run.spent.delta
    assert list(paper.results) == run.positions.tolist()
    assert list(paper.sigmas.values()) == pytest.approx(run.sigmas.tolist(), rel=1e-12)


@pytest.mark.parametrize("entropy", [OsEntropy(), SeededEntropy(2)], ids=["os", "seeded"])
def test_counts_carry_noise_of_the_sigma_that_was_charged(entropy):
    """Σ((noisy − true)/σ)² is χ² for the claimed σ, and not for one 12 % off.

    At 10 % that would fail by chance with 4e-6, at 12 % with less than 1e-9.
    """
    true = np.full(5000, 100_000)
    settings, budget = settings_for("pcr", k_bar=5000), Budget(rho=1.0)
    run = fast(true, settings, budget, entropy)
    charged = {level.sigma: level.measure for level, _ in levels_of(run, settings, budget)}
    assert run.positions.size == 5000
    assert all(charged[s] >= 1 / (2 * Fraction(s) ** 2) for s in set(run.sigmas.tolist()))
    assert_noise_of_this_scale((run.counts - true) / run.sigmas)


def test_each_count_has_the_sigma_of_its_own_level():
    """Of the first third of the counts, and of the last."""
    true = (200_000 / np.arange(1, 5001) ** 0.75).astype(np.int64)
    first, last = [], []
    for seed in range(4):
        run = fast(true, settings_for("pcr", k_bar=5000), Budget(rho=1.0), SeededEntropy(seed))
        assert len(set(run.sigmas.tolist())) > 5
        off = (run.counts - true[run.positions]) / run.sigmas
        first += off[: off.size // 3].tolist()
        last += off[-(off.size // 3) :].tolist()
    assert_noise_of_this_scale(first)
    assert_noise_of_this_scale(last)


def test_an_empty_table_runs_every_level_it_can_pay_for():
    """Nothing left to find is never a reason to stop."""
    settings, budget = settings_for("pcr"), Budget(rho=1.0)
    run = fast([], settings, budget, SeededEntropy(1))
    all_levels = list(levels(settings, budget, run.k_bar))
    assert run.positions.size == 0
    look = Gate(budget.for_filter, SeededEntropy(1))
    counts_at_ranks([], 0, settings, budget, look)
    assert look.spent.rho >= SHARE * budget.rho_for_filter * Fraction(99, 100)
    left, expected = look.left.rho, 0
    for level in all_levels:
        if left < level.pick + level.measure:
            break
        left -= level.pick
        expected += 1
    assert run.levels_run == expected
    assert run.spent.rho == budget.rho_for_filter - left
    assert run.spent.delta == budget.delta_selection * expected / len(all_levels)


def test_when_all_is_released_the_levels_go_on():
    counts = [10**6, 10**6]
    settings, budget = settings_for("pcr"), Budget(rho=1.0)
    run = fast(counts, settings, budget, SeededEntropy(1))
    empty = fast([], settings, budget, SeededEntropy(1))
    assert sorted(run.positions.tolist()) == [0, 1]
    assert run.levels_run == empty.levels_run


def test_every_level_that_ran_is_charged_and_bottom_ends_it():
    """The spend is what the transcript says: a pick per item and per ⊥, a measurement per item."""
    settings, budget = settings_for("pcr", k_bar=50), Budget(rho=0.3)
    run = fast(COUNTS, settings, budget, SeededEntropy(3))
    ran = list(levels_of(run, settings, budget))
    assert sum(items for _, items in ran) == run.positions.size > 10
    assert run.sigmas.tolist() == [level.sigma for level, items in ran for _ in range(items)]
    assert run.sigmas[-1] > list(levels(settings, budget))[run.levels_run - 1].sigma
    picks = sum(level.pick * (items + 1) + level.measure * items for level, items in ran)
    last_was_cut = picks - run.spent.rho
    assert last_was_cut in (0, ran[-1][0].pick)
    assert run.spent.rho <= budget.rho_for_filter


def test_candidates_are_exactly_k_bar_and_the_next_count_is_the_cut_off():
    counts = [900, 800, 800, 700]
    candidates = Candidates.from_top(counts[:3], 2)
    assert candidates.counts.tolist() == [900, 800]
    assert candidates.cutoff == 800
    assert Candidates.from_top([900, 800], 2).cutoff == 0
    assert Candidates.from_top([900, 800], 2, floor=9).cutoff == 9
    assert Candidates.from_top([], 2).counts.size == 0


@pytest.mark.parametrize(
    ("counts", "cutoff"),
    [([3, 5], 0), ([5, 3], 4), ([5, 3], -1), ([2**53 + 1, 3], 0), ([], 2**53 + 1), ([5, 0], 0)],
)
def test_what_are_no_candidates_is_refused(counts, cutoff):
    """Counts that rise, a cut-off above one of them, numbers that no float holds, nobody's item."""
    with pytest.raises(ValueError, match="candidate"):
        Candidates(np.array(counts, dtype=np.int64), cutoff)


def test_items_at_the_cut_off_are_not_found():
    """All counts equal, more than k̄ items: T + c is far above, so nothing comes out."""
    settings, budget = settings_for("pcr", k_bar=10), Budget(rho=0.01)
    run = fast([5000] * 11, settings, budget, SeededEntropy(1))
    assert run.positions.size == 0
    assert fast([5000] * 10, settings, budget, SeededEntropy(1)).positions.size > 0


def test_a_delta_below_one_pick_is_refused_before_anything_runs():
    with pytest.raises(BudgetError, match="delta is too small"):
        fast(COUNTS, PAPER, Budget(rho=1.0, delta=1e-12), SeededEntropy(1))
