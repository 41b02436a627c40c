"""The time and memory of one trial of every method that the paper's comparison can run."""

import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.data import events
from benchmarks.timing import Result

SECONDS, GIGABYTES = 60, 6


def run(folder: Path, rounds: int) -> list[Result]:
    """Measure a separate process, so that its memory is known."""
    path, what = events(folder)
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.trial", str(path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise RuntimeError("the trial failed")
    methods, seconds = said.split()
    gigabytes = usage.ru_maxrss * 1024 / 1e9
    return [
        Result(
            f"one trial of {methods} methods on {what}, read beforehand",
            f"{float(seconds):.0f} s, {gigabytes:.1f} GB",
            f"under {SECONDS} s and {GIGABYTES} GB",
            float(seconds) < SECONDS and gigabytes < GIGABYTES,
        )
    ]


def one_trial(path: str) -> None:
    """Run each method once, with every partition selection; print how many ran, and seconds."""
    from headcount.evaluation.dataset import read_dataset
    from headcount.evaluation.methods import Target
    from headcount.evaluation.partition_selection import SELECTIONS
    from headcount.evaluation.thresholding import ThresholdingMethod
    from headcount.evaluation.trials import run_trial, standard_methods

    dataset = read_dataset(path, user="user", item=["item"])
    most = dataset.max_items_per_user
    methods = dict.fromkeys(m for how in SELECTIONS for m in standard_methods(most, how))
    methods |= dict.fromkeys(ThresholdingMethod(most, noise) for noise in ("gaussian", "laplace"))
    start = time.perf_counter()
    outcomes = list(run_trial(dataset, list(methods), Target(rho=1, delta=1e-6, r=0.1), seed=1))
    print(len(outcomes), time.perf_counter() - start)


if __name__ == "__main__":
    one_trial(sys.argv[1])
