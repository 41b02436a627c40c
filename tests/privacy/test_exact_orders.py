"""Orders of ringing from words chosen to tie: each is that of its own level's exact clocks."""

import random
from fractions import Fraction

import numpy as np
import pytest
from headcount.privacy.mechanisms.pcr.clocks import rings_before
from headcount.privacy.mechanisms.pcr.race import _BOTTOM, _Races

from headcount.privacy.mechanisms.pcr import race as race_module
from headcount.privacy.mechanisms.pcr.candidates import Candidates
from headcount.privacy.mechanisms.pcr.schedule import Level
from headcount.privacy.mechanisms.pcr.settings import Charging

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


# With the first nobody is in a band, with the others many are.
@pytest.mark.parametrize("near", [-7.0, 0.5, 1.5, 3.0])
def test_an_order_is_that_of_the_clocks_of_its_own_level(monkeypatch, near):
    monkeypatch.setattr(race_module, "_NEAR", near)
    in_bands = 0
    for seed in range(60):
        chance = random.Random(f"{near} {seed}")
        numbers = [chance.randint(1, 12) for _ in range(chance.randint(0, 9))]
        counts = np.array(sorted(numbers, reverse=True), dtype=np.int64)
        cutoff = chance.randint(0, int(counts.min(initial=3)))
        levels = [
            Level(
                epsilon, chance.choice((0.0, 0.5, 2.0)), 1.0, Fraction(1, 100), Charging.TRUE_COST
            )
            for epsilon in (0.25, 0.5, 1.0)
        ]
        alive = np.array([chance.random() < 0.8 for _ in numbers], dtype=np.bool_)
        drawn = _Races(levels, Candidates(counts, cutoff), alive, TyingWords(chance))
        for number, order in enumerate(drawn.orders()):
            picked, bottom = order.tolist(), drawn._exact(number, _BOTTOM)
            clocks = [drawn._exact(number, candidate) for candidate in picked] + [bottom]
            assert all(map(rings_before, clocks, clocks[1:]))
            one_by_one = int(drawn._ends[number, 0])
            late = {place for place in range(one_by_one) if alive[place]}
            late |= {who for level, who in drawn._clocks if level == number} - {_BOTTOM}
            for candidate in late - set(picked):
                assert rings_before(bottom, drawn._exact(number, candidate))
            in_bands += sum(candidate >= one_by_one for candidate in picked)
    assert (in_bands > 20) is (near > 0)
