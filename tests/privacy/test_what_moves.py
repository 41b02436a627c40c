"""Totals, rows, sums and means: no question costs less than one user moves its answer.

Two runs, one of them with one user more, get the same noisy answers. In exact arithmetic the
squared distance between the true answers of each question, over 2σ², is at most what was charged.
"""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import COUNT, Measure
from headcount.privacy.mechanisms.further import Aggregates, Totals
from headcount.privacy.mechanisms.further.sums import Sums
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.amounts import PlainAmounts

RELEASED = ["a", "b", "c"]
VALUES = [None, math.nan, math.inf, 0.0, 1.0, -1.0, 5.0, 900.0, 901.5, -3e4, 1e-9, 1e30]
value = st.sampled_from(VALUES)
row = st.tuples(st.sampled_from([*RELEASED, "not released"]), value, value)
someone = st.lists(row, max_size=8)
ASKED = [
    Aggregates(rows=True),
    Aggregates(sums=("x",)),
    Aggregates(means=("x",)),
    Aggregates(rows=True, sums=("x", "y"), means=("x",), bounds={"y": (-2.0, 1000.0)}),
    Aggregates(sums=("x",), means=("y",), bounds={"x": (0.0, 9.0), "y": (1.0, 5.0)}, max_rows=4),
]


class Told:
    """Answers questions with noise, or with what was answered before; notes what was true."""

    private = False

    def __init__(self, seed, before=None):
        self.noise, self.before, self.asked = SeededEntropy(seed), before, []

    def discrete_gaussian(self, values, sigma):
        place, true = len(self.asked), list(values)
        told = self.before.asked[place][2] if self.before else None
        told = told or self.noise.discrete_gaussian(true, sigma)
        self.asked.append((true, Fraction(sigma), told))
        return list(told)


class Charged(Gate):
    """A gate that notes each charge."""

    def __init__(self, rho, entropy):
        super().__init__(Cost(rho), entropy)
        self.costs = []

    def noisy(self, *asked, **more):
        before = self.spent.rho
        answer = super().noisy(*asked, **more)
        self.costs.append(self.spent.rho - before)
        return answer


class Everybody:
    """All users, and those who have something else."""

    def __init__(self, crowd):
        self.crowd = crowd

    def users(self):
        return sum(bool(rows) for rows in self.crowd)

    def with_other_items(self, released):
        return sum(any(item not in released for item, *_ in rows) for rows in self.crowd)


def moves(run, crowd, user, larger_first):
    """Run with and without a user; return how far answers moved, which was paid for."""
    sides = [crowd, [*crowd, user]]
    first, costs = run(sides[larger_first], None)
    second, same = run(sides[not larger_first], first)
    assert costs == same
    moved = []
    for one, two, cost in zip(first.asked, second.asked, costs, strict=True):
        assert one[1:] == two[1:]
        moved.append(sum((a - b) ** 2 for a, b in zip(one[0], two[0], strict=True)))
        assert moved[-1] <= cost * 2 * one[1] ** 2
    return moved


rhos = st.sampled_from([Fraction(1, 50), Fraction(1), Fraction(200), Fraction(10**6)])
crowds = st.lists(st.lists(row, min_size=1, max_size=8), max_size=12)


@given(crowds, someone, st.sampled_from(ASKED), rhos, st.integers(0, 2**32), st.booleans())
def test_no_user_moves_an_answer_by_more_than_is_charged(crowd, user, asked, rho, seed, larger):
    sizes = np.array([9.0, 3.0, 1.0])
    counts = Measure(COUNT, sizes, np.ones(3), sizes, np.ones(3))

    def run(sides, before):
        rows = [
            (number, item, {"x": x, "y": y})
            for number, mine in enumerate(sides)
            for item, x, y in mine
        ]
        entropy = Told(seed, before)
        gate = Charged(rho, entropy)
        sums = Sums(asked, PlainAmounts(rows), rho, gate)
        sums.release(RELEASED, counts, lambda message: None)
        assert sum(gate.costs) <= rho
        return entropy, gate.costs

    moves(run, crowd, user, larger)


@given(crowds, someone, rhos, st.integers(0, 2**32), st.booleans())
def test_no_user_moves_a_total_by_more_than_is_charged(crowd, user, rho, seed, larger):
    def run(sides, before):
        entropy = Told(seed, before)
        gate = Charged(rho, entropy)
        asked = Totals(total=True, other=True)
        asked.release(Everybody(sides), RELEASED, rho, gate, lambda message: None)
        return entropy, gate.costs

    assert max(moves(run, crowd, user, larger)) <= 1
