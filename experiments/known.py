"""A known list of items: how close its counts are, next to OpenDP with the best bound in hindsight.

    python -m experiments.known

With OpenDP you choose how many items of each user count, drop the others at random, and add noise
for that many. Here every power of two is tried on the data itself, and the one with the smallest
error is shown; no one could choose it without looking at the data. The figures are the root mean
squared error over all counts of the list, in users. They are made from true counts, so they are not
private.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import headcount
from experiments.sets import DATA

BUDGET = headcount.Budget(epsilon=1)
TRIALS = 10

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


def of_sizes(sizes: NDArray[np.int64], items: int, seed: int = 0) -> Pairs:
    """Return users with these numbers of different items, whose popularity follows Zipf's law."""
    chance = np.random.default_rng(seed)
    # The items with the highest Gumbel keys are a weighted sample without replacement.
    keys = chance.gumbel(size=(sizes.size, items)) - np.log(np.arange(1, items + 1))
    order = np.argsort(-keys, axis=1)
    kept = np.arange(items) < sizes[:, None]
    return np.repeat(np.arange(sizes.size), sizes), order[kept]


def of_file(name: str, items: int) -> Pairs | None:
    """Return who has the items with the lowest numbers in a file; None if the file is missing."""
    if not (DATA / name).exists():
        return None
    table = pq.read_table(DATA / name)
    user, item = (np.unique(column.to_numpy(), return_inverse=True)[1] for column in table.columns)
    pairs = np.unique(np.stack([user, item], axis=1)[item < items], axis=0)
    return pairs[:, 0], pairs[:, 1]


def sets() -> dict[str, tuple[Pairs | None, int]]:
    """Return pairs of users and items, and how many items are listed."""
    chance = np.random.default_rng(1)
    several = chance.integers(1, 6, 100_000)
    many = np.minimum(chance.geometric(0.1, 50_000), 100)
    return {
        "30 countries, one each, 100,000 users": (of_sizes(np.ones(100_000, np.int64), 30), 30),
        "30 categories, 1 to 5 each, 100,000 users": (of_sizes(several, 30), 30),
        "100 pages, 10 on average, 50,000 users": (of_sizes(many, 100), 100),
        "100 films of movielens_1m": (of_file("movielens_1m.parquet", 100), 100),
    }


def by_headcount(pairs: Pairs, items: int, bound: int | None = None) -> list[NDArray[np.float64]]:
    """Return the counts of each run, in the order of the items; headcount may choose the bound."""
    events = pa.table({"user": pairs[0], "item": pairs[1]})
    found = []
    for seed in range(TRIALS):
        made = headcount.release(
            events, user="user", item="item", budget=BUDGET, items_from=list(range(items)),
            max_items_per_user=bound, columns="all", unsafe_seed=seed,
        )  # fmt: skip
        order = np.argsort(made.table["item"].to_numpy())
        found.append(made.table["noisy_count"].to_numpy()[order])
    return found


def by_opendp(pairs: Pairs, items: int, noise: Callable[[int], object]) -> tuple[float, int]:
    """Return the smallest error over all bounds, and the bound that gives it."""
    truth = np.bincount(pairs[1], minlength=items)
    most = int(np.bincount(pairs[0]).max())
    errors = {}
    for power in range(most.bit_length() + 1):
        bound = min(2**power, most)
        counts = [_bounded(pairs, bound, seed, items) for seed in range(TRIALS)]
        found = [np.array(noise(bound)(each.tolist())) for each in counts]  # type: ignore[operator]
        errors[bound] = _error(found, truth)
    best = min(errors, key=lambda bound: errors[bound])
    return errors[best], best


def _bounded(pairs: Pairs, bound: int, seed: int, items: int) -> NDArray[np.int64]:
    """Return the counts when at most ``bound`` items of each user count, chosen at random."""
    users, codes = pairs
    order = np.lexsort((np.random.default_rng(seed).random(users.size), users))
    starts = np.searchsorted(users[order], users[order])
    kept = order[np.arange(users.size) - starts < bound]
    return np.bincount(codes[kept], minlength=items)


def _error(found: list[NDArray[np.float64]], truth: NDArray[np.int64]) -> float:
    return float(np.sqrt(np.mean([(each - truth) ** 2 for each in found])))


def main() -> None:
    """Print a row for each set."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    counts = dp.vector_domain(dp.atom_domain(T=int))

    def gaussian(bound: int) -> object:
        scale = (bound / (2 * BUDGET.rho)) ** 0.5
        return dp.m.make_gaussian(counts, dp.l2_distance(T=float), scale=scale)

    def laplace(bound: int) -> object:
        return dp.m.make_laplace(counts, dp.l1_distance(T=int), scale=bound / BUDGET.epsilon)

    for name, (pairs, items) in sets().items():
        if pairs is None:
            print(f"{name:45} the file is missing")
            continue
        truth = np.bincount(pairs[1], minlength=items)
        others = [by_opendp(pairs, items, noise) for noise in (gaussian, laplace)]
        ours = [_error(by_headcount(pairs, items, bound), truth) for bound in (None, others[0][1])]
        shown = "".join(f"{error:9.1f} ({bound})" for error, bound in others)
        print(f"{name:45} {ours[0]:9.1f} {ours[1]:9.1f}{shown}", flush=True)


if __name__ == "__main__":
    main()
