"""Made-up data of a guessed shape, for trying out a budget without looking at the real data."""

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from headcount.errors import SettingsError
from headcount.evaluation.dataset import Dataset

Floats = NDArray[np.float64]

#: Limits of a guess: more users than there are people, more items than a column has values.
MOST_USERS, MOST_ITEMS = 10**11, 10**15
#: The highest mean allowed, so that a few hundred users can be made up in memory.
MOST_ITEMS_PER_USER = 10_000
#: How fast popularity falls with rank, at most and at least, where the guess does not say. Of the
#: exponents from 0.7 to 1.2, 1 gave the best forecasts for six real sets; 0.7 fits book_crossing,
#: the flattest of 13.
STEEPEST, FLATTEST = 1.0, 0.7
# The most draws per item that a user gets: drawing every item could take forever.
_MOST_DRAWS = 100
# Sums over ranks use steps that grow by this factor, which changes the sums by less than 1 %.
_STEP = 1.02


@dataclass(frozen=True)
class Shape:
    """A guess of what the data is like; nothing in it comes from the data.

    Attributes:
        users: how many users have at least one item.
        items_per_user: how many different items such a user has, on average.
        items: how many different items there are.
        most_per_user: the most items that a user has; None if there is no bound.
    """

    users: int
    items_per_user: float
    items: int
    most_per_user: int | None = None

    def __post_init__(self) -> None:
        _check_whole("users", self.users, MOST_USERS)
        _check_whole("items", self.items, MOST_ITEMS)
        mean = self.items_per_user
        if isinstance(mean, bool) or not isinstance(mean, Real) or mean != mean:
            raise SettingsError("the items per user must be a number, such as 20 or 1.5")
        if not 1 <= mean <= MOST_ITEMS_PER_USER:
            raise SettingsError(
                f"the items per user must be from 1 to {MOST_ITEMS_PER_USER:,} on average; count "
                "only users who have at least one item"
            )
        if mean > self.items:
            raise SettingsError(
                f"nobody can have {mean:g} different items out of {self.items:,}: guess more "
                "items, or fewer per user"
            )
        if self.items > math.ceil(self.users * mean):
            raise SettingsError(
                f"{self.users:,} users with {mean:g} items each cannot have {self.items:,} "
                "different ones: guess fewer items"
            )

    @property
    def largest_size(self) -> int:
        """The most items that a user has."""
        return min(self.items, self.most_per_user or self.items)


@dataclass(frozen=True)
class Habits:
    """What a guess leaves open.

    Attributes:
        exponent: an item's popularity is proportional to its rank to the power of minus this.
        spread: σ of the logarithm of the number of items that a user has beyond the first.
    """

    exponent: float
    spread: float


def made_up(shape: Shape, habits: Habits, users: int, seed: int) -> Dataset:
    """Return made-up users with this shape and these habits; no user has an item twice."""
    rng = np.random.default_rng(seed)
    draws = _draws(_sizes(shape, habits, users, rng), shape.items, habits.exponent)
    draws = np.floor(draws + rng.random(users))
    heavy = draws > shape.items
    people, items = _all_tried(np.flatnonzero(heavy), draws[heavy], shape.items, habits, rng)
    others = np.repeat(np.arange(users), np.where(heavy, 0, draws).astype(np.int64))
    ranks = _ranks(rng.random(others.size), shape.items, habits.exponent)
    items = np.unique(np.append(items, ranks), return_inverse=True)[1]
    made = Dataset.of(np.append(people, others), items)
    cut = made.bounded(shape.largest_size, rng)  # only the expected sizes are within the bound
    return made if cut is made else Dataset.of(cut.users, cut.items)


def common_exponent(shape: Shape, spread: float) -> float:
    """Return the steepest exponent for which the rarest item is still expected to have a user.

    It is from ``FLATTEST``, even if that is still too steep, to ``STEEPEST``. If there are many
    items but few pairs, a steeper exponent would leave most items without users.
    """
    sizes = _sizes(shape, Habits(STEEPEST, spread), 1000, np.random.default_rng(0))

    def rarest(exponent: float) -> float:
        edges = np.array([shape.items, shape.items + 1.0])
        below, everything = _mass(edges, exponent)
        share = np.array([1 - below / everything])
        draws = _draws(sizes, shape.items, exponent)
        return shape.users * float(np.mean([_ever_drawn(share, each) for each in draws]))

    low, high = FLATTEST, STEEPEST
    if rarest(high) >= 1:
        return high
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (middle, high) if rarest(middle) >= 1 else (low, middle)
    return low


def sampled(dataset: Dataset, users: int, seed: int) -> Dataset:
    """Return a random sample of this many users of a dataset, or all if there are no more."""
    if users >= dataset.number_of_users:
        return dataset
    kept = np.zeros(dataset.number_of_users, dtype=np.bool_)
    chosen = np.random.default_rng(seed).choice(dataset.number_of_users, users, replace=False)
    kept[chosen] = True
    pairs = kept[dataset.users]
    return Dataset.of(dataset.users[pairs], dataset.items[pairs])


def work_per_user(shape: Shape, habits: Habits) -> float:
    """Return how many random numbers `made_up` draws for one user, on average."""
    sizes = _sizes(shape, habits, 1000, np.random.default_rng(0))
    draws = _draws(sizes, shape.items, habits.exponent)
    return float(np.minimum(draws, shape.items).mean())


def _all_tried(
    people: NDArray[np.int64], draws: Floats, items: int, habits: Habits, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return who has which rank, for users for whom trying every item is less work."""
    if not people.size:
        return people, people
    share = np.diff(_mass(np.arange(1, items + 2.0), habits.exponent))
    drawn = [
        np.flatnonzero(rng.random(items) < _ever_drawn(share / share.sum(), times))
        for times in draws
    ]
    return np.repeat(people, [each.size for each in drawn]), 1 + np.concatenate(drawn)


def _sizes(shape: Shape, habits: Habits, users: int, rng: np.random.Generator) -> Floats:
    """Return how many items users have: one, plus a log-normal number, up to a bound."""
    more = rng.lognormal(0, habits.spread, users)
    wanted = shape.items_per_user - 1
    most = shape.largest_size - 1
    for _ in range(20):  # items cut off by the bound go to the other users
        more *= wanted / max(np.minimum(more, most).mean(), 1e-9)
    sizes: Floats = 1 + np.minimum(more, most)
    return sizes


def _draws(sizes: Floats, items: int, exponent: float) -> Floats:
    """Return how many draws give this many different items in expectation."""
    steps = math.ceil(math.log(items) / math.log(_STEP))
    edges = np.unique(np.append(np.floor(_STEP ** np.arange(steps + 1)), items)) + 0.0
    edges = np.append(edges[edges <= items], items + 1.0)
    width = np.diff(edges)
    share = np.diff(_mass(edges, exponent)) / _mass(edges[-1:], exponent) / width
    times = np.geomspace(1, _MOST_DRAWS * items, 200)
    different = np.array([_ever_drawn(share, each) @ width for each in times])
    draws: Floats = np.exp(np.interp(np.log(sizes), np.log(different), np.log(times)))
    return draws


def _ever_drawn(share: Floats, times: float) -> Floats:
    """Return the probability that an item with this share of all draws comes up at least once."""
    with np.errstate(divide="ignore"):  # an item with a share of 1 always comes up
        chances: Floats = -np.expm1(times * np.log1p(-share))
    return chances


def _ranks(uniform: Floats, items: int, exponent: float) -> NDArray[np.int64]:
    """Return the rank below which this share of all popularity lies."""
    mass = uniform * _mass(np.array([items + 1.0]), exponent)
    slope = 1 - exponent
    ranks = np.exp(mass) if slope == 0 else (1 + mass * slope) ** (1 / slope)
    return np.clip(ranks.astype(np.int64), 1, items)


def _mass(edges: Floats, exponent: float) -> Floats:
    """Return the integral of x to the power of −exponent from 1 to each edge."""
    if exponent == 1:
        return np.log(edges)
    mass: Floats = (edges ** (1 - exponent) - 1) / (1 - exponent)
    return mass


def _check_whole(what: str, number: int, most: int) -> None:
    whole = isinstance(number, int) and not isinstance(number, bool)
    if not whole or not 1 <= number <= most:
        raise SettingsError(
            f"the number of {what} must be a whole number from 1 to {most:,}, got {number!r}"
        )
