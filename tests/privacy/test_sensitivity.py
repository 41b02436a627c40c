"""What a mechanism charges is tied to what the view says that one user can move, at run time."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headcount as hc
from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.accounting.gaussian import ensure_covers, measure_cost, sigma_for
from headcount.privacy.mechanisms.rationed.prices import STEPS, Centring, Prices
from headcount.privacy.mechanisms.rationed.queries import UNIT, PaidQueries
from headcount.privacy.mechanisms.rationed.sizes import Sizes
from headcount.privacy.randomness import SeededEntropy
from headcount.views.protocol import GRID, RATION, Sensitivity
from tests.privacy.population import PlainPopulation, by_item

PAIRS = [(user, item) for user in range(9) for item in range(user + 1)]
RHO, DELTA = Fraction(1, 2), Fraction(1, 10**6)
NOBODY = Sizes([0] * len(Sizes.BOUNDS), 1.0)
SIGMAS = np.array([1.5, 3.0, 3.0, np.inf])


def asked(question, population):
    """Ask one question, of items that are found already where it is about those."""
    paid = PaidQueries(population, SeededEntropy(1), PrivacyFilter(Cost(Fraction(9), Fraction(1))))
    population.names = [] if question in ("users_in_bins", "weights") else list(range(SIGMAS.size))
    weights = np.ones(SIGMAS.size, dtype=np.int64)
    match question:
        case "users_in_bins":
            paid.sizes(RHO)
            population.names = list(range(SIGMAS.size))
            paid.losers(Prices.of(SIGMAS, RHO), weights, 9.0, 9.0, RHO)
        case "weights":
            paid.discover(RHO, DELTA, NOBODY)
        case "clipped_sums":
            paid.counts(SIGMAS, RHO)
            paid.counts(2 * SIGMAS, RHO, Centring(STEPS // 4, 3.0))
        case "lost":
            paid.lost(Prices.of(SIGMAS, RHO), [weights], [GRID], RHO)


QUESTIONS = ["users_in_bins", "weights", "clipped_sums", "lost"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_nothing_is_asked_that_a_user_moves_further_than_is_charged_for(question, monkeypatch):
    asked(question, PlainPopulation(PAIRS))
    stated = getattr(Sensitivity, question)
    for name in ("sizes", "losers", "weights", "clipped_sums", "lost"):

        def unasked(*given, name=name):
            raise AssertionError(f"{name} was asked")

        monkeypatch.setattr(PlainPopulation, name, unasked)
    monkeypatch.setattr(Sensitivity, question, lambda *given: 2 * stated(*given))
    with pytest.raises(hc.BudgetExceededError, match="less than what one user can move"):
        asked(question, PlainPopulation(PAIRS))


def test_nor_a_number_of_users(monkeypatch):
    """Which is measured beside centred counts."""
    true = Prices.of
    cheap = staticmethod(lambda *given: replace(true(*given), users=true(*given).users // 2))
    monkeypatch.setattr(Prices, "of", cheap)
    population = PlainPopulation(PAIRS)
    population.names = list(range(SIGMAS.size))
    paid = PaidQueries(population, SeededEntropy(1), PrivacyFilter(Cost(Fraction(9))))
    with pytest.raises(hc.BudgetExceededError, match="less than what one user can move"):
        paid.counts(2 * SIGMAS, RHO, Centring(STEPS // 4, 3.0))


def test_nor_by_a_threshold(monkeypatch):
    monkeypatch.setattr(Sensitivity, "bounded_counts", lambda most: most + 1)
    with pytest.raises(hc.BudgetExceededError, match="less than what one user can move"):
        hc.release(
            pa.table({"u": [1], "i": ["a"]}),
            user="u",
            item="i",
            budget=hc.Budget(rho=1),
            method="threshold",
            max_items_per_user=3,
        )


@given(st.fractions(Fraction(1, 10**6), 100), st.integers(1, 2**40))
def test_what_is_reckoned_with_covers_what_it_is_for(rho, squared):
    sigma = sigma_for(rho, squared)
    ensure_covers(measure_cost(sigma, squared), sigma, squared)
    with pytest.raises(hc.BudgetExceededError):
        ensure_covers(measure_cost(sigma, squared) * Fraction(999, 1000), sigma, squared)


users = st.lists(st.frozensets(st.integers(0, 7), min_size=1), max_size=5)
bases = st.one_of(st.just(0), st.integers(0, RATION))
many = st.frozensets(st.integers(0, 7), min_size=1)


@given(users, many, st.lists(st.integers(0, 2**41), min_size=8, max_size=8), bases)
def test_one_more_user_moves_no_answer_further_than_is_stated(others, one, costs, base):
    def population(*sets):
        made = PlainPopulation([(user, item) for user, mine in enumerate(sets) for item in mine])
        made.names = list(range(8))
        return made

    few, more = population(*others), population(*others, one)
    costs = np.array(costs, dtype=np.int64)
    sums = [each.clipped_sums(costs, base) for each in (more, few)]
    (share,) = {int(a) for a in sums[0].items - sums[1].items if a} or {0}
    needed = base + sum(int(costs[item]) for item in one)
    assert needed * share**2 <= Sensitivity.clipped_sums()
    if base:  # somebody without an item that counts is a user too
        share = sums[0].users - sums[1].users
        assert needed * share**2 <= Sensitivity.clipped_sums()
    features, most = [np.arange(8) - 3, np.ones(8, dtype=np.int64)], [900, GRID]
    lost = np.array(more.lost(costs, features, most)) - few.lost(costs, features, most)
    assert int((lost**2).sum()) <= Sensitivity.lost(most)
    few.names, more.names = [], []
    bins = np.array(more.sizes((1, 3, 5))) - few.sizes((1, 3, 5))
    assert np.sum(np.append(bins[:-1] - bins[1:], bins[-1]) ** 2) <= Sensitivity.users_in_bins()
    weights = {}
    for sign, each in ((1, more), (-1, few)):
        for item, total in by_item(each.weights(UNIT, 8, 1)).items():
            weights[item] = weights.get(item, 0) + sign * total
    assert sum(value**2 for value in weights.values()) <= Sensitivity.weights(UNIT)
