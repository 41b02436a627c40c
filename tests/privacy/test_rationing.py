"""What is chosen from noisy answers: how far to go, and how much noise where all of it fits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.privacy.mechanisms.pcr.look import nonnegative_posterior_mean
from headcount.privacy.mechanisms.rationed.beliefs import (
    NO_LOSSES,
    Beliefs,
    Found,
    Losses,
    Sizes,
    _ratio_along,
    furthest,
)


@given(st.lists(st.floats(0.5, 1e6), min_size=1, max_size=50), st.floats(1e-3, 1e3))
def test_where_all_fits_a_user_with_everything_takes_the_whole_ration(sigmas, ration):
    sigmas = np.array(sigmas)
    fitted = Beliefs.fitted(sigmas, ration)
    taken = (1 / (2 * fitted**2)).sum()
    assert taken < ration
    assert taken == pytest.approx(ration, rel=1e-6)
    assert np.allclose(fitted / sigmas, (fitted / sigmas)[0])
    assert Beliefs.all_fit(sigmas, ration) == ((1 / (2 * sigmas**2)).sum() < ration)


OPTIONS = [10, 20, 40, 80, 160]


@given(st.sampled_from([0.5, 1.0, 2.0, 4.0]), st.floats(0.06, 0.5))
def test_a_loss_that_is_a_power_is_followed_to_where_it_is_put_up_with(power, whole):
    asked = [(number, whole * (number / 160) ** power) for number in (160, 40, 80)]
    number, lost = furthest(asked, OPTIONS, 0.05)
    expected = max(10, 160 * (0.05 / whole) ** (1 / power))
    assert number == pytest.approx(expected, abs=1)
    assert lost == 0.05


def test_without_a_loss_all_items_are_counted():
    assert furthest([(160, -0.03)], OPTIONS, 0.05) == (160, 0.0)
    assert furthest([(160, 0.02)], OPTIONS, 0.05) == (160, pytest.approx(0.02))


def test_one_answer_does_not_decide_against_the_others():
    fair = [(160, 0.2), (40, 0.01), (80, 0.05)]
    with_an_odd_one = [*fair, (20, 0.06)]
    assert furthest(with_an_odd_one, OPTIONS, 0.05)[0] > 40


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
    noise = Beliefs.coarse_noise(found, found.rough_counts(), (2 * rho) ** -0.5)
    assert Beliefs.all_fit(noise, rho)


def test_of_popular_items_less_is_put_back():
    """In proportion to the count, up to the popular ones; nothing where nobody can exceed."""
    losses = Losses(rare=0.05, popular=0.01, most=np.array([0]))
    lost, unsure = losses.of(np.array([2000.0, 1000.0, 500.0, 1e-9]), popular=1000.0)
    assert lost == pytest.approx([0.01, 0.01, 0.025, 0.04])
    assert np.all(np.diff(unsure[1:]) > 0)
    none, sure = NO_LOSSES.of(np.array([5.0]), popular=1.0)
    assert (none, sure) == (0, 0)


def test_popular_items_have_half_as_many_users_as_the_first():
    beliefs = Beliefs(np.array([30.0, 100.0, 50.0, 49.0]), np.ones(4), np.array([1, 2, 3, 0]))
    assert beliefs.popular(beliefs.order).tolist() == [1, 2]


def test_counts_per_weight_follow_the_most_popular_items():
    """Those are unlike the others, of which there are many more."""
    weights = np.linspace(10_000, 100, 5120)
    counts = weights * np.where(np.arange(5120) < 80, 2.0, 4.0)
    ratios = _ratio_along(counts, weights)
    assert ratios[:20] == pytest.approx(2.0)
    assert ratios[1000:] == pytest.approx(4.0)


@given(st.floats(-40, 40), st.floats(0.1, 1e3))
def test_what_is_not_negative_is_above_what_was_seen(z, sigma):
    mean = nonnegative_posterior_mean(z * sigma, sigma)
    assert mean > 0
    assert mean >= z * sigma
    if z > 6:
        assert mean == pytest.approx(z * sigma)
    assert nonnegative_posterior_mean(0.0, sigma) == pytest.approx(sigma * (2 / np.pi) ** 0.5)
