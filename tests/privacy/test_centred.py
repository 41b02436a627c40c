"""The claims of rationed.md about centred counts: what a user moves, prices, and an audit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.rationed import queries as rationed
from headcount.privacy.mechanisms.rationed.prices import STEPS, Centring, Prices
from headcount.privacy.questions import GRID, RATION
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.audit import HalfTheNoise, gaussian_score
from tests.privacy.test_audit import (
    BUDGET,
    CROWD,
    LEAST,
    RHO,
    SINGLE_RUNS,
    Copies,
    asking,
    told_apart,
)
from tests.privacy.test_rationed import (
    ITEMS,
    NoisePeek,
    crowds,
    moved,
    neighbours,
    population,
    rhos,
    sigmas,
    someone,
)


@st.composite
def centred(draw, rho, sigmas):
    """Return noise for counts and how they are centred, so that the base is within a ration.

    Also far from where `Centring.of` would put the centre: privacy must not depend on that.
    """
    least = rationed.sigma_for(rho)
    noise = np.maximum(np.array(sigmas), least)
    centre = draw(st.integers(1, STEPS // 2))
    base = float(((least / noise[np.isfinite(noise)]) ** 2).sum()) * (centre / STEPS) ** 2
    noise = noise * max(1.0, math.sqrt(2 * base)) * (1 + 1e-9)
    return noise, Centring(centre, least * draw(st.floats(1.5, 100)))


@given(crowds, someone, st.lists(sigmas, min_size=8, max_size=8), rhos, st.data())
@example([{0}, {1, 2}], set(), [1e4] * 8, Fraction(1), None)
@example([], set(ITEMS), [4.0] * 8, Fraction(1, 2), None)
@example([], {7}, [4.0] * 8, Fraction(1, 2), None)
def test_a_user_moves_centred_counts_within_the_ration(crowd, user, asked_for, rho, data):
    """The same, for all counts and the number of users together, whatever the user lacks."""
    if data is None:
        noise = np.array(asked_for)
        centring, _ = Centring.of(noise, rationed.sigma_for(rho))
        assert centring.centre == STEPS // 2
    else:
        noise, centring = data.draw(centred(rho, asked_for))
    # Somebody who has no item that counts is a user all the same.
    logs = [], []
    for side, log in zip(neighbours(crowd, user | {99}, ITEMS), logs, strict=True):
        gate = Gate(Cost(rho), NoisePeek(1, log))
        counts = rationed.PaidQueries(side, gate).counts(noise, rho, centring)
        assert not counts[~np.isfinite(noise)].any()
    (_, (before, _), _), (_, (after, drawn), _) = *logs[0], *logs[1]
    assert [sigma / (STEPS * GRID) for sigma in drawn[:-1]] == noise[np.isfinite(noise)].tolist()
    assert drawn[-1] == GRID * centring.sigma
    assert after[-1] > before[-1]
    assert 0 < moved(*logs) <= gate.spent.rho


@given(st.lists(st.floats(0.5, 1e4), min_size=1, max_size=300), rhos)
def test_the_centre_is_one_with_which_a_base_fits(asked_for, rho):
    """And somebody with all items needs no more than they would without a centre."""
    least = rationed.sigma_for(rho)
    noise = least * np.maximum(np.array(asked_for), 1.0)
    centring, full = Centring.of(noise, least)
    prices, plain = Prices.of(noise, rho, centring), Prices.of(noise, rho)
    assert prices.base <= RATION
    assert prices.base + int(prices.items.sum()) <= max(RATION, int(plain.items.sum()))
    assert (2 * centring.centre == STEPS) == (full * (1 + 1e-5) <= 4)


def test_a_base_of_more_than_a_ration_is_refused():
    """Users without an item that counts would count for more than they pay."""
    with pytest.raises(ValueError, match="each user more than a ration"):
        Prices.of(np.full(4, 1.0), Fraction(1, 2), Centring(STEPS // 2, 1e6))


@given(st.lists(sigmas, min_size=8, max_size=8), rhos, someone, st.data())
def test_prices_add_up_to_what_a_user_moves(asked_for, rho, user, data):
    """In whole numbers, not one part of a ration less."""
    noise, centring = data.draw(centred(rho, asked_for))
    prices, m = Prices.of(noise, rho, centring), Fraction(centring.centre, STEPS)
    counted = np.flatnonzero(prices.whole).tolist()
    needed = sum(int(prices.whole[item]) * ((item in user) - m) ** 2 for item in counted)
    paid = sum(int(prices.items[item]) for item in user)
    assert prices.base + paid >= prices.users + needed
    assert all((prices.items > 0) == (prices.whole > 0))


def test_centred_counts_are_the_counts():
    """What is taken off is put back, and left out of what is left out."""
    side = population([{0, 1}, {0}, {2}, {0, 1, 2}], ITEMS)
    asking = rationed.PaidQueries(side, Gate(Cost(Fraction(10**9)), SeededEntropy(1)))
    noise = np.array([0.002, 0.001, 0.001, math.inf, *[0.001] * 4])
    counts = asking.counts(noise, Fraction(10**9), Centring(20, 0.001))
    assert np.abs(counts - [3, 2, 2, 0, 0, 0, 0, 0]).max() < 0.02
    assert counts[3] == 0


# The noise of four counts that together with the number of users take a ration of everybody,
# whatever they have: F = 4 (prices.py).
CENTRED = np.full(4, LEAST * math.sqrt(1.5) * (1 + 1e-5))
CENTRING, _ = Centring.of(CENTRED, LEAST)


def centred_counts_told_apart(items, noise=SeededEntropy):
    """By all that is drawn: each centred count and the number of users."""
    sigmas = GRID * np.array([*STEPS * CENTRED, CENTRING.sigma])

    class Drawn(noise):
        def discrete_gaussian(self, values, sigma):
            noisy = super().discrete_gaussian(values, sigma)
            self.all += noisy
            return noisy

    def runs(crowd, entropy):
        population, entropy.all = Copies(crowd, "abcd").one, []
        for _ in range(SINGLE_RUNS):
            asking(population, entropy).counts(CENTRED, RHO, CENTRING)
        return np.array(entropy.all).reshape(SINGLE_RUNS, 5)

    def true(crowd):
        users = GRID * len(crowd)
        counts = [sum(item in mine for mine in crowd.values()) for item in "abcd"]
        return np.array([*(STEPS * GRID * n - CENTRING.centre * users for n in counts), users])

    def score(drawn, here, there):
        return gaussian_score(drawn, true(here), true(there), sigmas).sum(axis=1)

    return told_apart(runs, CROWD, {**CROWD, "u": items}, score, Drawn)


@pytest.mark.parametrize("items", ["abcd", "a", "z"])
def test_centred_counts(items):
    assert 2 * CENTRING.centre == STEPS
    assert centred_counts_told_apart(items) <= BUDGET.epsilon
    assert centred_counts_told_apart(items, HalfTheNoise) > BUDGET.epsilon
