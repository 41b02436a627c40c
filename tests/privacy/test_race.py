"""The gate's race against the enumerated law of repeated Unknown Domain Gumbel."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.schedule import Level
from headcount.privacy.mechanisms.pcr.settings import Charging
from headcount.privacy.randomness import SeededEntropy
from headcount.privacy.sampling import clocks
from headcount.privacy.sampling.clocks import before_bottom
from tests.privacy.laws import BOTTOM, race_law, weights_of
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
}


def exact_law(stage, counts, cutoff, dead, at_most):
    alive = {str(i): n for i, n in enumerate(counts) if i not in dead}
    return dict(race_law(weights_of(stage, alive, cutoff), at_most))


def observed_law(stage, counts, cutoff, dead, at_most, runs=RUNS, seed=11):
    entropy, seen = SeededEntropy(seed), Counter()
    left = np.delete(np.arange(len(counts)), dead)
    gaps = np.array(counts, dtype=np.int64)[left] - 1 - cutoff
    for _ in range(runs):
        places, reached_bottom = race(stage, gaps, at_most, entropy)
        seen[(*map(str, left[places].tolist()), *([BOTTOM] if reached_bottom else []))] += 1
    return seen


def race(stage, gaps, at_most, entropy):
    gate = Gate(stage.picks(at_most), entropy)
    return gate.picked(np.array(gaps), stage.epsilon, stage.log_ratio, at_most, stage.picks)


@pytest.mark.parametrize("case", CASES)
def test_the_race_has_the_law_of_repeated_picks(case):
    expected = exact_law(*CASES[case])
    if len(expected) == 1:
        assert observed_law(*CASES[case], runs=50).keys() == expected.keys()
        return
    p = chi_square_p(observed_law(*CASES[case]), expected)
    assert fits(p), false_failure(p)


def test_a_race_at_the_wrong_epsilon_is_noticed():
    stage, counts, cutoff, dead, at_most = CASES["spread"]
    wrong = level(stage.epsilon * 1.1, stage.log_ratio)
    seen = observed_law(wrong, counts, cutoff, dead, at_most)
    assert not fits(chi_square_p(seen, exact_law(stage, counts, cutoff, dead, at_most)))


def test_a_cut_level_never_says_whether_more_would_have_followed():
    stage, sure = level(1.0, 2.0), [1000, 1000]
    places, reached_bottom = race(stage, sure, 2, SeededEntropy(1))
    assert sorted(places.tolist()) == [0, 1]
    assert not reached_bottom
    assert race(stage, sure, 3, SeededEntropy(1))[1]


# Words are drawn for the candidates in their order, and then for ⊥.


def test_near_ties_within_a_race_draw_more_bits():
    """Two equal counts whose first 64 bits agree: the next bits decide who came first."""
    word, bottom, orders = 2**62, 2**63 + 2**62, []
    for first, second in [(1, 2), (2, 1)]:
        entropy = ScriptedEntropy([word, word, bottom, first << 60, second << 60])
        orders.append(before_bottom(np.array([49, 49]), 1.0, 10.0, entropy).tolist())
        assert entropy.left == 0
    assert sorted(orders) == [[0, 1], [1, 0]]


def test_a_near_tie_with_bottom_draws_more_bits():
    """x = 1·10 − 10 = 0 and the same first 64 bits: the next bits decide who wins."""
    picked = []
    for first, second in [(1, 2), (2, 1)]:
        entropy = ScriptedEntropy([2**62, 2**62, first << 60, second << 60])
        picked.append(before_bottom(np.array([10]), 1.0, 10.0, entropy).tolist())
        assert entropy.left == 0
    assert sorted(picked) == [[], [0]]


def test_a_bottom_with_hardly_any_bits_draws_more_before_it_is_compared():
    """⊥'s word of all ones says only that it rings late; a float would read infinity."""
    # x = 1·1 − 71 = −70, so the item needs E below e^-70·E_⊥ = e^-70·45 or so, which is 2^-95.5.
    early, late = 0, 2**64 - 1
    for more, picked in [(1 << 20, [0]), (1 << 40, [])]:
        entropy = ScriptedEntropy([early, late, *[more] * 4])
        assert before_bottom(np.array([1]), 1.0, 71.0, entropy).tolist() == picked


def test_bits_once_drawn_stay():
    """Three words agree. Later bits are 9, 5 and 7, drawn once and used in every comparison.

    The sort compares 1 with 0, then 2 with 1, which draws a third word for 1. Were a clock made
    anew for each comparison, that word, a 9, would put 2 before 1.
    """
    word, bottom = 2**62, 2**63 + 2**62
    entropy = ScriptedEntropy([word, word, word, bottom, *(n << 58 for n in (5, 9, 7, 9))])
    assert before_bottom(np.full(3, 49), 1.0, 10.0, entropy).tolist() == [1, 2, 0]
    assert entropy.left == 0


def test_the_rounding_of_large_scores_decides_nothing():
    """x = ε·gap − Λ with a gap near 2^50, where floats are 2^-6 apart; keys are exact."""
    epsilon, log_ratio, bottom = 0.1, 10.0, 2**63 + 2**62
    gaps = np.array([2**50, 2**50 - 1])
    wrong_by_floats = 0
    for pair in SeededEntropy(6).words(1200).reshape(-1, 2).tolist():
        entropy = ScriptedEntropy([*pair, bottom, *[0] * 20])
        picked = before_bottom(gaps, epsilon, log_ratio, entropy).tolist()
        log_e, _ = clocks.read(np.array(pair, dtype=np.uint64))
        # ln(E) is good to 2^-38; the scores differ by exactly ε.
        first_is_first = log_e[0] - epsilon < log_e[1]
        assert picked == ([0, 1] if first_is_first else [1, 0])
        keys = log_e - (epsilon * gaps - log_ratio)
        wrong_by_floats += (keys[0] < keys[1]) != first_is_first
    assert wrong_by_floats > 0


@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_one_word_that_says_little_does_not_decide(word):
    """A coarse word of one among 100,000: it is compared by more bits, and nobody else is."""
    gaps, bottom = np.zeros(100_000, dtype=np.int64), 2**50
    words = np.full(gaps.size, 2**63)
    words[7] = word
    entropy = ScriptedEntropy([*words.tolist(), bottom, *[1 << 63] * 6])
    assert before_bottom(gaps, 1.0, 20.0, entropy).tolist() == ([7] if word == 0 else [])


@pytest.mark.parametrize("bottom", [0, 2**64 - 1])
def test_a_bottom_that_says_little_is_not_compared_with_everybody(bottom, monkeypatch):
    compared = []
    real = clocks.rings_before
    monkeypatch.setattr(clocks, "rings_before", lambda *two: compared.append(two) or real(*two))
    entropy = ScriptedEntropy([*[2**63] * 1000, bottom, *[2**63] * 9])
    assert before_bottom(np.zeros(1000, dtype=np.int64), 1.0, 90.0, entropy).size == 0
    assert not compared
