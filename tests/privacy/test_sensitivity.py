"""What is charged is tied to what one user can move and to the noise that is drawn, at run time."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import headcount as hc
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.sensitivity import EachByOne, Together, Weighted
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.rationed.prices import STEPS, Centring, Prices
from headcount.privacy.mechanisms.rationed.queries import UNIT, PaidQueries
from headcount.privacy.mechanisms.rationed.sizes import Sizes
from headcount.privacy.mechanisms.threshold import threshold_release
from headcount.privacy.questions import (
    RATION,
    USERS_IN_BINS,
    bounded_counts,
    clipped_sums,
    weights_norm,
)
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.population import PlainPopulation, by_item
from tests.privacy.test_rationed import ITEMS, NoisePeek, crowds, moved, neighbours, someone

QUERIES = "headcount.privacy.mechanisms.rationed.queries"
PAIRS = [(user, item) for user in range(9) for item in range(user + 1)]
RHO, DELTA = Fraction(1, 2), Fraction(1, 10**6)
NOBODY = Sizes([0] * len(Sizes.BOUNDS), 1.0)
SIGMAS = np.array([1.5, 3.0, 3.0, np.inf])


# --- what answers cost ---------------------------------------------------------------------------

scales = st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=6)
moves = st.lists(st.integers(0, 2**40), min_size=6, max_size=6)


@given(scales, moves)
def test_together_is_charged_for_the_least_noise(sigmas, squares):
    """However the squares are spread over the numbers."""
    squares = squares[: len(sigmas)]
    exact = sum(s / (2 * Fraction(sigma) ** 2) for s, sigma in zip(squares, sigmas, strict=True))
    assert Together(sum(squares)).cost(np.array(sigmas)) >= exact
    assert Together(7).cost(2.0) == Fraction(7, 8)


@given(scales, st.booleans())
def test_each_number_that_moves_by_one_is_charged(sigmas, twice):
    sigmas = 2 * sigmas if twice else sigmas
    exact = sum(1 / (2 * Fraction(sigma) ** 2) for sigma in sigmas)
    cost = EachByOne(len(sigmas)).cost(np.array(sigmas))
    assert exact <= cost <= exact * (1 + Fraction(1, 10**9))
    assert EachByOne(len(sigmas)).cost(2.0) == Fraction(len(sigmas), 8)
    assert EachByOne(0).cost(np.zeros(0)) == EachByOne(0).cost(2.0) == 0


@given(scales, moves, st.lists(st.integers(1, 2**52), min_size=6, max_size=6))
def test_weighted_numbers_are_charged_for_the_worst_spread(sigmas, squares, weights):
    """Exactly: no spread costs more, and one that moves a single number costs as much."""
    weights, squares = weights[: len(sigmas)], squares[: len(sigmas)]
    squared = sum(weight * square for weight, square in zip(weights, squares, strict=True))
    cost = Weighted(np.array(weights), squared).cost(np.array(sigmas))
    exact = sum(s / (2 * Fraction(sigma) ** 2) for s, sigma in zip(squares, sigmas, strict=True))
    alone = zip(weights, sigmas, strict=True)
    assert exact <= cost
    assert cost == max(Fraction(squared, weight) / (2 * Fraction(s) ** 2) for weight, s in alone)


@st.composite
def asked_for(draw):
    """Return noise for counts, how they are centred, and what they cost at some ρ."""
    noise = np.array(draw(st.lists(st.floats(0.5, 1e4), min_size=8, max_size=8)))
    left_out = draw(st.sets(st.integers(0, 7), max_size=7))
    noise[list(left_out)] = np.inf
    centre = draw(st.integers(0, STEPS // 2))
    centring = Centring(centre, draw(st.floats(0.5, 1e4))) if centre else Centring()
    # So much that no user pays more than a ration for what they lack, and an item for itself.
    finite = noise[np.isfinite(noise)]
    least = float((finite**-2.0).sum() + 1 / centring.sigma**2) * draw(st.floats(1, 100))
    return noise, centring, Prices.of(noise, Fraction(least), centring)


@given(crowds, someone, asked_for())
@example([], set(ITEMS), (np.full(8, 4.0), Centring(), Prices.of(np.full(8, 4.0), Fraction(1, 4))))
def test_counts_are_paid_for_by_whoever_moves_them_and_not_for_a_bit_less(crowd, user, asked):
    """At what is required for given prices, whatever ρ they were made for."""
    noise, centring, prices = asked
    priced = [*zip(prices.whole.tolist(), noise.tolist(), strict=True)]
    priced = [(price, Fraction(sigma)) for price, sigma in priced if price]
    if centring.centre:
        priced.append((prices.users, Fraction(centring.sigma)))
    required = max(RATION / (2 * price * sigma**2) for price, sigma in priced)
    logs = [], []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Prices, "of", lambda *given: prices)
        for side, log in zip(neighbours(crowd, user | {99}, ITEMS), logs, strict=True):
            gate = Gate(Cost(required), NoisePeek(1, log))
            PaidQueries(side, gate).counts(noise, required, centring)
            assert gate.spent == Cost(required)
        assert moved(*logs) <= required
        too_little = required - Fraction(1, 10**40)
        gate = Gate(Cost(required), SeededEntropy(1))
        with pytest.raises(hc.BudgetExceededError, match="less than what one user can move"):
            PaidQueries(None, gate).counts(noise, too_little, centring)
        assert gate.spent == Cost()


# --- what mechanisms say that one user can move --------------------------------------------------


def asked(question, population):
    """Ask one question for all that there is, of items that are found already."""
    paid = PaidQueries(population, Gate(Cost(RHO, DELTA), SeededEntropy(1)))
    population.names = [] if question in ("sizes", "weights_norm") else list(range(SIGMAS.size))
    weights = np.ones(SIGMAS.size, dtype=np.int64)
    match question:
        case "sizes":
            paid.sizes(RHO)
        case "losers":
            paid.losers(Prices.of(SIGMAS, RHO), weights, 9.0, 9.0, RHO)
        case "weights_norm":
            paid.discover(RHO, DELTA, NOBODY)
        case "clipped_sums":
            paid.counts(SIGMAS, RHO)
        case "centred":
            paid.counts(2 * SIGMAS, RHO, Centring(STEPS // 4, 3.0))


QUESTIONS = {
    "sizes": ("USERS_IN_BINS", Together(2)),
    "losers": ("USERS_IN_BINS", Together(2)),
    "weights_norm": ("weights_norm", lambda unit: Together(2 * unit**2)),
    "clipped_sums": ("clipped_sums", lambda costs, unit: clipped_sums(costs, 2 * unit)),
    "centred": ("clipped_sums", lambda costs, unit: clipped_sums(costs, 2 * unit)),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_nothing_is_asked_that_a_user_moves_further_than_is_charged_for(question, monkeypatch):
    asked(question, PlainPopulation(PAIRS))
    for name in ("sizes", "losers", "weights", "clipped_sums"):

        def unasked(*given, name=name):
            raise AssertionError(f"{name} was asked")

        monkeypatch.setattr(PlainPopulation, name, unasked)
    stated, doubled = QUESTIONS[question]
    monkeypatch.setattr(f"{QUERIES}.{stated}", doubled)
    with pytest.raises(hc.BudgetExceededError):
        asked(question, PlainPopulation(PAIRS))


def test_nor_a_number_of_users(monkeypatch):
    """Which is measured beside centred counts."""
    true = Prices.of
    cheap = staticmethod(lambda *given: replace(true(*given), users=true(*given).users // 2))
    monkeypatch.setattr(Prices, "of", cheap)
    with pytest.raises(hc.BudgetExceededError, match="less than what one user can move"):
        asked("centred", PlainPopulation(PAIRS))


def test_nor_by_a_threshold(monkeypatch):
    monkeypatch.setattr(threshold_release, "bounded_counts", lambda most: bounded_counts(most + 1))
    with pytest.raises(hc.BudgetExceededError, match="more than is left"):
        hc.release(
            pa.table({"u": [1], "i": ["a"]}),
            user="u",
            item="i",
            budget=hc.Budget(rho=1),
            method="threshold",
            max_items_per_user=3,
        )


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
    assert needed * share**2 <= clipped_sums(costs).squared
    if base:  # somebody without an item that counts is a user too
        share = sums[0].users - sums[1].users
        assert needed * share**2 <= clipped_sums(costs).squared
    few.names, more.names = [], []
    bins = np.array(more.sizes((1, 3, 5))) - few.sizes((1, 3, 5))
    assert np.sum(np.append(bins[:-1] - bins[1:], bins[-1]) ** 2) <= USERS_IN_BINS.squared
    weights = {}
    for sign, each in ((1, more), (-1, few)):
        for item, total in by_item(each.weights(UNIT, 8, 1)).items():
            weights[item] = weights.get(item, 0) + sign * total
    assert sum(value**2 for value in weights.values()) <= weights_norm(UNIT).squared
