"""The claims of look.md: counts at ranks, what they cost, and what is chosen from them."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headcount.errors import SettingsError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.look import choose_k_bar, counts_at_ranks
from headcount.privacy.mechanisms.pcr.private_count_release import private_count_release
from headcount.privacy.mechanisms.pcr.schedule import levels
from headcount.privacy.mechanisms.pcr.settings import Settings, settings_for
from headcount.privacy.randomness import SeededEntropy

BUDGET = Budget(rho=1.0)
RANKS = Settings(k_bar=6, ranks=(1, 2, 4, 6))


class NoNoise(SeededEntropy):
    """Writes down which σ was asked for."""

    def __init__(self):
        super().__init__(1)
        self.seen = []

    def discrete_gaussian(self, values, sigma):
        self.seen.append((len(values), sigma))
        return list(values)


def look(top, floor=0, settings=RANKS):
    entropy = NoNoise()
    gate = Gate(Cost(BUDGET.rho_for_filter), entropy)
    return counts_at_ranks(top, floor, settings, BUDGET, gate), entropy.seen, gate.spent


def histogram(crowd, smallest):
    counts = Counter(item for items in crowd for item in items)
    return sorted((n for n in counts.values() if n >= smallest), reverse=True)


users = st.sets(st.integers(0, 7))


@given(st.lists(users, max_size=8), users, st.integers(1, 4))
@example([{0}] * 5, {1}, 1)  # a rank beyond the end on one side only
def test_the_count_at_a_rank_moves_by_at_most_one(crowd, user, smallest):
    """With counts below the smallest dropped, of which the floor tells."""
    one, two = (
        look(histogram(side, smallest), floor=smallest - 1)[0] for side in (crowd, [*crowd, user])
    )
    assert all(two[rank] - one[rank] in (0, 1) for rank in RANKS.ranks)


def test_all_ranks_are_paid_for():
    _, ((number, sigma),), spent = look([5, 4, 3])
    assert number == len(RANKS.ranks)
    assert number / (2 * Fraction(sigma) ** 2) <= spent.rho < BUDGET.rho_for_filter / 99


def test_no_ranks_cost_nothing():
    assert look([5, 4, 3], settings=Settings(k_bar=6)) == ({}, [], Cost())


@pytest.mark.parametrize("ranks", [(0, 6), (-1, 6), (True, 6), (2.0, 6), (1, 2)])
def test_ranks_that_are_none_are_refused(ranks):
    with pytest.raises(SettingsError, match="ranks"):
        Settings(k_bar=6, ranks=ranks)


@given(st.lists(st.integers(-(10**6), 10**9), min_size=6, max_size=6), st.floats(1e-4, 10))
def test_whatever_was_seen_k_bar_is_one_of_the_ranks(noisy, rho):
    settings = settings_for("pcr")
    seen = dict(zip(settings.ranks, noisy, strict=True))
    k_bar, promised = choose_k_bar(seen, settings, Budget(rho=rho))
    assert k_bar in settings.ranks
    assert 0 <= promised <= k_bar


def test_candidates_cut_off_and_threshold_have_the_k_bar_that_was_chosen(monkeypatch):
    """Flat counts beyond 10,000, where more candidates would only raise T."""
    first, picked = [], Gate.picked

    def spy(gate, gaps, *others):
        first.append(gaps)
        return picked(gate, gaps, *others)

    monkeypatch.setattr(Gate, "picked", spy)
    counts = np.concatenate([np.arange(40_000, 20_000, -2), np.full(95_000, 300)])
    settings = settings_for("pcr")
    gate = Gate(BUDGET.for_filter, SeededEntropy(1))
    run = private_count_release(counts[:100_001], 0, settings, BUDGET, gate)
    assert run.k_bar < settings.k_bar
    assert (first[0] == counts[: run.k_bar] - 1 - counts[run.k_bar]).all()
    assert run.positions.size > 100
    thresholds = {level.threshold for level in levels(settings, BUDGET, run.k_bar)}
    assert set(run.thresholds.tolist()) <= thresholds
    assert thresholds.isdisjoint(level.threshold for level in levels(settings, BUDGET))


def test_more_candidates_than_the_counts_were_cut_at_are_refused():
    """Else the floor would be taken for the cut-off."""
    gate = Gate(BUDGET.for_filter, SeededEntropy(1))
    with pytest.raises(ValueError, match="fewer candidates"):
        private_count_release([9, 8, 7], 0, Settings(k_bar=2), BUDGET, gate, k_bar=3)
