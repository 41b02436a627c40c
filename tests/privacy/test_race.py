"""The fast race against the enumerated law of repeated Unknown Domain Gumbel."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from headcount.privacy.mechanisms.pcr import clocks
from headcount.privacy.mechanisms.pcr import race as race_module
from headcount.privacy.mechanisms.pcr.candidates import Candidates
from headcount.privacy.mechanisms.pcr.race import entries, races
from headcount.privacy.mechanisms.pcr.schedule import Level
from headcount.privacy.mechanisms.pcr.settings import Charging
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.laws import BOTTOM, race_law, weights_of
from tests.privacy.racing import race
from tests.privacy.scripted import ScriptedEntropy
from tests.privacy.stats import chi_square_p, false_failure, fits

RUNS = 12_000


def level(epsilon, log_ratio):
    return Level(epsilon, log_ratio, 1.0, Fraction(1, 10**6), Charging.TRUE_COST)


# Name: (level, counts, cut-off, released before, at most). Weights around ⊥'s, both sides.
CASES = {
    "one item": (level(1.0, 2.0), [3], 0, [], 9),
    "ties": (level(0.7, 2.0), [4, 4, 4], 1, [], 9),
    "spread": (level(0.5, 3.0), [12, 8, 8, 5, 3], 1, [], 99),
    "cut after two": (level(0.5, 2.0), [9, 7, 6], 0, [], 2),
    "some released before": (level(0.5, 2.0), [9, 7, 6, 5], 0, [0, 2], 9),
    "none left": (level(0.5, 2.0), [9, 7], 0, [0, 1], 9),
    "nothing": (level(0.5, 2.0), [], 0, [], 9),
    "many rare": (level(1.0, 6.0), [1] * 8, 0, [], 9),
    # x = −7.05, just below where bands begin: the horizon of the first band matters.
    "under the first top": (level(0.5, 7.05), [1] * 7, 0, [1], 9),
    # x = −7.05 and −8.05: two bands, and candidates timed one by one before them.
    "under two tops": (level(1.0, 8.05), [9, 2, 2, 2, 1, 1, 1], 0, [2], 9),
}
# −inf times every candidate by itself, +inf puts all of them into bands.
NEAR = {"as it is": None, "one by one": -math.inf, "all in bands": math.inf}


def exact_law(stage, counts, cutoff, dead, at_most):
    alive = {str(i): n for i, n in enumerate(counts) if i not in dead}
    return dict(race_law(weights_of(stage, alive, cutoff), at_most))


def observed_law(stage, counts, cutoff, dead, at_most, runs=RUNS, seed=11):
    entropy = SeededEntropy(seed)
    candidates = Candidates(np.array(counts, dtype=np.int64), cutoff)
    alive = np.ones(len(counts), dtype=np.bool_)
    alive[dead] = False
    # Of one ε, so that their clocks are drawn at once.
    orders = races([stage] * runs, candidates, alive, entropy)
    return Counter(read(entries(order, alive, at_most)) for _, order in orders)


def read(outcome):
    """What was read, as the enumerated law has it."""
    return (*map(str, outcome.picked), *([BOTTOM] if outcome.reached_bottom else []))


def use_bands(monkeypatch, near):
    if NEAR[near] is not None:
        # Finite stand-ins: the tops of the bands are counted down from this.
        monkeypatch.setattr(race_module, "_NEAR", {math.inf: 60.0, -math.inf: -1e6}[NEAR[near]])


@pytest.mark.parametrize("near", NEAR)
@pytest.mark.parametrize("case", CASES)
def test_the_race_has_the_law_of_repeated_picks(case, near, monkeypatch):
    use_bands(monkeypatch, near)
    expected = exact_law(*CASES[case])
    if len(expected) == 1:
        assert observed_law(*CASES[case], runs=50).keys() == expected.keys()
        return
    p = chi_square_p(observed_law(*CASES[case]), expected)
    assert fits(p), false_failure(p)


# Level by level what is raced in one draw: ε, Λ, and at most how many entries are read.
SEVERAL = {
    "two levels": [(level(0.5, 2.0), 9), (level(0.9, 2.0), 9)],
    "the first is cut": [(level(0.5, 2.0), 1), (level(0.9, 2.0), 9)],
    "the same again": [(level(0.5, 2.0), 2), (level(0.5, 2.0), 2)],
}


@pytest.mark.parametrize("near", NEAR)
@pytest.mark.parametrize("case", SEVERAL)
def test_levels_drawn_at_once_have_the_law_of_one_after_the_other(case, near, monkeypatch):
    """Each has clocks of its own, and races for what those before it left."""
    use_bands(monkeypatch, near)
    counts, cutoff, stages = [6, 4, 3], 0, SEVERAL[case]
    (one, at_most), (other, at_most_then) = stages
    expected = {}
    for first, p in exact_law(one, counts, cutoff, [], at_most).items():
        gone = [int(entry) for entry in first if entry != BOTTOM]
        for second, q in exact_law(other, counts, cutoff, gone, at_most_then).items():
            expected[first, second] = p * q
    candidates = Candidates(np.array(counts, dtype=np.int64), cutoff)
    orders = races([one, other] * RUNS, candidates, np.ones(3, dtype=np.bool_), SeededEntropy(12))
    seen = Counter()
    for _ in range(RUNS):
        alive, outcomes = np.ones(3, dtype=np.bool_), []
        for _, limit in stages:
            outcome = entries(next(orders)[1], alive, limit)
            alive[outcome.picked] = False
            outcomes.append(read(outcome))
        seen[tuple(outcomes)] += 1
    p = chi_square_p(seen, expected)
    assert fits(p), false_failure(p)


@pytest.mark.parametrize(("most", "left"), [(9, [4, 4, 2, 0]), (1, [6, 4, 2, 0])])
def test_clocks_are_drawn_ahead_for_levels_that_are_close(most, left, monkeypatch):
    """Few at a time: most of what later levels race for is gone by then. And so many as fit."""
    monkeypatch.setattr(race_module, "_MOST_AT_ONCE", most)
    candidates, alive = Candidates(np.array([50], dtype=np.int64), 0), np.ones(1, dtype=np.bool_)
    entropy = ScriptedEntropy([2**63] * 8)
    stages = [level(epsilon, 10.0) for epsilon in (1.0, 2.0, 4.0, 9.0)]
    assert [entropy.left for _ in races(stages, candidates, alive, entropy)] == left


def test_a_race_at_the_wrong_epsilon_is_noticed():
    stage, counts, cutoff, dead, at_most = CASES["spread"]
    wrong = level(stage.epsilon * 1.1, stage.log_ratio)
    seen = observed_law(wrong, counts, cutoff, dead, at_most)
    assert not fits(chi_square_p(seen, exact_law(stage, counts, cutoff, dead, at_most)))


def test_a_cut_off_that_is_ignored_is_noticed():
    stage, counts, cutoff, dead, at_most = CASES["spread"]
    seen = observed_law(stage, counts, cutoff - 1, dead, at_most)
    assert not fits(chi_square_p(seen, exact_law(stage, counts, cutoff, dead, at_most)))


def test_a_cut_level_never_says_whether_more_would_have_followed():
    stage = level(1.0, 2.0)
    sure = Candidates(np.array([1000, 1000], dtype=np.int64), 0)
    alive = np.ones(2, dtype=np.bool_)
    outcome = race(stage, sure, alive, 2, SeededEntropy(1))
    assert sorted(outcome.picked) == [0, 1]
    assert not outcome.reached_bottom
    assert race(stage, sure, alive, 3, SeededEntropy(1)).reached_bottom


def test_near_ties_within_a_race_draw_more_bits():
    """Two equal counts whose first 64 bits agree: the next bits decide who came first."""
    word, bottom = 2**62, 2**63 + 2**62
    candidates = Candidates(np.array([50, 50], dtype=np.int64), 0)
    alive = np.ones(2, dtype=np.bool_)
    orders = []
    for first, second in [(1, 2), (2, 1)]:
        entropy = ScriptedEntropy([bottom, word, word, first << 60, second << 60])
        orders.append(race(level(1.0, 10.0), candidates, alive, 9, entropy).picked)
        assert entropy.left == 0
    assert sorted(orders) == [[0, 1], [1, 0]]


def test_a_near_tie_with_bottom_draws_more_bits():
    """x = 1·(11 − 1) − 10 = 0 and the same first 64 bits: the next bits decide who wins."""
    candidates, alive = Candidates(np.array([11], dtype=np.int64), 0), np.ones(1, dtype=np.bool_)
    for own, bottom, picked in [(1, 2, [0]), (2, 1, [])]:
        entropy = ScriptedEntropy([2**62, 2**62, own << 60, bottom << 60])
        assert race(level(1.0, 10.0), candidates, alive, 9, entropy).picked == picked
        assert entropy.left == 0


def test_a_near_tie_with_the_bottom_of_a_later_level():
    """Each level has a ⊥ of its own, also where more bits decide."""
    candidates, alive = Candidates(np.array([11], dtype=np.int64), 0), np.ones(1, dtype=np.bool_)
    for own, bottom, picked in [(1, 2, [0]), (2, 1, [])]:
        words = [2**63, 2**62, 2**63 + 2**62, 2**62, own << 60, bottom << 60]
        entropy = ScriptedEntropy(words)
        drawn = races([level(1.0, 10.0)] * 2, candidates, alive, entropy)
        assert [order.tolist() for _, order in drawn] == [[], picked]
        assert entropy.left == 0


def test_a_bottom_with_hardly_any_bits_draws_more_before_it_is_compared():
    """⊥'s word of all ones says only that it rings late; a float would read infinity."""
    candidates = Candidates(np.array([2], dtype=np.int64), 0)
    alive = np.ones(1, dtype=np.bool_)
    # x = 1·(2 − 1) − 45 = −44, so the item needs E below e^-44·E_⊥.
    stage = level(1.0, 45.0)
    late, early = 2**64 - 1, 0
    # ⊥, then the one band's first word (0), its place, the next bits of item and ⊥.
    entropy = ScriptedEntropy([late, early, 0, 0, 1 << 63, 1 << 63, 1 << 63, 1, 1, 1, 1])
    assert race(stage, candidates, alive, 9, entropy).picked == [0]


def test_a_near_tie_behind_a_released_candidate_is_settled_by_the_right_bits():
    """Candidate 0 is released; the words of 1 and 2 agree, those of 1 and 3 do not."""
    word, late, bottom = 2**62, 2**62 + 2**61, 2**63 + 2**62
    candidates = Candidates(np.array([50, 50, 50, 50], dtype=np.int64), 0)
    alive = np.array([False, True, True, True])
    orders = []
    for first, second in [(1, 2), (2, 1)]:
        entropy = ScriptedEntropy([bottom, word, word, late, first << 60, second << 60])
        orders.append(race(level(1.0, 10.0), candidates, alive, 9, entropy).picked)
        assert entropy.left == 0
    assert sorted(orders) == [[1, 2, 3], [2, 1, 3]]


def test_a_near_tie_in_a_later_level_is_settled_by_the_bits_of_that_level():
    """Of four levels drawn at once, the third has a near-tie of its last two."""
    word, early, bottom = 2**62, 2**61, 2**63 + 2**62
    candidates = Candidates(np.array([50, 50, 50], dtype=np.int64), 0)
    alive, stage = np.ones(3, dtype=np.bool_), level(1.0, 10.0)
    told_apart, tie = [early, word, word + word // 2], [early, word, word]
    seen = []
    for first, second in [(1, 2), (2, 1)]:
        words = [*[bottom] * 4, *told_apart, *told_apart[::-1], *tie, *told_apart]
        entropy = ScriptedEntropy([*words, first << 60, second << 60])
        orders = [order.tolist() for _, order in races([stage] * 4, candidates, alive, entropy)]
        assert entropy.left == 0
        assert (orders[0], orders[1], orders[3]) == ([0, 1, 2], [2, 1, 0], [0, 1, 2])
        seen.append(orders[2])
    assert sorted(seen) == [[0, 1, 2], [0, 2, 1]]


def test_bits_once_drawn_stay():
    """Three words agree. Later bits are 9, 5 and 7, drawn once and used in every comparison.

    The sort compares 1 with 0, then 2 with 1, which draws a third word for 1. Were a clock made
    anew for each comparison, that word, a 9, would put 2 before 1.
    """
    word, bottom = 2**62, 2**63 + 2**62
    candidates = Candidates(np.array([50, 50, 50], dtype=np.int64), 0)
    alive = np.ones(3, dtype=np.bool_)
    entropy = ScriptedEntropy([bottom, word, word, word, *(n << 58 for n in (5, 9, 7, 9))])
    assert race(level(1.0, 10.0), candidates, alive, 9, entropy).picked == [1, 2, 0]
    assert entropy.left == 0


def test_the_rounding_of_large_scores_decides_nothing():
    """x = ε·gap − Λ with a gap near 2^50, where floats are 2^-6 apart; keys are exact."""
    stage, bottom = level(0.1, 10.0), 2**63 + 2**62
    candidates = Candidates(np.array([2**50 + 1, 2**50], dtype=np.int64), 0)
    alive = np.ones(2, dtype=np.bool_)
    wrong_by_floats = 0
    for pair in SeededEntropy(6).words(1200).reshape(-1, 2).tolist():
        entropy = ScriptedEntropy([bottom, *pair, *[0] * 20])
        picked = race(stage, candidates, alive, 9, entropy).picked
        log_e, _ = clocks.read(np.array(pair, dtype=np.uint64))
        # ln(E) is good to 2^-38; the scores differ by exactly ε.
        first_is_first = log_e[0] - stage.epsilon < log_e[1]
        assert picked == ([0, 1] if first_is_first else [1, 0])
        keys = log_e - (stage.epsilon * (candidates.counts - 1) - stage.log_ratio)
        wrong_by_floats += (keys[0] < keys[1]) != first_is_first
    assert wrong_by_floats > 0


def word_of(log_e):
    """The first 64 bits of a V whose clock has rung at ln(E)."""
    return round(-math.expm1(-math.exp(log_e)) * 2**64)


@pytest.mark.parametrize("x", [-7.0 - 2**-12, -8.0 - 2**-12])
@pytest.mark.parametrize("equals", [1, 5])
def test_a_band_is_timed_up_to_its_horizon(x, equals):
    """A candidate hardly below the top of its band, whose clock rings hardly before or after ⊥."""
    bottom = 2**63
    (at_bottom,), _ = clocks.read(np.array([bottom], dtype=np.uint64))
    candidates = Candidates(np.full(equals, 1, dtype=np.int64), 0)
    alive = np.ones(equals, dtype=np.bool_)
    late = 2**63 + 2**62
    for ahead, picked in [(2**-13, [3 % equals]), (-(2**-13), [])]:
        first = word_of(at_bottom + x - ahead + math.log(equals))
        # ⊥, the first of the band, which of them it is, and the second of the band.
        entropy = ScriptedEntropy([bottom, first, 3, late])
        assert race(level(1.0, -x), candidates, alive, 9, entropy).picked == picked


def test_a_choice_among_a_band_is_uniform():
    """2^64 is no multiple of 3, so that the last word would favour 0: it is passed over."""
    assert race_module.any_but(set(), 3, ScriptedEntropy([2**64 - 1, 4])) == 1
    assert race_module.any_but({1}, 3, ScriptedEntropy([4, 5])) == 2


def test_one_word_that_says_little_does_not_make_a_race_slow():
    """A coarse word of ⊥, or of a band, draws more bits instead of timing the whole band."""
    counts = np.ones(100_000, dtype=np.int64)
    candidates, alive = Candidates(counts, 0), np.ones(100_000, dtype=np.bool_)
    stage, late = level(1.0, 40.0), 2**64 - 1
    # ⊥ rings late, the band's first clock in the middle: nobody comes before ⊥.
    assert race(stage, candidates, alive, 9, ScriptedEntropy([late, 2**63, 5 << 40])).picked == []
    # The band's first clock rings early; the second in the middle.
    early = ScriptedEntropy([2**63, 0, 1 << 40, 17, 2**63, *[0] * 4])
    assert race(stage, candidates, alive, 9, early).picked in ([], [17])
