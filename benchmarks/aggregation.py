"""A release against the plain query on the same file."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb

import headcount
from benchmarks.data import events
from benchmarks.timing import Result, interleaved

YARDSTICK = """
    SELECT item, count(DISTINCT "user") FROM '{path}' GROUP BY item ORDER BY 2 DESC LIMIT 10001
"""


def run(folder: Path, rounds: int) -> list[Result]:
    """Compare the library call and the whole command with the yardstick."""
    path, what = events(folder)
    budget = headcount.Budget(rho=1, delta=1e-6)
    command = [sys.executable, "-m", "headcount", "release", str(path), "--user", "user"]
    command += ["--item", "item", "--rho", "1", "--format", "csv", "--method", "pcr"]

    def library(method: headcount.question.Method) -> Callable[[], object]:
        return lambda: headcount.release(
            path, user="user", item="item", budget=budget, method=method
        )

    def whole_command() -> None:
        subprocess.run(command, check=True, capture_output=True)

    def yardstick() -> None:
        duckdb.connect().sql(YARDSTICK.format(path=path)).fetchall()

    seconds = interleaved(
        {
            "yardstick": yardstick,
            "library": library("pcr"),
            "command": whole_command,
            "rationed": library("rationed"),
        },
        rounds,
    )
    plain = seconds["yardstick"]
    return [
        Result(
            f"{name} on {what}, against COUNT(DISTINCT) in DuckDB ({plain:.2f} s)",
            f"{seconds[key] / plain:.2f}",
            f"at most {target}",
            seconds[key] <= target * plain,
        )
        for name, key, target in [
            ("library call with pcr", "library", 1.0),
            ("whole command", "command", 1.3),
            ("library call of a rationed release", "rationed", 4.0),
        ]
    ]
