"""The time that a ledger in SQLite adds to a release, to reserve and settle."""

from collections.abc import Iterator
from pathlib import Path

import headcount
from benchmarks.timing import Result, interleaved

MOST_SECONDS = 0.05
ENTRIES = 1000


def run(folder: Path, rounds: int) -> Iterator[Result]:
    """Compare a release with and without a ledger, for a new ledger and for a long one."""
    counts = {f"item {n}": 10_000 - n for n in range(1000)}
    budget = headcount.Budget(rho=0.1, delta=1e-6)
    for past in (0, ENTRIES):
        ledger = headcount.Ledger(folder / f"budget-{past}.db")
        ledger.init("shop", budget=headcount.Budget(rho=1000, delta=1e-2))
        for _ in range(past // 2):
            reservation = ledger.reserve("shop", budget, {})
            ledger.give_back(reservation.number, reason="a past")

        def charged(ledger: headcount.Ledger = ledger) -> object:
            return headcount.release_counts(counts, budget=budget, ledger=ledger, dataset="shop")

        def free() -> object:
            return headcount.release_counts(counts, budget=budget)

        seconds = interleaved({"charged": charged, "free": free}, rounds)
        added = seconds["charged"] - seconds["free"]
        yield Result(
            f"time that a ledger of {past + 1:,} entries adds to a release",
            f"{1000 * added:.0f} ms",
            f"under {1000 * MOST_SECONDS:.0f} ms",
            added < MOST_SECONDS,
        )
