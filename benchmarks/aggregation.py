"""The whole command against the plain query on the same file, in wall-clock and processor time.

On a machine that is also busy with other things, processor time is the one to look at.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import events, generated, shuffled
from benchmarks.timing import Result

YARDSTICK = """
import duckdb, sys
duckdb.sql("SET enable_progress_bar = false")
duckdb.sql(f'''
    SELECT item, count(DISTINCT "user") FROM '{sys.argv[1]}'
    GROUP BY item ORDER BY 2 DESC LIMIT 10001
''').fetchall()
"""
#: Targets, relative to the plain query: for rows in the order of users, and for shuffled rows.
AIMS = {"default": (1.2, 1.5), "pcr": (1.15, 1.15)}


@dataclass(frozen=True)
class Run:
    """What one process took: wall-clock seconds, processor seconds, and bytes of memory."""

    seconds: float
    processor: float
    memory: float


def measured(
    command: list[str], variables: Mapping[str, str] | None = None, folder: Path | None = None
) -> Run:
    """Run a command to its end, with further environment variables, in a folder if given.

    Processor time includes all processes that it started and waited for. Memory is that of the
    largest of them.
    """
    # An installed package has bytecode, but some environments keep Python from writing it.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment.update(variables or {})
    start = time.perf_counter()
    child = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=folder,
    )
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError("a command failed")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def release(path: Path, *more: str) -> list[str]:
    """Return the command that makes a release from a file."""
    command = [sys.executable, "-m", "headcount", "release", str(path), "--user", "user"]
    return [*command, "--item", "item", "--rho", "1", "--format", "csv", *more]


def in_turns(commands: dict[str, list[str]], rounds: int) -> dict[str, Run]:
    """Return each command's median times and peak memory, in turns after one warm-up each."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            run = measured(command)
            if number:
                runs[name].append(run)
    return {
        name: Run(
            statistics.median(run.seconds for run in each),
            statistics.median(run.processor for run in each),
            max(run.memory for run in each),
        )
        for name, each in runs.items()
    }


def run(folder: Path, rounds: int) -> Iterator[Result]:
    """Compare the default method and pcr with the plain query, on ordered and shuffled rows."""
    path, what = events(folder)
    orders = [("in order of users", path), ("shuffled", shuffled(folder, path))]
    for place, (order, file) in enumerate(orders):
        took = in_turns(
            {
                "plain": [sys.executable, "-c", YARDSTICK, str(file)],
                "default": release(file),
                "pcr": release(file, "--method", "pcr"),
            },
            rounds,
        )
        for method, aims in AIMS.items():
            yield _against(took["plain"], took[method], f"{method} on {what}, {order}", aims[place])


def large(folder: Path, rounds: int) -> Iterator[Result]:
    """Compare the default method with the plain query on 100 million rows, and with less memory."""
    path = generated(folder, 100_000_000)
    took = in_turns(
        {
            "plain": [sys.executable, "-c", YARDSTICK, str(path)],
            "default": release(path),
            "1GB": release(path, "--memory", "1GB"),
        },
        min(rounds, 1),
    )
    for name, aim, most in [("default", 1.7, 2.5e9), ("1GB", 2.2, 1.8e9)]:
        what = f"{name} on 100 million generated rows"
        yield _against(took["plain"], took[name], what, aim)
        memory = took[name].memory
        yield Result(
            f"memory of {what}", f"{memory / 1e9:.1f} GB", f"{most / 1e9:.1f} GB", memory <= most
        )


def _against(plain: Run, took: Run, what: str, aim: float) -> Result:
    ratio = took.processor / plain.processor
    seconds = took.seconds / plain.seconds
    return Result(
        f"{what}, against COUNT(DISTINCT) in DuckDB ({plain.seconds:.1f} s, "
        f"{plain.processor:.1f} s of processor time)",
        f"{seconds:.2f} by the clock, {ratio:.2f} in processor time, {took.memory / 1e9:.1f} GB "
        f"instead of {plain.memory / 1e9:.1f}",
        f"at most {aim}",
        ratio <= aim,
    )
