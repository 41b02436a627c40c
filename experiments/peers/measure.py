"""Run every tool on the same events, and compare what it says with the truth."""

import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import headcount
from experiments.peers.job import Job, SumsJob
from experiments.peers.tools import CannotInstallError, Tool, python_of
from experiments.shapes import tastes_by_size

ROOT = Path(__file__).parents[2]
EPSILON, DELTA = 3.0, 1e-6
#: A count is accurate within this, relative to the truth.
TARGET = 0.1
#: What the bound is tried with, to find the best in hindsight.
BOUNDS = (8, 16, 32, 64, 128, 256)
#: How often the guess, the best bound and headcount are run; the other bounds are run once.
RUNS = 3
#: Longest run of a tool, in seconds, before it is given up.
PATIENCE = 900


@dataclass(frozen=True)
class Events:
    """Made-up events in a file, and what is true of them.

    Attributes:
        path: a Parquet file with `user` and `item`.
        truth: how many users each item has.
        guess: the 95th percentile of how many items users have, a common choice of the bound.
        shape: what the data is like, in a few words.
    """

    path: Path
    truth: dict[str, int]
    guess: int
    shape: str


def make_events(folder: Path) -> Events:
    """Write the events, with names that say nothing about how frequent an item is."""
    made = tastes_by_size()
    drawn = np.random.default_rng(0).permutation(made.number_of_items)
    names = np.array([f"item {number:05}" for number in drawn])
    path = folder / "events.parquet"
    pq.write_table(pa.table({"user": made.users, "item": names[made.items]}), path)
    sizes = np.bincount(made.users)
    percentiles = np.percentile(sizes, [50, 95])
    shape = (
        f"{made.number_of_users:,} people, {made.users.size:,} rows, {made.number_of_items:,} "
        f"items; the median person has {percentiles[0]:.0f} items, the 95th percentile is "
        f"{percentiles[1]:.0f}, and the most is {sizes.max():,}"
    )
    truth = dict(zip(names.tolist(), made.counts.tolist(), strict=True))
    return Events(path, truth, round(percentiles[1]), shape)


@dataclass(frozen=True)
class Run:
    """One release by one tool.

    Attributes:
        tool: its name.
        version: its version; empty if it failed.
        bound: the most items of a user that counted; None if there is none.
        released: how many items came out.
        accurate: how many of them are within the target of the truth.
        seconds: processor time of the whole process, and of those that it started; None if it is
            not known.
        date: when.
        failure: why there is no result; empty if there is one.
    """

    tool: str
    version: str
    bound: int | None
    released: int
    accurate: int
    seconds: float | None
    date: str
    failure: str = ""


class Command(NamedTuple):
    """What is run: its words, and the variables that its environment has besides."""

    words: list[str]
    variables: dict[str, str]


class Results:
    """All runs so far, in a file, so that a run that was stopped continues."""

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        self.runs = [Run(**one) for one in kept]

    def add(self, run: Run) -> None:
        """Keep a run."""
        self.runs.append(run)
        text = json.dumps([asdict(one) for one in self.runs], indent=1)
        self.path.write_text(text + "\n", encoding="utf-8")

    def of(self, tool: Tool, bound: int | None) -> list[Run]:
        """Return the runs of a tool with a bound."""
        return [run for run in self.runs if (run.tool, run.bound) == (tool.name, bound)]

    def failed(self, tool: Tool) -> str:
        """Return why a tool has no results; empty if it has some."""
        mine = [run for run in self.runs if run.tool == tool.name]
        return mine[0].failure if mine and all(run.failure for run in mine) else ""

    def best_bound(self, tool: Tool) -> int | None:
        """Return the bound with the most accurate counts in its first run, if any was tried."""
        tried = [bound for bound in BOUNDS if self.of(tool, bound)]
        return max(tried, key=lambda bound: self.of(tool, bound)[0].accurate, default=None)


def plan(
    tool: Tool, results: Results, events: Events, bounds: Sequence[int] = BOUNDS, runs: int = RUNS
) -> Iterator[int | None]:
    """Yield the bounds that a tool is still to be run with, one after the other."""
    if not tool.requirements:
        yield from [None] * (runs - len(results.of(tool, None)))
        return
    for bound in (events.guess, *bounds):
        if not results.of(tool, bound) and not results.failed(tool):
            yield bound
    if not results.failed(tool):
        for chosen in (events.guess, results.best_bound(tool)):
            yield from [chosen] * (runs - len(results.of(tool, chosen)))


def command(tool: Tool, runner: str, job: Job | SumsJob, output: Path, folder: Path) -> Command:
    """Return what has a tool do a job, after it was installed.

    Args:
        tool: whose environment it runs in.
        runner: which of the runners does it.
        job: what it is asked to do.
        output: the file that the answer is written to.
        folder: where the environments of all tools are.

    Raises:
        CannotInstallError: it could not be installed.
    """
    paths = [str(ROOT), *([] if tool.requirements else [str(ROOT / "src")])]
    module = f"experiments.peers.runners.{runner}"
    return Command(
        [str(python_of(tool, folder)), "-m", module, job.to_json(), str(output)],
        {"PYTHONPATH": os.pathsep.join(paths)},
    )


def job_on(events: Path, budget: headcount.Budget, bound: int) -> Job:
    """Return the job of counting users with a budget, however a tool wants to have it told."""
    selection = float(budget.delta_selection)
    return Job(str(events), budget.epsilon, budget.delta, budget.rho, selection, bound)


def run(tool: Tool, bound: int | None, events: Events, environments: Path) -> Run:
    """Release the events once with a tool, and compare with the truth."""
    today = time.strftime("%Y-%m-%d", time.gmtime())
    job = job_on(events.path, headcount.Budget(epsilon=EPSILON, delta=DELTA), bound or 0)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "counts.json"
        try:
            asked = command(tool, tool.runner, job, output, environments)
        except CannotInstallError as error:
            return Run(tool.name, "", bound, 0, 0, 0.0, today, str(error))
        start = _processor_time()
        try:
            done = subprocess.run(
                asked.words, cwd=folder, env={**os.environ, **asked.variables}, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return Run(tool.name, "", bound, 0, 0, PATIENCE, today, "took too long")
        seconds = _processor_time() - start
        if done.returncode or not output.exists():
            return Run(tool.name, "", bound, 0, 0, seconds, today, "ended with an error")
        made = json.loads(output.read_text(encoding="utf-8"))
    counts = made["made"]
    near = [abs(counts[n] - events.truth[n]) <= TARGET * events.truth[n] for n in counts]
    return Run(tool.name, made["version"], bound, len(counts), sum(near), seconds, today)


def _processor_time() -> float:
    """Return what ended child processes have used: it depends less on other work than a clock."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
