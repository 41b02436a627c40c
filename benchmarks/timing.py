"""Interleaved timing, so that a busy minute affects all contenders alike."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One line of the report."""

    what: str
    measured: str
    target: str
    met: bool

    def __str__(self) -> str:
        verdict = "ok  " if self.met else "MISS"
        return f"{verdict}  {self.what}: {self.measured} (target: {self.target})"


def interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return each contender's median seconds, in turns after one warm-up each."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            if number:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}
