"""What is chosen from noisy answers: how far to go, how much noise, and what is put back."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.privacy.mechanisms.posterior import nonnegative_posterior_mean
from headcount.privacy.mechanisms.rationed.beliefs import (
    Beliefs,
    Expected,
    Found,
    _ratio_along,
    coarse_noise,
)
from headcount.privacy.mechanisms.rationed.forecast import (
    countable,
    lost_at,
    ranks_up_to,
    second_share,
)
from headcount.privacy.mechanisms.rationed.losses import FINE, GRID, ONE, Curve, Losers
from headcount.privacy.mechanisms.rationed.path import path, released, within_target
from headcount.privacy.mechanisms.rationed.sizes import Sizes
from headcount.privacy.mechanisms.rationed.tuning import TUNING


def believed(estimates):
    counts = np.array(estimates, dtype=np.float64)
    expected = Expected(counts, np.full(counts.size, 0.02), np.full(counts.size, 0.02))
    return Beliefs(counts, expected, np.argsort(-counts, kind="stable"))


@given(st.lists(st.floats(1.0, 1e6), min_size=1, max_size=50), st.floats(1e-3, 1e3))
def test_the_path_leads_from_few_items_to_all_of_them_and_to_the_least_noise(estimates, least):
    points = path(believed(estimates), 0.1, least)
    loads = [point.load for point in points]
    assert loads == sorted(loads)
    assert points[-1].kept.size == len(estimates)
    assert np.all(points[-1].sigmas == least)
    assert all(np.all(point.sigmas >= least) for point in points)


@given(st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=60))
def test_as_many_are_released_as_keep_the_share_within_the_target(errors):
    errors = np.array(errors)
    out = released(errors, 0.1)
    chances = np.sort(within_target(errors, 0.1))[::-1]
    assert out.size == 0 or chances[: out.size].mean() >= TUNING.within - 1e-9
    assert out.size == errors.size or chances[: out.size + 1].mean() < TUNING.within
    left = np.setdiff1d(np.arange(errors.size), out)
    assert not left.size or not out.size or errors[out].max() <= errors[left].min()


def histogram(users, sigma=1.0, mass=1000.0):
    """Users who lose so many rarest items each, in the bins, without noise."""
    bins = np.zeros(len(Losers.BOUNDS))
    for items, number in users.items():
        bins[int(math.log2(items * GRID * FINE))] += number
    return Losers(bins, sigma, mass * FINE, most=2.0**35)


def test_what_is_lost_is_added_up():
    loss, error = histogram({1: 2000, 8: 1000}, mass=1e5).loss()
    assert loss == pytest.approx((2000 + 8000) / math.log(2) / 1e5, rel=0.001)
    assert error == pytest.approx(np.hypot(256, 2) * GRID / 1e5 / math.log(2) / 256, rel=9)


def test_users_who_do_not_stand_out_are_not_added_up():
    """Two at a distance are lost in the noise, ten are a small group; twenty are added up."""
    assert histogram({1: 50, 2**10: 2}).top == ONE
    assert histogram({1: 50, 2**10: 2}).loss()[0] < 0.2
    assert histogram({1: 50, 2**10: 10}).top == ONE
    assert histogram({1: 50, 2**10: 20}).loss()[0] > 20


def test_nobody_loses_more_than_a_user_with_everything():
    one = replace(histogram({1: 50, 2**10: 20}), most=2.0 ** (ONE + 3))
    assert one.top == one.last == ONE + 3
    assert one.loss()[0] == pytest.approx(50 / math.log(2) / 1000)


@pytest.mark.parametrize("power", [1.5, 3.0])
def test_a_loss_is_followed_along_the_path(power):
    loads = np.geomspace(1, 1000, 40)
    true = -np.expm1(-np.log1p((loads / 200) ** power) / (2 * power))
    curve = Curve(loads)
    for place in (39, 20, 25):
        curve = curve.learned(place, float(true[place]), 0.002)
    means, errors = curve.expected()
    assert abs(means[25] - true[25]) < 0.01
    assert abs(means[28] - true[28]) < 0.02
    assert errors[25] < 0.01


def test_a_guess_is_where_the_search_begins_and_answers_outweigh_it():
    loads = np.geomspace(1, 1e4, 50)
    nobody, early = np.zeros(50), np.where(loads < 10, 0.0, 0.5)
    assert Curve(loads, 0.015, nobody).expected()[0][-1] < 0.01
    curve = Curve(loads, 0.015, early)
    assert curve.expected()[0][20] > 0.05
    for _ in range(4):
        curve = curve.learned(40, 0.0, 1e-3)
    assert curve.expected()[0][20] < 0.01


def test_without_a_loss_none_is_expected():
    curve = Curve(np.geomspace(1, 1000, 10))
    for _ in range(4):
        curve = curve.learned(9, 0.0, 1e-3)
    means, errors = curve.expected()
    assert means[9] < 1e-3
    assert errors[9] < 1e-3


@given(st.floats(0.01, 0.5), st.floats(1e-4, 0.1))
def test_a_shrunken_count_has_the_variance_that_is_stated(spread, error):
    """Counts drawn from the very model."""
    generator = np.random.default_rng(3)
    number, own = 20_000, 0.01
    expected = Expected(np.ones(number), np.full(number, own), np.full(number, spread**2))
    x = math.hypot(0.1, spread) * generator.normal(size=number)
    errors = np.full(number, error)
    off = x + math.sqrt(error) * generator.normal(size=number)
    guess = (1 - expected.pull(errors)) * off
    assert np.mean((guess - x) ** 2) == pytest.approx(expected.variance(errors).mean(), rel=0.1)


def test_noise_alone_makes_up_no_users():
    noise = [4 * (-1) ** n * 10 for n in range(len(Sizes.BOUNDS))]
    sizes = Sizes(noise, sigma=10.0)
    assert not sizes.users.any()
    assert not sizes.known
    assert sizes.count_per_weight() == 1


def few_users(sigma):
    """30 users in each of 20 bins: none stands out of noise of σ = 10, and all of them do."""
    return Sizes([30] * 20 + [0] * (len(Sizes.BOUNDS) - 20), sigma)


def test_where_users_are_few_half_of_them_tell_how_many_items_they_have():
    """Counts guessed at one per weight would be √32 times too low."""
    sizes = few_users(10.0)
    assert not sizes.users.any()
    assert sizes.known
    assert Sizes.BOUNDS[9] ** 0.5 <= sizes.count_per_weight() <= Sizes.BOUNDS[10] ** 0.5


@given(st.lists(st.floats(1.0, 1e4), min_size=1, max_size=50), st.floats(0.01, 10.0))
def test_where_nothing_is_known_of_users_nobody_exceeds_the_coarse_ration(weights, rho):
    found = Found()
    found.add(np.array(weights), 1.0, few_users(100.0))
    assert not found.known
    noise = coarse_noise(found, found.rough_counts(), (2 * rho) ** -0.5)
    assert (1 / (2 * noise**2)).sum() < rho


def test_counts_per_weight_follow_the_most_popular_items():
    """Those are unlike the others, of which there are many more."""
    weights = np.linspace(10_000, 100, 5120)
    counts = weights * np.where(np.arange(5120) < 80, 2.0, 4.0)
    ratios, unsure = _ratio_along(counts, weights, np.full(5120, 100.0))
    assert ratios[:20] == pytest.approx(2.0)
    assert ratios[1000:] == pytest.approx(4.0)
    assert np.all(unsure > 0)


ONE_EACH = Sizes([10**6, *[0] * (len(Sizes.BOUNDS) - 1)], sigma=10.0)
NOBODY = Sizes([0] * len(Sizes.BOUNDS), sigma=10.0)


def test_a_second_round_is_paid_for_only_if_somebody_has_items_left():
    weights = 1e4 / np.arange(1, 101)
    assert second_share(weights, ONE_EACH, NOBODY, 1.0, 0.1) == 0
    assert second_share(weights, ONE_EACH, ONE_EACH, 1.0, 0.1) == TUNING.second_rounds[-1]


def test_few_users_who_are_left_stand_out_where_nobody_had_many_items():
    """Bins that nobody can be in hold noise alone, which would hide them."""
    weights = 1e4 / np.arange(1, 13)
    few = Sizes([40] + [0] * (len(Sizes.BOUNDS) - 1), sigma=10.0)
    assert not few.known
    assert second_share(weights, ONE_EACH, few, 1.0, 0.1) == TUNING.second_rounds[-1]
    many = Sizes([2000] * len(Sizes.BOUNDS), sigma=10.0)
    assert second_share(weights, many, few, 1.0, 0.1) == 0


def test_where_a_ration_counts_no_more_the_second_round_gets_little():
    heavy = Sizes([2000 * (bound == 1024) for bound in Sizes.BOUNDS], sigma=10.0)
    weights = np.linspace(60, 20, 1000)
    assert second_share(weights, heavy, heavy, 0.03, 0.1) == min(TUNING.second_rounds)
    assert isinstance(min(TUNING.second_rounds), Fraction)


def test_one_item_each_is_counted_as_far_as_noise_allows():
    ranks = ranks_up_to(10**5)
    counts = 1e5 / ranks
    assert countable(ranks, counts, ONE_EACH, 0.5, 0.1) == pytest.approx([10**4], rel=0.05)
    assert countable(ranks, counts, NOBODY, 0.5, 0.1) == [0]
    assert lost_at(np.array([1.0, 1e6, 4e6]), ONE_EACH) == pytest.approx([0, 0, 0.5])


@given(st.floats(-40, 40), st.floats(0.1, 1e3))
def test_what_is_not_negative_is_above_what_was_seen(z, sigma):
    mean = nonnegative_posterior_mean(z * sigma, sigma)
    assert mean > 0
    assert mean >= z * sigma
    if z > 6:
        assert mean == pytest.approx(z * sigma)
    assert nonnegative_posterior_mean(0.0, sigma) == pytest.approx(sigma * (2 / np.pi) ** 0.5)
