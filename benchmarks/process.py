"""Start-up time: what the process takes before it reads any data."""

import sys
from pathlib import Path

from benchmarks.aggregation import in_turns, release
from benchmarks.data import generated
from benchmarks.timing import Result

#: The libraries that every release needs.
_LIBRARIES = "import duckdb, pyarrow, numpy"


def startup(folder: Path, rounds: int) -> list[Result]:
    """Time `headcount --help` and a release of a thousand rows, next to importing libraries."""
    took = in_turns(
        {
            "libraries": [sys.executable, "-c", _LIBRARIES],
            "headcount --help": [sys.executable, "-m", "headcount", "--help"],
            "a release of 1,000 rows": release(generated(folder, 1000)),
        },
        max(rounds, 5),
    )
    libraries = took.pop("libraries").processor
    return [
        Result(
            f"{what}, in processor time",
            f"{run.processor:.2f} s, {run.processor / libraries:.1f} times `{_LIBRARIES}`",
            f"{most} s",
            run.processor <= most,
        )
        for (what, run), most in zip(took.items(), [0.3, 0.55], strict=True)
    ]
