"""How good sums are, and whether their intervals hold, on amounts of several shapes.

    python -m experiments.sums            # coverage and error by shape: a few minutes
    python -m experiments.sums others     # the same for shapes on which little was tuned
    python -m experiments.sums large      # 10⁶ users, 1,000 items, next to clipping in hindsight
    python -m experiments.sums large 100000    # the same with fewer users
    python -m experiments.sums means      # coverage and error of means, with and without a centre
    python -m experiments.sums other-means    # the same for shapes on which nothing was tuned
    python -m experiments.sums ratings    # means of ratings: few users with many ratings each

Amounts are made up with a seed. `large` compares with OpenDP, with bounds that were chosen by
looking at the truth (`clipped.py`).
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import headcount as hc
from experiments.clipped import TARGET, Hindsight, best
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import COUNT, Measure
from headcount.privacy.mechanisms.further import Aggregates
from headcount.privacy.mechanisms.further.sums import Sums
from headcount.privacy.questions import (
    FACTOR_BITS,
    LARGEST_AMOUNT,
    LARGEST_VALUE,
    Quantity,
    Ration,
)
from headcount.privacy.randomness import SeededEntropy

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Z = 1.959964
#: The share of ρ for a sum, if apart from it only the numbers of users are requested.
SHARE = 0.5
STARS = np.arange(1.0, 6.0)


@dataclass
class Pairs:
    """Who has what: a user, an item and an amount for each pair."""

    users: Integers
    items: Integers
    values: Floats

    @property
    def number_of_items(self) -> int:
        """How many items there are."""
        return int(self.items.max()) + 1

    def counts(self) -> Floats:
        """Return how many users have each item."""
        return np.bincount(self.items, minlength=self.number_of_items).astype(float)

    def sums(self) -> Floats:
        """Return the true sums."""
        return np.bincount(self.items, self.values, self.number_of_items).astype(float)


class ArrayAmounts:
    """Amounts of pairs in NumPy: a `headcount.privacy.questions.Amounts`.

    All items are released.
    """

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        _, self._first, self._user = np.unique(pairs.users, return_index=True, return_inverse=True)

    def _values(self, quantity: Quantity) -> Floats:
        if quantity.kind != "sum":
            return np.ones_like(self.pairs.values)
        return self.pairs.values - quantity.centre

    def magnitudes(self, quantity: Quantity, released: Any, at_least: Sequence[float]) -> list[int]:
        """How many users have a value at least this far from the centre, for each bound."""
        largest = np.maximum.reduceat(np.abs(self._values(quantity)), self._first)
        return [int((largest >= bound).sum()) for bound in at_least]

    @cached_property
    def _middles(self) -> Floats:
        order = np.lexsort((self.pairs.values, self._user))
        sizes = np.diff(np.append(self._first, self.pairs.users.size))
        middles: Floats = self.pairs.values[order][self._first + (sizes - 1) // 2]
        return middles

    def middles(self, quantity: Quantity, released: Any, at_least: Sequence[float]) -> list[int]:
        """How many users' middle value is at least this large, for each bound."""
        return [int((self._middles >= bound).sum()) for bound in at_least]

    def measure(
        self,
        quantities: Sequence[Quantity],
        grids: Sequence[float],
        released: Any,
        divisors: Integers,
    ) -> None:
        """Convert the values to integers."""
        self._amounts = []
        for quantity, grid in zip(quantities, grids, strict=True):
            values = self._values(quantity)
            size = np.minimum(np.abs(values), LARGEST_VALUE * grid)
            steps = np.floor(size / grid + 0.5).astype(np.int64)
            divisor = divisors[self.pairs.items]
            amounts = np.minimum((2 * steps + divisor) // (2 * divisor), LARGEST_AMOUNT)
            self._amounts.append(np.where(values < 0, -amounts, amounts))

    def _norms(self, place: int, shift: int) -> Integers:
        parts = -(-np.abs(self._amounts[place]) // 2**shift)
        norms: Integers = np.add.reduceat(parts * parts, self._first)
        return norms

    def norms(self, place: int, shift: int, at_least: Sequence[int]) -> list[int]:
        """How many users have a squared norm at least this large, for each bound."""
        squared = self._norms(place, shift)
        return [int((squared >= bound).sum()) for bound in at_least]

    def scaled_sums(self, place: int, ration: Ration) -> Integers:
        """Add up the scaled amounts; a factor computed in floats is off by at most 1 in 2¹⁶."""
        squared = np.maximum(self._norms(place, ration.shift), 1).astype(float)
        factor = np.minimum(np.sqrt(2.0**ration.bits / squared), 1) * 2**FACTOR_BITS
        scaled = np.trunc(self._amounts[place] * np.floor(factor)[self._user] / 2**FACTOR_BITS)
        sums = np.bincount(self.pairs.items, scaled, self.pairs.number_of_items)
        return sums.astype(np.int64)


class WithoutCentre(ArrayAmounts):
    """Amounts that hide their centre, so that values are added up as they are."""

    def middles(self, quantity: Quantity, released: Any, at_least: Sequence[float]) -> list[int]:
        """Return 0 for every bound."""
        return [0] * len(at_least)


SUM, MEAN = Aggregates(sums=("amount",)), Aggregates(means=("amount",))
Draw = Callable[[np.random.Generator, int], Floats]
SHAPES: dict[str, Draw] = {
    "log-normal, σ = 1": lambda rng, n: rng.lognormal(0, 1, n),
    "log-normal, σ = 2": lambda rng, n: rng.lognormal(0, 2, n),
    "Pareto, α = 2": lambda rng, n: 1 + rng.pareto(2, n),
    "Pareto, α = 1.5": lambda rng, n: 1 + rng.pareto(1.5, n),
    "all the same": lambda rng, n: np.full(n, 10.0),
    "mostly zero": lambda rng, n: rng.lognormal(0, 1, n) * (rng.random(n) < 0.1),
    "signed, normal": lambda rng, n: rng.normal(0, 1, n),
    "signed, Student's t with 2 degrees": lambda rng, n: rng.standard_t(2, n),
}
#: Results on these shapes decided only one thing: that no tail is added to sums.
OTHERS: dict[str, Draw] = {
    "exponential": lambda rng, n: rng.exponential(1, n),
    "gamma, shape ¼": lambda rng, n: rng.gamma(0.25, 1, n),
    "Weibull, shape ½": lambda rng, n: rng.weibull(0.5, n),
    "log-normal, σ = 1.5": lambda rng, n: rng.lognormal(0, 1.5, n),
    "Pareto, α = 1.75": lambda rng, n: 1 + rng.pareto(1.75, n),
    "1, and 50 for one in a hundred": lambda rng, n: np.where(rng.random(n) < 0.01, 50.0, 1.0),
    "signed, Laplace around 1": lambda rng, n: rng.laplace(1, 2, n),
}

#: For means. Results on some of these decided that the centre is a median, not another quantile.
MEANS: dict[str, Draw] = {
    "1 to 5 stars": lambda rng, n: rng.choice(STARS, n, p=[0.06, 0.11, 0.26, 0.35, 0.22]),
    "normal, 1000 ± 1": lambda rng, n: rng.normal(1000, 1, n),
    "normal, 10 ± 3": lambda rng, n: rng.normal(10, 3, n),
    "normal, 0 ± 1": lambda rng, n: rng.normal(0, 1, n),
    "0, or 1 for one in ten": lambda rng, n: (rng.random(n) < 0.1).astype(np.float64),
    "0 or 1, half each": lambda rng, n: (rng.random(n) < 0.5).astype(np.float64),
    "1, or 0 for one in ten": lambda rng, n: (rng.random(n) < 0.9).astype(np.float64),
    "exponential": lambda rng, n: rng.exponential(1, n),
    "log-normal, σ = 1": lambda rng, n: rng.lognormal(0, 1, n),
    "log-normal, σ = 2": lambda rng, n: rng.lognormal(0, 2, n),
    "Pareto, α = 1.5": lambda rng, n: 1 + rng.pareto(1.5, n),
    "1000 + Pareto, α = 1.5": lambda rng, n: 1000 + rng.pareto(1.5, n),
}
#: Results on these shapes decided nothing.
OTHER_MEANS: dict[str, Draw] = {
    "uniform, -10 to -5": lambda rng, n: rng.uniform(-10, -5, n),
    "years, 2000 to 2024": lambda rng, n: rng.integers(2000, 2025, n).astype(np.float64),
    "seconds of a year since 1970": lambda rng, n: 1.7e9 + rng.uniform(0, 3.2e7, n),
    "0 or 100, half each": lambda rng, n: np.where(rng.random(n) < 0.5, 100.0, 0.0),
    "Poisson, 3": lambda rng, n: rng.poisson(3, n).astype(np.float64),
    "gamma, shape ¼": lambda rng, n: rng.gamma(0.25, 1, n),
    "Weibull, shape ½": lambda rng, n: rng.weibull(0.5, n),
    "1, and 50 for one in a hundred": lambda rng, n: np.where(rng.random(n) < 0.01, 50.0, 1.0),
    "20, less a log-normal, σ = 1": lambda rng, n: 20 - rng.lognormal(0, 1, n),
    "50 + Student's t with 2 degrees": lambda rng, n: 50 + rng.standard_t(2, n),
    "Laplace, 1 ± 2": lambda rng, n: rng.laplace(1, 2, n),
}


#: The shapes of amounts for many users, and how many users.
LARGE, MANY = ("log-normal, σ = 1", "log-normal, σ = 2"), 1_000_000


def made_up(
    rng: np.random.Generator, users: int, items: int, draw: Draw, *, heavy: bool = False
) -> Pairs:
    """Return users with about 1 + Poisson(4) items, popular ones more often; or far more items."""
    each = 1 + (rng.pareto(1.2, users) * 2 if heavy else rng.poisson(4, users)).astype(np.int64)
    who = np.repeat(np.arange(users), np.minimum(each, items))
    popular = 1 / np.arange(1, items + 1) ** 0.8
    what = rng.choice(items, who.size, p=popular / popular.sum())
    pairs = np.unique(who * items + what)
    return Pairs(pairs // items, pairs % items, draw(rng, pairs.size))


def released(
    pairs: Pairs,
    rho: float,
    seed: int,
    asked: Aggregates = SUM,
    amounts: type[ArrayAmounts] = ArrayAmounts,
) -> Measure:
    """Release the sums or the means at cost ρ, where counts of users are known to within 5 %."""
    counts = pairs.counts()
    near = counts * (1 + 0.05 * np.random.default_rng(seed).standard_normal(counts.size))
    near = np.maximum(near, 1)
    users = Measure(COUNT, near, 0.05 * counts, near, 0.05 * counts)
    share = Fraction(rho)
    gate = Gate(Cost(share), SeededEntropy(seed))
    sums = Sums(asked, amounts(pairs), share, gate)
    (measure,), _ = sums.release(None, users, lambda message: None)
    return measure


def coverage(shapes: Mapping[str, Draw] = SHAPES, trials: int = 12) -> None:
    """Print, for each shape, how often intervals contain the truth and how far off sums are."""
    print("| Amounts | users | items | covered | median error | covered, heavy users |")
    print("|---|---|---|---|---|---|")
    for name, draw in shapes.items():
        for users, items in ((50_000, 100), (50_000, 10), (5_000, 50)):
            row = []
            for heavy in (False, True):
                held, off = [], []
                for seed in range(trials):
                    rng = np.random.default_rng(seed)
                    pairs = made_up(rng, users, items, draw, heavy=heavy)
                    made, truth = released(pairs, 0.5, seed), pairs.sums()
                    held.append(np.abs(made.estimates - truth) <= Z * made.errors)
                    off.append(np.abs(made.estimates - truth) / np.abs(truth))
                row.append((np.mean(held), np.median(off)))
            (covered, median), (covered_heavy, _) = row
            print(
                f"| {name} | {users:,} | {items:,} | {covered:.1%} | {median:.2%} "
                f"| {covered_heavy:.1%} |",
                flush=True,
            )


def means(shapes: Mapping[str, Draw], trials: int = 4) -> None:
    """Print how often intervals of means hold, and how far off means are, at ρ = 2/3."""
    print("| Values | Users | Items | Held | Median error | without a centre | Held, heavy users |")
    print("|---|---|---|---|---|---|---|")
    for name, draw in shapes.items():
        for users, items in ((50_000, 100), (5_000, 50)):
            row = []
            for heavy, amounts in (
                (False, ArrayAmounts),
                (False, WithoutCentre),
                (True, ArrayAmounts),
            ):
                held, off = [], []
                for seed in range(trials):
                    rng = np.random.default_rng(seed)
                    pairs = made_up(rng, users, items, draw, heavy=heavy)
                    made = released(pairs, 2 / 3, seed, MEAN, amounts)
                    truth = pairs.sums() / pairs.counts()
                    held.append(np.abs(made.estimates - truth) <= Z * made.errors)
                    off.append(np.abs(made.estimates - truth))
                row.append((np.mean(held), np.median(off)))
            (covered, median), (_, without), (covered_heavy, _) = row
            print(
                f"| {name} | {users:,} | {items:,} | {covered:.1%} | {median:.3g} | {without:.3g} "
                f"| {covered_heavy:.1%} |",
                flush=True,
            )


def large(users: int = MANY, trials: int = 10) -> None:
    """Print how many sums over many users, for 1,000 items, are within 10 %, at ρ = 1 in all."""
    head = ["Amounts", "Seed", "Items with < 5 % spread", "Within 10 %", "Median error", "Held"]
    print(f"| {' | '.join(head)} | OpenDP: within 10 % | Median error | Bound | Items |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in LARGE:
        rows = []
        for seed in range(trials):
            rows.append(_large(SHAPES[name], seed, users))
            print(_large_row(f"| {name} | {seed}", rows[-1]), flush=True)
        print(_large_row(f"| {name} | mean of {trials}", np.mean(rows, axis=0).tolist()))


def large_pairs(draw: Draw, seed: int, users: int = MANY) -> tuple[Pairs, NDArray[np.bool_]]:
    """Return the pairs, and which items have a sum with less than 5 % sampling spread."""
    pairs = made_up(np.random.default_rng(seed), users, 1000, draw)
    truth = pairs.sums()
    squares = np.bincount(pairs.items, pairs.values**2, truth.size)
    return pairs, np.sqrt(squares) < 0.05 * np.abs(truth)


def large_clipped(pairs: Pairs, accurate: NDArray[np.bool_], seed: int) -> Hindsight:
    """Return how good OpenDP's sums are, with the best bounds."""
    triples = pairs.users, pairs.items, pairs.values
    bounds, most = (2.0 ** np.arange(2, 12.5, 0.5)).tolist(), [8, 10, 12, 20]
    return best(triples, SHARE, accurate, bounds, most, seed)


def _large(draw: Draw, seed: int, users: int) -> list[float]:
    pairs, accurate = large_pairs(draw, seed, users)
    table = pa.table({"u": pairs.users, "i": pairs.items, "x": pairs.values})
    release = hc.release(table, user="u", item="i", rho=1, sum="x", unsafe_seed=seed)
    made, truth = release.to_pandas(), pairs.sums()
    estimate, error = np.zeros(truth.size), np.ones(truth.size)
    estimate[made["i"]], error[made["i"]] = made["sum_x"], made["sum_x_std_error"]
    clipped = large_clipped(pairs, accurate, seed)
    off = (np.abs(estimate - truth) / np.abs(truth))[accurate]
    held = np.abs(estimate - truth)[made["i"]] <= Z * error[made["i"]]
    mine = [accurate.sum(), np.mean(off <= TARGET), np.median(off), held.mean()]
    return [*map(float, mine), clipped.right, clipped.error, *clipped.for_error]


def _large_row(begin: str, row: Sequence[float]) -> str:
    items, within, median, held, clip_within, clip_median, bound, most = row
    return (
        f"{begin} | {items:,.0f} | {within:.1%} | {median:.2%} | {held:.1%} | {clip_within:.1%} "
        f"| {clip_median:.2%} | {bound:.1f} | {most:.0f} |"
    )


def ratings() -> None:
    """Print how good means of ratings are: 6,000 users rate 165 of 3,700 films on average."""
    rng = np.random.default_rng(1)
    each = np.minimum(20 + rng.lognormal(4.3, 1.1, 6000), 2000).astype(int)
    who, popular = np.repeat(np.arange(6000), each), 1 / np.arange(10, 3710) ** 0.9
    pairs = np.unique(who * 3700 + rng.choice(3700, who.size, p=popular / popular.sum()))
    liked = rng.normal(3.5, 0.5, 3700)
    stars = np.clip(np.rint(liked[pairs % 3700] + rng.normal(0, 1, pairs.size)), 1, 5)
    table = pa.table({"u": pairs // 3700, "i": pairs % 3700, "stars": stars})
    films = np.bincount(pairs % 3700, minlength=3700)
    truth = np.bincount(pairs % 3700, stars, 3700) / np.maximum(films, 1)
    print("| Bounds | films | within 0.25 stars | median error | covered |")
    print("|---|---|---|---|---|")
    for bounds in (None, {"stars": (1.0, 5.0)}):
        release = hc.release(
            table, user="u", item="i", rho=1, mean="stars", bounds=bounds, unsafe_seed=1
        )
        made = release.to_pandas()
        off = np.abs(made["mean_stars"] - truth[made["i"]])
        held = np.mean(off <= Z * made["mean_stars_std_error"])
        print(
            f"| {'1 to 5' if bounds else 'none'} | {len(made):,} | {np.mean(off <= 0.25):.0%} "
            f"| {np.median(off):.3f} stars | {held:.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["large"]:
        large(*map(int, sys.argv[2:]))
    elif sys.argv[1:] == ["others"]:
        coverage(OTHERS)
    elif sys.argv[1:] == ["means"]:
        means(MEANS)
    elif sys.argv[1:] == ["other-means"]:
        means(OTHER_MEANS)
    elif sys.argv[1:] == ["ratings"]:
        ratings()
    else:
        coverage()
