"""Made-up data has the shape that was guessed, and a sample is of whole users."""

import numpy as np
import pytest

from headcount.errors import SettingsError
from headcount.evaluation.dataset import Dataset
from headcount.evaluation.standin import (
    MOST_ITEMS,
    MOST_USERS,
    Habits,
    Shape,
    common_exponent,
    made_up,
    sampled,
    work_per_user,
)

COMMON = Habits(1.0, 1.0)
SHAPES = [
    Shape(20_000, 1, 300),
    Shape(20_000, 1.5, 300),
    Shape(10_000, 20, 5000),
    Shape(500, 150, 4000),
    Shape(2000, 20, 25),  # most have nearly all
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("habits", [COMMON, Habits(0.8, 0.5), Habits(1.2, 1.5)], ids=str)
def test_the_numbers_are_those_of_the_guess(shape, habits):
    data = made_up(shape, habits, shape.users, seed=1)
    assert data.number_of_users == shape.users
    assert data.items_per_user.min() >= 1
    assert data.items_per_user.mean() == pytest.approx(shape.items_per_user, rel=0.03)
    assert shape.items * 0.9 <= data.number_of_items <= shape.items


def test_popularity_and_sizes_are_as_the_habits_say():
    shape = Shape(50_000, 10, 10**5)
    ranks = np.array([9, 29, 99, 299])
    for exponent in (0.8, 1.0, 1.2):
        counts = made_up(shape, Habits(exponent, 0.5), shape.users, seed=1).counts
        slope = np.polyfit(np.log(ranks + 1), np.log(counts[ranks]), 1)[0]
        assert slope == pytest.approx(-exponent, abs=0.12)  # frequent items are had once only
    for spread in (0.5, 1.0, 1.5):
        sizes = made_up(Shape(5000, 100, 10**5), Habits(0.8, spread), 5000, seed=1).items_per_user
        assert np.log(sizes).std() == pytest.approx(spread, rel=0.1)


def test_the_same_seed_makes_the_same_data_and_another_does_not():
    shape = Shape(1000, 5, 100)
    one, again, other = (made_up(shape, COMMON, 1000, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.items, again.items)
    assert not np.array_equal(one.counts, other.counts)


def test_a_bound_holds_for_everybody():
    data = made_up(Shape(5000, 3, 100, most_per_user=4), COMMON, 5000, seed=1)
    assert data.items_per_user.max() == 4
    assert data.items_per_user.mean() == pytest.approx(3, rel=0.1)
    assert (np.diff(data.counts) <= 0).all()


def test_who_has_all_items_has_all():
    data = made_up(Shape(200, 3, 3), COMMON, 200, seed=1)
    assert data.items_per_user.mean() > 2.9
    assert work_per_user(Shape(200, 3, 3), COMMON) <= 3


def test_all_items_of_a_guess_occur_if_popularity_allows():
    assert common_exponent(Shape(100_000, 20, 5000), 1.0) == 1.0
    many = Shape(100_000, 10, 200_000)
    exponent = common_exponent(many, 1.0)
    assert 0.72 < exponent < 0.9
    data = made_up(many, Habits(exponent, 1.0), many.users, seed=1)
    steep = made_up(many, Habits(1.0, 1.0), many.users, seed=1)
    assert data.number_of_items > 0.8 * many.items > 1.2 * steep.number_of_items
    assert common_exponent(Shape(1000, 2, 2000), 1.0) == pytest.approx(0.7)


def test_a_sample_has_whole_users_and_items_by_falling_count():
    data = made_up(Shape(1000, 5, 100), COMMON, 1000, seed=1)
    part = sampled(data, 300, seed=3)
    assert part.number_of_users == 300
    assert (np.diff(part.counts) <= 0).all()
    assert part.items_per_user.mean() == pytest.approx(5, rel=0.3)
    assert sampled(data, 1000, seed=3) is data
    one_each = Dataset.of(np.arange(50), np.arange(50))
    assert sampled(one_each, 7, seed=1).items_per_user.tolist() == [1] * 7


@pytest.mark.parametrize(
    ("guess", "says"),
    [
        ((0, 1, 1), "number of users must be a whole number from 1"),
        ((MOST_USERS + 1, 1, 1), "number of users"),
        ((1.0, 1, 1), "number of users"),
        ((True, 1, 1), "number of users"),
        ((5, 1, 0), "number of items must be a whole number from 1"),
        ((5, 1, MOST_ITEMS + 1), "number of items"),
        ((5, 0.5, 1), "from 1 to 10,000 on average; count only users who have at least one item"),
        ((5, -1, 1), "from 1 to"),
        ((5, float("nan"), 1), "must be a number"),
        ((5, float("inf"), 1), "from 1 to 10,000"),
        ((5, "2", 3), "must be a number"),
        ((5, True, 3), "must be a number"),
        ((5, 10**400, 3), "from 1 to 10,000"),
        ((5, 4, 3), "nobody can have 4 different items out of 3"),
        ((5, 2, 11), "5 users with 2 items each cannot have 11 different ones"),
    ],
)
def test_a_guess_that_makes_no_sense_is_refused(guess, says):
    with pytest.raises(SettingsError, match=says):
        Shape(*guess)


def test_the_largest_guess_is_taken():
    shape = Shape(MOST_USERS, 10_000, MOST_ITEMS)
    assert work_per_user(shape, COMMON) > 1000
    assert made_up(Shape(MOST_USERS, 2, MOST_ITEMS // 10**4), COMMON, 100, 1).number_of_users == 100
