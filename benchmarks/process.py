"""What the whole process takes: start-up time, and memory on a large file."""

import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.data import generated
from benchmarks.timing import Result, interleaved


def startup(folder: Path, rounds: int) -> list[Result]:
    """Time `headcount --help`."""
    command = [sys.executable, "-m", "headcount", "--help"]
    run = {"help": lambda: subprocess.run(command, check=True, capture_output=True)}
    seconds = interleaved(run, max(rounds, 5))["help"]
    return [Result("headcount --help", f"{seconds:.2f} s", "under 0.3 s", seconds < 0.3)]


def memory(folder: Path, rounds: int) -> list[Result]:
    """Measure the peak memory of a release of 100 million rows."""
    path = generated(folder, 100_000_000)
    command = [sys.executable, "-m", "headcount", "release", str(path), "--user", "user"]
    command += ["--item", "item", "--rho", "1", "--output", str(folder / "counts.csv")]
    start = time.perf_counter()
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise RuntimeError("the release failed")
    gigabytes = usage.ru_maxrss * 1024 / 1e9
    took = time.perf_counter() - start
    return [
        Result(
            f"peak memory on 100 million generated rows ({took:.0f} s)",
            f"{gigabytes:.1f} GB",
            "under 4 GB",
            gigabytes < 4,
        )
    ]
