"""Generated sets with the users, items, and items per user of the paper's sets."""

import numpy as np
from numpy.typing import NDArray

from experiments.paper_sets import PaperSet
from headcount.evaluation.dataset import Dataset

#: Incremented when the generator changes, so that its results are not mixed with older ones.
GENERATION = 1

_SHARES = (0.0, 0.5, 0.75, 0.95, 0.99, 1.0)
# The items of the heaviest user, as a multiple of the 99th percentile: the paper does not say.
_HEAVIEST = 3
# Users draw until they have enough different items. After this many rounds, a few still lack some.
_ROUNDS = 30


def generate(row: PaperSet, seed: int = 1) -> Dataset:
    """Make a set with the table's users, items and percentiles of items per user.

    Every item has at least one user. Apart from that, the items of each user are drawn one after
    another without replacement, weighted by the row's popularity.
    """
    rng = np.random.default_rng([seed, row.users])
    per_user = items_per_user(row)
    users = np.repeat(np.arange(row.users, dtype=np.int64), per_user)
    items = _draw(row, users.size, rng)
    once = rng.choice(users.size, row.items, replace=False)
    items[once] = rng.permutation(row.items)
    done: list[NDArray[np.int64]] = []
    pairs = np.empty(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        pairs = _distinct(np.concatenate([pairs, users << 32 | items]))
        lacking = per_user - np.bincount(pairs >> 32, minlength=row.users)
        short = lacking > 0
        waits = short[pairs >> 32]
        done.append(pairs[~waits])
        pairs = pairs[waits]
        lacking[~short] = 0
        per_user = np.where(short, per_user, 0)
        users = np.repeat(np.arange(row.users, dtype=np.int64), lacking)
        if not users.size:
            break
        items = _draw(row, users.size, rng)
    everything = np.concatenate([*done, pairs])
    return Dataset.of(everything >> 32, everything & 0xFFFFFFFF)


def items_per_user(row: PaperSet) -> NDArray[np.int64]:
    """Return how many items each user has: the table's percentiles, interpolated log-linearly."""
    if row.percentiles[-1] == 1:
        return np.ones(row.users, dtype=np.int64)
    ends = [row.least, *row.percentiles, min(_HEAVIEST * row.percentiles[-1], row.items // 2)]
    shares = (np.arange(row.users) + 0.5) / row.users
    counts = np.exp(np.interp(shares, _SHARES, np.log(ends)))
    return np.asarray(np.rint(counts), dtype=np.int64)


def _draw(row: PaperSet, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return items with density (x + q)^−s from 0 to the number of items, rounded down."""
    shift, power = row.popularity
    low, high = shift ** (1 - power), (row.items + shift) ** (1 - power)
    x = (low + rng.random(size) * (high - low)) ** (1 / (1 - power)) - shift
    return np.asarray(np.clip(x, 0, row.items - 1), dtype=np.int64)


def _distinct(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    pairs = np.sort(pairs)
    return pairs[np.append(True, pairs[1:] != pairs[:-1])] if pairs.size else pairs
