"""Generated sets of simple shapes, each of which has defeated a mechanism, or could."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.standin import Habits, Shape, made_up

#: Incremented when a shape changes, so that its results are not mixed with older ones.
GENERATION = 1

Codes = NDArray[np.int64]


def _drawn(rng: np.random.Generator, items: int, power: float, size: int) -> Codes:
    """Draw items whose popularity falls with a power of their rank."""
    shares = np.arange(1, items + 1) ** -power
    return rng.choice(items, size, p=shares / shares.sum())


def one_item_each(users: int, items: int) -> Dataset:
    """Users who have one item each: a country, a plan, a device."""
    rng = np.random.default_rng([users, items])
    return Dataset.of(np.arange(users), _drawn(rng, items, 1.0, users))


def few_users() -> Dataset:
    """300 users who have 80 of 1,000 items, or slightly fewer."""
    rng = np.random.default_rng(300)
    users = np.repeat(np.arange(300), 80)
    return Dataset.of(users, _drawn(rng, 1000, 0.7, users.size))


def few_uneven_users() -> Dataset:
    """2,000 users of 100 items: half have one or two, and one in a hundred has almost all."""
    return made_up(Shape(2000, 5, 100), Habits(1.2, 1.5), 2000, seed=1)


def few_heavy_users(heavy: int) -> Dataset:
    """5,000 users with up to four of 400 items each, and a few users with most of the items."""
    rng = np.random.default_rng([5000, heavy])
    light = np.repeat(np.arange(5000), rng.integers(1, 5, 5000))
    most = np.repeat(5000 + np.arange(heavy), 600)
    items = [_drawn(rng, 400, 0.6, light.size), _drawn(rng, 400, 0.3, most.size)]
    return Dataset.of(np.concatenate([light, most]), np.concatenate(items))


def two_populations() -> Dataset:
    """Light users and heavy users with no items in common."""
    rng = np.random.default_rng(2)
    light = np.repeat(np.arange(40_000), rng.integers(1, 6, 40_000))
    heavy = np.repeat(40_000 + np.arange(3000), rng.integers(50, 400, 3000))
    items = [_drawn(rng, 3000, 0.8, light.size), 3000 + _drawn(rng, 3000, 0.8, heavy.size)]
    return Dataset.of(np.concatenate([light, heavy]), np.concatenate(items))


def tastes_by_size() -> Dataset:
    """Users with log-normal numbers of items, where heavier users like each item more or less."""
    rng = np.random.default_rng(3)
    sizes = np.clip(np.rint(np.exp(rng.normal(2, 1.3, 50_000))), 1, 2000).astype(np.int64)
    kinds = np.clip(np.rint((np.log(sizes) - 2) / 1.3), -2, 3).astype(np.int64)
    base, liked = np.arange(1, 20_001) ** -0.9, rng.normal(size=20_000)
    users, items = [], []
    for kind in range(-2, 4):
        mine = np.flatnonzero(kinds == kind)
        shares = base * np.exp(0.3 * kind * liked)
        users.append(np.repeat(mine, sizes[mine]))
        items.append(rng.choice(20_000, users[-1].size, p=shares / shares.sum()))
    return Dataset.of(np.concatenate(users), np.concatenate(items))


def shared_by_few() -> Dataset:
    """Light users, and a few very heavy ones with half of the light users' items, and others."""
    rng = np.random.default_rng(4)
    light = np.repeat(np.arange(60_000), rng.integers(1, 4, 60_000))
    sizes = np.rint(np.exp(rng.normal(5, 0.8, 1500))).astype(np.int64)
    heavy = np.repeat(60_000 + np.arange(1500), sizes)
    items = [_drawn(rng, 2000, 0.5, light.size), 1000 + _drawn(rng, 4000, 0.6, heavy.size)]
    return Dataset.of(np.concatenate([light, heavy]), np.concatenate(items))


SHAPES: dict[str, Callable[[], Dataset]] = {
    "one_item_each_30": lambda: one_item_each(100_000, 30),
    "one_item_each_1000": lambda: one_item_each(100_000, 1000),
    "one_item_each_100000": lambda: one_item_each(1_000_000, 100_000),
    "few_users": few_users,
    "few_uneven_users": few_uneven_users,
    "thirty_heavy_users": lambda: few_heavy_users(30),
    "hundred_heavy_users": lambda: few_heavy_users(100),
    "two_populations": two_populations,
    "tastes_by_size": tastes_by_size,
    "shared_by_few": shared_by_few,
}
