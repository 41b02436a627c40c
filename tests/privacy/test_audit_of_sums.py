"""An audit of sums: no two neighbours are told apart better than is claimed.

Each run is made again on the other neighbour with the answers that it got, so that a run is scored
by how much likelier all of its answers are on one neighbour than on the other.
"""

import os

import numpy as np
import pytest

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import COUNT, Measure
from headcount.privacy.mechanisms.further import Aggregates
from headcount.privacy.mechanisms.further.centres import CLOSER_LOOKS, PARTS
from headcount.privacy.mechanisms.further.sums import Sums
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.amounts import PlainAmounts
from tests.privacy.audit import HalfTheNoise, epsilon_at_least, gaussian_score

RUNS = int(os.environ.get("AUDIT_RUNS", "10000")) // 5
BUDGET = Budget(epsilon=1.5, delta=0.1)
ITEMS = ["a", "b"]
COUNTS = Measure(COUNT, *[np.array([41.0, 40.0])] * 4)
# So many that a ration is chosen which fits them.
OTHERS = [(n, item, {"v": value}) for n in range(40) for item, value in (("a", 3.0), ("b", -2.0))]
# So many that it is seen where their values are.
CENTRED = [(n, item, {"v": 100.0}) for n in range(160) for item in ITEMS]
USERS = {
    "ordinary": [("z", "a", {"v": 2.0}), ("z", "b", {"v": 2.0})],
    "huge": [("z", "a", {"v": 1e30}), ("z", "b", {"v": -1e30})],
}
# Beyond the ration of rows too, which a mean asks for.
USERS["huge, often"] = 50 * USERS["huge"]
ASKED = {
    "any values": Aggregates(sums=("v",)),
    "bounded": Aggregates(sums=("v",), bounds={"v": (-4.0, 4.0)}),
    "mean": Aggregates(means=("v",)),
}


class Noted:
    """Notes what is asked, and answers with noise or with answers that were given before."""

    private = False

    def __init__(self, noise, answers=()):
        self.noise, self.given, self.asked = noise, iter(answers), []

    def discrete_gaussian(self, values, sigma):
        noisy = next(self.given, None)
        if noisy is None:
            noisy = self.noise.discrete_gaussian(values, sigma)
        self.asked.append((np.array(values, float), np.array(noisy, float), sigma))
        return noisy


class Remembered(PlainAmounts):
    """Amounts that answer the same question once: runs differ in noise only."""

    def __init__(self, rows):
        super().__init__(rows)
        self.known = {}

    def _once(self, key, answer):
        if key not in self.known:
            self.known[key] = answer()
        return self.known[key]

    def magnitudes(self, quantity, released, at_least):
        ask = super().magnitudes
        return self._once(quantity, lambda: ask(quantity, released, at_least))

    def middles(self, quantity, released, at_least):
        ask = super().middles
        return self._once((quantity, tuple(at_least)), lambda: ask(quantity, released, at_least))

    def measure(self, quantities, grids, released, divisors):
        self.key = (*quantities, *grids)
        ask = super().measure
        self._once(self.key, lambda: (ask(quantities, grids, released, divisors), self.found))
        _, self.found = self.known[self.key]

    def norms(self, place, shift, at_least):
        ask = super().norms
        return self._once((self.key, place, shift), lambda: ask(place, shift, at_least))

    def scaled_sums(self, place, ration):
        ask = super().scaled_sums
        return self._once((self.key, place, ration), lambda: ask(place, ration))


def run(amounts, asked, noise, answers=()):
    noted = Noted(noise, answers)
    rho = BUDGET.rho_for_filter
    sums = Sums(asked, amounts, rho, Gate(Cost(rho), noted))
    sums.release(ITEMS, COUNTS, lambda message: None)
    return noted.asked


def scores(rows, other, asked, noise):
    """Return how much likelier each run on some rows is there than on the others, as a log."""
    found = []
    rows, other = Remembered(rows), Remembered(other)
    for _ in range(RUNS):
        made = run(rows, asked, noise)
        again = run(other, asked, noise, [noisy.astype(int).tolist() for _, noisy, _ in made])
        found.append(
            sum(
                gaussian_score(noisy, here, there, sigma).sum()
                for (here, noisy, sigma), (there, _, _) in zip(made, again, strict=True)
            )
        )
    return np.array(found)


def told_apart(few, many, asked, noise, times=1):
    """Return what ε is at least; ``times`` is how far scores are from logs of true ratios."""
    one, two = (
        times * scores(*sides, asked, noise(seed))
        for seed, sides in ((1, (few, many)), (2, (many, few)))
    )
    return max(epsilon_at_least(one, -two, BUDGET.delta), epsilon_at_least(two, -one, BUDGET.delta))


@pytest.mark.parametrize(
    ("others", "user", "asked"),
    [
        (OTHERS, "huge", "any values"),
        (OTHERS, "ordinary", "bounded"),
        (CENTRED, "huge, often", "mean"),
    ],
    ids=["any values", "bounded", "mean"],
)
def test_no_user_is_told_apart_better_than_is_claimed(others, user, asked):
    few, many = others, [*others, *USERS[user]]
    assert told_apart(few, many, ASKED[asked], SeededEntropy) <= BUDGET.epsilon


@pytest.mark.parametrize(
    ("others", "user", "asked"),
    [(OTHERS, "huge", "any values"), (CENTRED, "huge, often", "mean")],
    ids=["any values", "mean"],
)
def test_half_the_noise_is_noticed(others, user, asked):  # or the audit could notice nothing
    few, many = others, [*others, *USERS[user]]
    assert told_apart(few, many, ASKED[asked], HalfTheNoise, times=4) > BUDGET.epsilon


def test_the_audit_of_means_is_of_values_with_a_centre():
    """That everybody is in one bin is seen in nearly all runs; the last histogram is of that."""
    made = run(Remembered(CENTRED), ASKED["mean"], SeededEntropy(1))
    assert sum(len(values) == 2 + PARTS for values, _, _ in made) == CLOSER_LOOKS
