"""Finding items: the threshold by exact tails, who takes part, and the order of what is found."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.rationed import queries as rationed
from headcount.privacy.mechanisms.rationed.queries import LOOKED_AT, MOST_ITEMS, UNIT, thresholds
from headcount.privacy.mechanisms.rationed.rationed_release import rationed_release
from headcount.privacy.mechanisms.rationed.sizes import Sizes
from headcount.privacy.questions import ItemWeights
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.population import PlainPopulation


def exact_tails(sigma, reach):
    """P[X ≥ m] of the discrete Gaussian for m from 0, to 30 digits, rounded up."""
    with localcontext() as context:
        context.prec = 40
        twice = 2 * Decimal(sigma) ** 2
        # Beyond 40σ there is less than e^-800 of it.
        far = max(reach, int(40 * sigma) + 40)
        masses = [(-(Decimal(x) ** 2) / twice).exp() for x in range(far)]
        total = 2 * sum(masses) - 1
        sums = list(itertools.accumulate(reversed(masses)))[::-1]
        return [mass / total * (1 + Decimal("1e-30")) for mass in sums]


@pytest.mark.parametrize("sigma", [0.3, 0.7, 1.0, 3.0, 17.5])
def test_the_discrete_tail_is_within_that_of_the_continuous_one_a_step_before(sigma):
    """P[X ≥ m] ≤ P[N ≥ m − 1]; without the step it is not true."""
    tails = exact_tails(sigma, 0)

    def continuous(least):
        return math.erfc(least / sigma / math.sqrt(2)) / 2

    steps = range(1, int(12 * sigma) + 2)
    assert all(float(tails[m]) <= continuous(m - 1) * (1 + 1e-12) for m in steps)
    assert any(float(tails[m]) > continuous(m) for m in steps)


@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 20)])
@pytest.mark.parametrize("sigma", [1.0, 8.0, 50.0])
def test_what_one_user_brings_is_released_with_probability_delta(sigma, delta, monkeypatch):
    """For every number of items up to the most; and T is not much higher than it must be."""
    monkeypatch.setattr(rationed, "UNIT", 20)
    monkeypatch.setattr(rationed, "MOST_ITEMS", 60)
    looked_at = max(1, math.floor(LOOKED_AT * Fraction(sigma)))
    bounds = thresholds(sigma, looked_at, delta)
    assert list(bounds) == list(range(1, 61))
    tails = exact_tails(sigma, bounds[60] + 2)

    def released(most, bound):
        """The largest chance, over t, that one of t items of one user exceeds T."""
        return max(
            t * tails[max(0, bound + 1 - (looked_at - 1 + math.isqrt(400 // t)))]
            for t in range(1, most + 1)
        )

    for most, bound in bounds.items():
        assert released(most, bound) <= delta < released(most, bound - 4)


def test_the_threshold_at_the_real_constants():
    """Against scipy's tail, at the σ of a release; too low by 5 % it fails."""
    sigma, delta = (
        float(math.ceil(rationed.sigma_for(Fraction(8, 100)) * UNIT)),
        Fraction(1, 10**6),
    )
    looked_at = math.floor(LOOKED_AT * Fraction(sigma))
    bound = thresholds(sigma, looked_at, delta)[MOST_ITEMS]

    def released(bound):
        numbers = np.arange(1, MOST_ITEMS + 1)
        own = np.array([math.isqrt(UNIT**2 // t) for t in range(1, MOST_ITEMS + 1)])
        return float(np.max(numbers * stats.norm.sf((bound + 1 - (looked_at + own) - 1) / sigma)))

    assert released(bound) <= delta
    assert released(bound * 0.95) > delta


def test_an_item_that_only_users_with_too_many_items_have_is_not_looked_at():
    """At a huge ρ, where the least weight looked at would otherwise be 0."""
    pairs = [("bot", item) for item in range(MOST_ITEMS + 1)]
    seen = []

    class Peeking(PlainPopulation):
        def weights(self, unit, most_items, at_least):
            answer = super().weights(unit, most_items, at_least)
            seen.append((at_least, answer.values.size))
            return answer

    budget = Budget(rho=1e12)
    rationed_release(Peeking(pairs), 0.1, budget, Gate(budget.for_filter, SeededEntropy(1)))
    assert seen == [(1, 0), (1, 0)]


def test_equal_weights_come_in_any_order():
    """Not in the population's own, which may depend on who has what."""
    orders = set()
    for seed in range(40):
        gate = Gate(Cost(Fraction(1), Fraction(1, 10)), NoNoise(seed))
        asking = rationed.PaidQueries(Flat(), gate)
        asking.discover(Fraction(1), Fraction(1, 10), NO_USERS)
        orders.add(tuple(asking.population.order))
    assert len(orders) == 6


class NoNoise(SeededEntropy):
    def discrete_gaussian(self, values, sigma):
        return list(values)


class AtTheThreshold:
    """Items whose weights lie around T for the number of items that was asked for."""

    def __init__(self, sigma, delta):
        self.sigma, self.delta = sigma, delta

    def weights(self, unit, most_items, at_least):
        self.most_items = most_items
        bound = thresholds(self.sigma, at_least, self.delta)[most_items]
        return ItemWeights(np.array([bound - 1, bound, bound + 1]), items=None)

    def found(self, weights, places):
        self.places = places


@pytest.mark.parametrize("items", [1, 12, 64, 4000])
def test_the_threshold_is_that_of_who_takes_part(items):
    """And of δ: with more δ, or for fewer items than take part, it would be lower."""
    delta, sizes = Fraction(1, 10**6), Sizes([10**6 * (b <= items) for b in Sizes.BOUNDS], 1.0)
    sigma = float(math.ceil(rationed.sigma_for(Fraction(1)) * UNIT))
    gate = Gate(Cost(Fraction(1), delta), NoNoise(1))
    asking = rationed.PaidQueries(AtTheThreshold(sigma, delta), gate)
    asking.discover(Fraction(1), delta, sizes)
    assert asking.population.places == [2]
    assert (asking.population.most_items == MOST_ITEMS) == (items == 4000)


class Scripted:
    """Answers that do not depend on what is true, and a population that has something else."""

    def __init__(self, true_sizes):
        self.true_sizes, self.asked = true_sizes, []

    def words(self, count):
        return np.arange(count, dtype=np.uint64)

    def discrete_gaussian(self, values, sigma):
        return [5000 * (place < 9) for place in range(len(values))]

    def sizes(self, at_least):
        return [self.true_sizes] * len(at_least)

    def weights(self, unit, most_items, at_least):
        self.asked.append(most_items)
        return ItemWeights(np.zeros(0, dtype=np.int64), items=None)

    def found(self, weights, places):
        pass


def test_who_takes_part_follows_from_noisy_sizes_only():
    budget, runs = Budget(rho=1.0), [Scripted(size) for size in (0, 10**9)]
    for run in runs:
        rationed_release(run, 0.1, budget, Gate(budget.for_filter, run))
    assert runs[0].asked == runs[1].asked
    assert runs[0].asked[0] < MOST_ITEMS


# Nobody has any items, so that all may take part.
NO_USERS = Sizes([0] * len(Sizes.BOUNDS), sigma=1.0)


class Flat:
    """Three items of one large weight."""

    order = ()

    def weights(self, unit, most_items, at_least):
        return ItemWeights(np.full(3, 10**6 * unit), items=None)

    def found(self, weights, places):
        self.order = places
