"""Orders of ringing from words chosen to tie: each is that of the exact clocks."""

import random

import numpy as np

from headcount.privacy.sampling.clocks import _Clocks, rings_before

#: Words at the ends of what floating point can tell, and one in the middle.
EDGES = [
    *(0, 1, 2**40 - 1, 2**40, 2**58 - 1, 2**58, 2**63),
    *(2**64 - 2**40 - 1, 2**64 - 2**40, 2**64 - 1, 12345678901234567),
]


class TyingWords:
    """Words that are often the same, and otherwise of any length."""

    def __init__(self, chance):
        self._chance = chance

    def words(self, count):
        return np.array([self._word() for _ in range(count)], dtype=np.uint64)

    def _word(self):
        if self._chance.random() < 0.7:
            return self._chance.choice(EDGES)
        return self._chance.getrandbits(self._chance.choice([3, 30, 41, 57, 59, 64, 64, 64]))


def test_an_order_is_that_of_the_clocks():
    several = 0
    for seed in range(240):
        chance = random.Random(seed)
        gaps = np.array(
            [chance.randint(-3, 12) for _ in range(chance.randint(0, 9))], dtype=np.int64
        )
        epsilon, log_ratio = chance.choice((0.25, 0.5, 1.0)), chance.choice((0.0, 0.5, 2.0))
        drawn = _Clocks(gaps, epsilon, log_ratio, TyingWords(chance), bottom=True)
        order = drawn.before_bottom().tolist()
        bottom = drawn._clock(gaps.size)
        ringing = [*map(drawn._clock, order), bottom]
        assert all(map(rings_before, ringing, ringing[1:]))
        for other in set(range(gaps.size)) - set(order):
            assert rings_before(bottom, drawn._clock(other))
        several += len(order) > 2
    assert several > 20


def test_the_first_to_ring_are_those_of_the_clocks():
    for seed in range(240):
        chance = random.Random(seed)
        gaps = np.array(
            [chance.randint(0, 12) for _ in range(chance.randint(2, 9))], dtype=np.int64
        )
        number = chance.randint(1, gaps.size - 1)
        drawn = _Clocks(gaps, 0.5, 0.0, TyingWords(chance), bottom=False)
        first = drawn.first(number).tolist()
        assert len(set(first)) == number
        for other in set(range(gaps.size)) - set(first):
            assert all(rings_before(drawn._clock(one), drawn._clock(other)) for one in first)
