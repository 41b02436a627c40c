"""Clocks: the right law, full precision in the tail, ties settled by more bits."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from headcount.privacy.randomness import SeededEntropy
from headcount.privacy.sampling.clocks import READING_ERROR, Clock, read, rings_before
from headcount.privacy.sampling.uniform import LazyUniform
from tests.privacy.scripted import ScriptedEntropy
from tests.privacy.stats import false_failure, fits

HALF = 2**63


def clock(word, *more, epsilon=0.0, gap=0, log_ratio=0.0):
    return Clock(LazyUniform(word, ScriptedEntropy(more)), epsilon, gap, log_ratio)


def p_exponential(sample, scale):
    return stats.kstest(sample, "expon", args=(0, scale)).pvalue


def test_readings_are_exponential_at_the_right_scale_only():
    log_e, _ = read(SeededEntropy(5).words(100_000))
    sample = np.exp(log_e)
    p = p_exponential(sample, 1.0)
    assert fits(p), false_failure(p)
    assert not fits(p_exponential(sample, 1.1))
    assert not fits(p_exponential(sample, 0.9))


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
@example(2**64 - 2, 2**64 - 1)  # of 1 − V two bits are known, and of V in the next
@example(1, 2**64 - 1)
def test_a_reading_is_within_its_error_of_the_key_whatever_bits_follow(word, next_word):
    (log_e,), (error,) = read(np.array([word], dtype=np.uint64))
    refined = clock(word, next_word)
    refined.draw_more_bits()
    low, high = refined.bounds()
    if math.isinf(error):
        assert word < 2**40 or word >= 2**64 - 2**40
    else:
        assert error == READING_ERROR
        assert float(low) >= log_e - error
        assert float(high) <= log_e + error


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=3))
def test_more_bits_only_narrow_the_bounds(word, more):
    ticking = clock(word, *more, epsilon=0.3, gap=7, log_ratio=28.0)
    low, high = ticking.bounds()
    for _ in more:
        ticking.draw_more_bits()
        narrower_low, narrower_high = ticking.bounds()
        # Each bound carries its own slack, of 10^-27 and less.
        assert narrower_low >= low - Decimal("1e-26")
        assert narrower_high <= high + Decimal("1e-26")
        low, high = narrower_low, narrower_high


@pytest.mark.parametrize(("zeros", "wins"), [(129, True), (124, True), (121, False), (64, False)])
def test_the_tail_beyond_e_to_the_minus_40_is_reached(zeros, wins):
    """A candidate 85 nats behind ⊥ wins when, and only when, V is below e^-85 or so (2^-122.6).

    ⊥ has V = 1/2, E = ln 2. A generator with 53 bits has no V below 2^-53 and never gets there.
    """
    bits = 1 << (192 - zeros)  # V = 2^-zeros, in three words
    words = [bits >> 128, bits >> 64 & (2**64 - 1), bits & (2**64 - 1)]
    far_behind = clock(*words, 0, 0, epsilon=1.0, gap=0, log_ratio=85.0)
    bottom = clock(HALF, 0, 0, 0, 0)
    assert rings_before(far_behind, bottom) is wins


def test_a_tie_is_settled_by_later_bits_never_by_rounding():
    same = 0x0123456789ABCDEF
    for first, second, before in [(4, 5, True), (5, 4, False)]:
        a, b = clock(same, same, same, first << 32, 0), clock(same, same, same, second << 32, 0)
        assert rings_before(a, b) is before


def test_counts_that_differ_beyond_a_floats_precision_are_told_apart():
    """x of 2^53 and 2^53 + 1 at ε = 2^-60 differ by 2^-60: less than one ulp of Λ = 28."""
    later = clock(HALF, *[0] * 9, epsilon=2.0**-60, gap=2**53, log_ratio=28.0)
    earlier = clock(HALF, *[0] * 9, epsilon=2.0**-60, gap=2**53 + 1, log_ratio=28.0)
    assert rings_before(earlier, later)
    assert not rings_before(later, earlier)


def test_the_error_of_a_reading_allows_for_the_bits_that_are_not_drawn_yet():
    """race.md: 1.5·2⁻⁴⁰ for a word that just says enough, and rounding."""
    words = np.array([2**40, 2**40 + 1], dtype=np.uint64)
    (here, there), errors = read(words)
    assert there - here > 2.0**-41
    assert np.all(errors >= 1.5 * 2.0**-40 + 2.0**-45)
