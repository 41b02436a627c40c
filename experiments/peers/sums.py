"""Rows, sums and means by Tumult Analytics, with the best bounds in hindsight.

    python -m experiments.peers.sums ratings ml-1m.inter    # beside `experiments.rated`
    python -m experiments.peers.sums amounts                # beside `experiments.sums large`
    python -m experiments.peers.sums amounts --users 100000    # beside `… large 100000`

Tumult is asked what OpenDP is asked there: on the same values, with the same share of ρ, given the
items for nothing. Its noise is Gaussian, of the same scale as OpenDP's, so that the bounds that
turned out best there are the best here: with those it is run, once for each of the two measures.

Every run is kept in results/peers/sums.json; seeds that are there already are not run again.
"""

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments import rated, sums
from experiments.clipped import TARGET, Bounds, Floats, Integers
from experiments.peers.job import Question, SumsJob
from experiments.peers.measure import ROOT, command
from experiments.peers.tools import TOOLS

(TUMULT,) = (tool for tool in TOOLS if tool.name == "Tumult")
FOLDER = ROOT / "results" / "peers"
#: The jobs of `experiments.rated` that differ for a tool that is told the range of ratings.
WHAT = {"rows": "rows", "sum, no bounds": "sum", "mean, 1 to 5": "mean"}


class Kept(NamedTuple):
    """What came out of one run: a row of a table.

    Attributes:
        name: what was asked.
        seed: of the run.
        right: the share of numbers that are right, with the bounds that are best for that.
        error: the median error, with the bounds that are best for that.
        for_right: those bounds.
        for_error: those.
    """

    name: str
    seed: int
    right: float
    error: float
    for_right: Bounds
    for_error: Bounds


Triples = tuple[Integers, Integers, Floats]


def answers(
    triples: Triples, items: int, rho: float, questions: Sequence[Question]
) -> list[Floats]:
    """Have Tumult answer questions about users, items and values: a number for each item."""
    different = tuple(dict.fromkeys(questions))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        events, output = folder / "events.parquet", folder / "answers.json"
        pq.write_table(pa.table(dict(zip(("user", "item", "value"), triples, strict=True))), events)
        job = SumsJob(str(events), items, rho, different)
        asked = command(TUMULT, "tumult_sums", job, output, FOLDER / "environments")
        surroundings = {**os.environ, **asked.variables}
        subprocess.run(asked.words, cwd=folder, env=surroundings, check=True)
        made = json.loads(output.read_text(encoding="utf-8"))["made"]
    found = dict(zip(different, made, strict=True))
    return [
        np.array([found[question][str(item)] for item in range(items)]) for question in questions
    ]


def of_ratings(ratings: rated.Ratings, job: rated.Job, seed: int) -> Kept:
    """Return what comes out for one of the jobs of `experiments.rated`."""
    _, found = rated.released(ratings, job, seed)
    best = job.peer(found, seed, job.share)
    triples = found.users, found.items, found.stars
    questions = [question_of(WHAT[job.name], each) for each in (best.for_right, best.for_error)]
    made = answers(triples, found.films, job.share, questions)
    (right, _), (_, error) = (rated.off_by(found, job.column, one) for one in made)
    return Kept(job.name, seed, right, error, best.for_right, best.for_error)


def question_of(what: str, bounds: Bounds) -> Question:
    """Return what Tumult is asked, with some bounds; values are not negative."""
    low, high = (rated.LOWEST, rated.HIGHEST) if what == "mean" else (0.0, bounds.value)
    return Question(what, bounds.items, low, high)


def of_amounts(name: str, shape: str, seed: int, users: int) -> Kept:
    """Return what comes out for amounts of a shape, as `experiments.sums` has them."""
    pairs, accurate = sums.large_pairs(sums.SHAPES[shape], seed, users)
    best, truth = sums.large_clipped(pairs, accurate, seed), pairs.sums()
    triples = pairs.users, pairs.items, pairs.values
    questions = [question_of("sum", each) for each in (best.for_right, best.for_error)]
    made = answers(triples, truth.size, sums.SHARE, questions)
    for_right, for_error = ((np.abs(one - truth) / truth)[accurate] for one in made)
    right, error = float(np.mean(for_right <= TARGET)), float(np.median(for_error))
    return Kept(name, seed, right, error, best.for_right, best.for_error)


class Results:
    """All runs so far, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def runs(self) -> list[Kept]:
        """All that are in the file, where another process may have added some."""
        rows = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else []
        return [
            Kept(name, seed, right, error, Bounds(*for_right), Bounds(*for_error))
            for name, seed, right, error, for_right, for_error in rows
        ]

    def run(self, name: str, seed: int, once: Callable[[], Kept]) -> None:
        """Run something and keep what came out, unless it was run with this seed already."""
        if any((run.name, run.seed) == (name, seed) for run in self.runs):
            return
        new = once()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps([*self.runs, new], indent=1) + "\n", encoding="utf-8")

    def table(self) -> list[str]:
        """Return means over the runs of all that was asked."""
        lines = ["| Asked | Right | Median error | Runs | Bounds |", "|---|---|---|---|---|"]
        every = self.runs
        for name in dict.fromkeys(run.name for run in every):
            runs = [run for run in every if run.name == name]
            right, error = np.mean([(run.right, run.error) for run in runs], axis=0)
            used = sorted({each for run in runs for each in (run.for_right, run.for_error)})
            said = ", ".join(f"{bounds.items} items up to {bounds.value:.3g}" for bounds in used)
            shown = f"{error:.3f} stars" if name.startswith("mean") else f"{error:.2%}"
            lines.append(f"| {name} | {right:.1%} | {shown} | {len(runs)} | {said} |")
        return lines


def main(words: Sequence[str] | None = None) -> None:
    """Run what was not run yet, and print the means."""
    parser = argparse.ArgumentParser(prog="python -m experiments.peers.sums")
    parser.add_argument("what", choices=["ratings", "amounts", "table"])
    parser.add_argument("file", nargs="?", type=Path, help="of the ratings")
    parser.add_argument("--runs", type=int, default=rated.RUNS, help="how many seeds")
    parser.add_argument("--users", type=int, default=sums.MANY, help="who have the amounts")
    parser.add_argument("--shape", choices=sums.LARGE, action="append", help="of the amounts")
    options = parser.parse_args(words)
    results = Results(FOLDER / "sums.json")
    if options.what == "ratings":
        ratings = rated.Ratings.read(options.file)
        jobs = [job for job in rated.JOBS if job.name in WHAT]
        for seed, job in product(range(options.runs), jobs):
            results.run(job.name, seed, partial(of_ratings, ratings, job, seed))
    elif options.what == "amounts":
        for seed, shape in product(range(options.runs), options.shape or sums.LARGE):
            name = f"{shape}, {options.users:,} users"
            results.run(name, seed, partial(of_amounts, name, shape, seed, options.users))
    print("\n".join(results.table()))


if __name__ == "__main__":
    main()
