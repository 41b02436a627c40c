"""The discrete Gaussian sampler, word by word: what it makes of a proposal, in every branch."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import chain, repeat

import numpy as np
import pytest

from headcount.privacy.randomness import SeededEntropy
from headcount.privacy.sampling.gaussian import add_noise, law_of, sample
from tests.privacy.proposals import NO_BLOCK, least, outcome, words_of
from tests.privacy.scripted import ScriptedEntropy

ONES = 2**64 - 1
ZEROS = repeat(0)


def second_word(sigma, place, whole, negative=False):
    """The word that says this place in a block, this sign, and so many parts of U."""
    return whole * 2 * law_of(sigma).width + 2 * place + negative


def parts(sigma):
    return 2**64 // (2 * law_of(sigma).width)


def accepted_below(sigma, first, place, bits=128, before=()):
    """The least U, in units of 2^−bits, for which a proposal is not accepted."""

    def rejected(units):
        whole, rest = divmod(Fraction(units, 2**bits) * parts(sigma), 1)
        more = chain(before, words_of(rest))
        return outcome(sigma, first, second_word(sigma, place, whole), more) is None

    return least(rejected, 2**bits)


def first_word_of(sigma, block):
    """The first of the first words that fall into a block or a later one."""
    start = block * law_of(sigma).width

    def is_there(word):
        x = outcome(sigma, word, 0, ZEROS)
        return x is None or x >= start

    return least(is_there, NO_BLOCK)


def exact_ratio(x, sigma):
    """P[X = x]/P[X = 0] to 90 digits."""
    with localcontext() as context:
        context.prec = 90
        return (-(Decimal(x) ** 2) / (2 * Decimal(sigma) ** 2)).exp()


@pytest.mark.parametrize(
    ("sigma", "multiples"),
    [
        (0.3, [1, 4]),
        (1.0, [0.5, 1, 3]),
        (3.3, [1, 2.5, 8]),
        (16.0, [1.01, 9]),
        (40.0, [0.03, 1.3, 5]),
        (1e9, [0.001, 0.7, 3.14159, 9]),
        (2.0**41 + 1 / 3, [0.5, 2]),
        (2.0**58, [0.2, 4.4]),
    ],
)
def test_its_law_measured_word_by_word(sigma, multiples):
    """P[x] ∝ (first words that lead to the block of x) · (the U that accept x), to 30 digits.

    Both are found by bisection with the sampler itself, U to 2^−128. Nothing here knows its table.
    """
    width = law_of(sigma).width

    def weight(x):
        block, place = divmod(x, width)
        start, end = first_word_of(sigma, block), first_word_of(sigma, block + 1)
        assert outcome(sigma, start, second_word(sigma, place, 0), ZEROS) == x
        assert outcome(sigma, start, second_word(sigma, place, 0, True), ZEROS) == (-x or None)
        return (end - start) * accepted_below(sigma, start, place)

    nothing = weight(0)
    for multiple in multiples:
        x = round(multiple * sigma) or 1
        measured = Decimal(weight(x)) / Decimal(nothing)
        assert abs(measured / exact_ratio(x, sigma) - 1) < Decimal("1e-27")


@pytest.mark.parametrize(("sigma", "beyond"), [(0.3, 1), (1e9, 0), (1e9, 70), (2.0**58, 600)])
def test_the_tail_halves_from_block_to_block(sigma, beyond):
    """2 words of 2^64 lead there, and a coin for each further block; its law goes on, too."""
    law = law_of(sigma)
    last, tail = int(law.stairs.ends[-1]), law.stairs.tail
    x = (tail + beyond) * law.width
    coins = [1] * beyond + [0]
    three = [0] if sigma > 2**40 else []  # the third word of a proposal comes before the coins
    for first in (last - 1, last - 2):
        for negative, value in ((False, x), (True, -x)):
            second = second_word(sigma, 0, 0, negative)
            assert outcome(sigma, first, second, chain(three, coins, ZEROS)) == value
    assert outcome(sigma, last - 3, 0, ZEROS) == (tail - 1) * law.width
    assert outcome(sigma, last, 0, ZEROS) is None
    if three:
        assert x > 2**63
        return
    # What is accepted there, and in the block before the tail.
    before = first_word_of(sigma, tail - 1)
    here = Decimal(accepted_below(sigma, last - 1, 0, 300, coins)) * 2 / 2 ** (beyond + 1)
    there = Decimal(accepted_below(sigma, before, 0, 300)) * (last - 2 - before)
    wanted = exact_ratio(x, sigma) / exact_ratio((tail - 1) * law.width, sigma)
    assert abs(here / there / wanted - 1) < Decimal("1e-12")


def test_what_a_proposal_may_not_be():
    """In no block, 0 with a sign, or of a word that is left over when it is divided into parts."""
    sigma = 40.0
    assert law_of(sigma).width == 3
    assert outcome(sigma, 0, 0) == 0
    assert outcome(sigma, 0, 1) is None
    assert outcome(sigma, NO_BLOCK, 0) is None
    assert outcome(sigma, 0, 2) == 1
    assert outcome(sigma, 0, 3) == -1
    # 2^64 = 6·parts + 4, so that four words are left over. U = 0 is accepted everywhere, and U
    # near 1 nowhere but at 0; where a word is left over it is not, although U would be 1.
    assert parts(sigma) * 6 + 4 == 2**64
    assert outcome(sigma, 0, second_word(sigma, 0, parts(sigma) - 1), ZEROS) == 0
    assert outcome(sigma, 0, second_word(sigma, 0, parts(sigma)), ZEROS) is None


@pytest.mark.parametrize(("sigma", "x"), [(0.9, 1), (1e9, 10**9 + 10**7), (2.0**50, 2**49 + 2**45)])
def test_where_floats_cannot_tell_further_words_decide(sigma, x):
    """U and the chance agree in 64 bits and more: the bit in which they differ decides."""
    block, place = divmod(x, law_of(sigma).width)
    first = first_word_of(sigma, block)
    threshold = Fraction(accepted_below(sigma, first, place, 280), 2**280)
    # It is the right one in all those bits.
    words = first_word_of(sigma, block + 1) - first
    nothing = accepted_below(sigma, 0, 0, 280) * first_word_of(sigma, 1)
    with localcontext() as context:
        context.prec = 90
        measured = Decimal(int(threshold * 2**280) * words) / Decimal(nothing)
        assert abs(measured / exact_ratio(x, sigma) - 1) < Decimal("1e-60")
    for digits in (30, 90, 150, 250):
        for side, value in ((-1, x), (1, None)):
            whole, rest = divmod((threshold + Fraction(side, 2**digits)) * parts(sigma), 1)
            drawn = words_of(rest)
            assert outcome(sigma, first, second_word(sigma, place, whole), drawn) == value


def test_a_proposal_is_decided_by_its_own_words_alone():
    """Other words for one proposal change what becomes of it, and of no other."""
    rng = np.random.default_rng(3)

    class Given:
        def __init__(self, columns):
            self.columns, self.calls = columns, 0

        def words(self, count):
            assert self.calls == 0, "another round"
            self.calls += 1
            assert count == self.columns.size
            return self.columns.reshape(-1)

    sigma, count = 5.0, 400
    asked = []

    class Counting(SeededEntropy):
        def words(self, number):
            asked.append(number)
            return super().words(number)

    sample(count, sigma, Counting(1))
    number = asked[0] // 2
    # All are accepted: any block, and U = 0. So the n-th value is that of the n-th proposal.
    columns = rng.integers(0, 2**63, size=(2, number), dtype=np.uint64)
    columns[1] = 2 * rng.integers(0, law_of(sigma).width, size=number, dtype=np.uint64)
    plain = sample(count, sigma, Given(columns))
    for changed in (0, 7, count - 1):
        other = columns.copy()
        other[0, changed] = np.uint64(law_of(sigma).stairs.ends[20])
        values = sample(count, sigma, Given(other))
        assert np.flatnonzero(values != plain).tolist() == [changed]
        assert values[changed] == 21


def test_every_value_takes_words_that_no_other_takes():
    """A source that would give the same word twice is never asked to: two words a proposal."""
    drawn = []

    class Counting(SeededEntropy):
        def words(self, number):
            drawn.append(number)
            return super().words(number)

    assert sample(30_000, 3.3, Counting(1)).size == 30_000
    assert sum(drawn) >= 60_000
    drawn.clear()
    assert sample(0, 3.3, Counting(1)).size == 0
    assert add_noise([], 3.3, Counting(1)).tolist() == []
    assert drawn == []


def test_sums_are_cut_off_where_a_64_bit_integer_ends_and_noise_is_not():
    """If noise were, −5 and −6 would become different numbers: whose noise is high, would show."""
    most, least_ = 2**63 - 1, -(2**63)
    near = add_noise([most, least_, most - 10**6, 5], 3.0, SeededEntropy(2)).tolist()
    assert near[0] <= most
    assert near[1] >= least_
    assert abs(near[2] - (most - 10**6)) < 50
    assert abs(near[3] - 5) < 50
    for sigma, number in ((2.0**58, 300), (2.0**62, 60)):
        noise = sample(number, sigma, SeededEntropy(1)).tolist()
        for value in (-5, -6, most, least_):
            noisy = add_noise([value] * number, sigma, SeededEntropy(1)).tolist()
            assert noisy == [min(max(value + each, least_), most) for each in noise]
    assert set(add_noise([0] * 50, 1e30, SeededEntropy(1)).tolist()) == {most, least_}


@pytest.mark.parametrize("sigma", [0.0, -1.0, float("inf"), float("-inf"), float("nan")])
def test_a_sigma_that_is_none(sigma):
    with pytest.raises(ValueError, match="σ must be a positive, finite number"):
        add_noise([1], sigma, SeededEntropy(1))
    with pytest.raises(ValueError, match="σ must be a positive, finite number"):
        add_noise([1, 1], np.array([1.0, sigma]), SeededEntropy(1))


def test_there_is_one_sigma_or_as_many_as_values():
    assert add_noise([], np.zeros(0), SeededEntropy(1)).size == 0
    assert add_noise([5, 6], np.array([1e-3, 1e-3]), SeededEntropy(1)).tolist() == [5, 6]
    for sigmas in (np.ones(1), np.ones(3), np.ones((2, 1))):
        with pytest.raises(ValueError, match="one for each value"):
            add_noise([5, 6], sigmas, SeededEntropy(1))


def test_only_whole_numbers_get_noise():
    assert add_noise([np.int64(7)], 1e-3, SeededEntropy(1)).tolist() == [7]
    with pytest.raises(TypeError):
        add_noise([1.5], 1.0, SeededEntropy(1))


@pytest.mark.parametrize("sigma", [5e-324, 1e-300, 1e-3])
def test_tiny_noise_is_none(sigma):
    assert set(sample(1000, sigma, SeededEntropy(1)).tolist()) == {0}


def test_one_value_in_integers_alone():
    """Beyond what words hold: the block, the sign, U, then the place in the block."""
    sigma = 2.0**59
    law = law_of(sigma)
    assert law.width == 2**55
    last = int(law.stairs.ends[-1])

    def drawn(*script):
        source = ScriptedEntropy(script)
        (value,) = sample(1, sigma, source).tolist()
        assert source.left == 0
        return value

    assert drawn(0, 0, 0, 77) == 77
    assert drawn(0, 1, 0, 77) == -77
    assert drawn(0, 1, 0, 0, 0, 0, 0, 9) == 9  # −0 is none
    assert drawn(NO_BLOCK, 0, 0, 0, 0, 0, 9) == 9  # nor is what is in no block
    second_block = int(law.stairs.ends[0])
    assert drawn(second_block, 0, 0, 5) == 2**55 + 5
    assert drawn(second_block, 0, ONES, 2**55 - 1, 0, 0, 0, 9) == 9  # rejected
    # The tail: three heads, tails, and more bits of a U that is 0 until it is known.
    far = (law.stairs.tail + 3) * law.width + 5
    assert drawn(last - 1, 0, 0, 1, 1, 1, 0, 5) == far
