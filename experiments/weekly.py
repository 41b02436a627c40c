"""Weekly counts for a year from one budget, split by hand, by the ledger's balance, or not at all.

    python -m experiments.weekly

The visits are made up. Every week a quarter of 20,000 people visit a few of 2,000 pages each, whose
popularity follows Zipf's law. The output shows, per week, how many pages came out and how many of
these are within a tenth of the truth.
"""

import datetime as dt
import math
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa

import headcount
from headcount.inputs.periods import Protect
from headcount.question import Method

WEEKS, PEOPLE, PAGES, VISITORS = 52, 20_000, 2_000, 5_000
RHO, DELTA = 5.2, 1e-6
MONDAY = dt.datetime(2026, 1, 5)


def week(number: int) -> pa.Table:
    """Return the visits of one week."""
    chance = np.random.default_rng(number)
    visitors = chance.choice(PEOPLE, VISITORS, replace=False)
    people = np.repeat(visitors, chance.geometric(0.25, VISITORS))
    shares = 1 / np.arange(1, PAGES + 1)
    pages = chance.choice(PAGES, people.size, p=shares / shares.sum())
    seconds = chance.integers(0, 7 * 86_400, people.size)
    start = np.datetime64(MONDAY + dt.timedelta(weeks=number), "us")
    return pa.table({"who": people, "page": pages, "at": start + seconds * np.timedelta64(1, "s")})


def yields(made: headcount.Release, visits: pa.Table) -> tuple[int, int]:
    """Return how many items came out, and how many of them are within a tenth of the truth."""
    days = visits["at"].to_numpy().astype("datetime64[D]")
    mondays = days - (days.astype(np.int64) + 3) % 7
    rows = zip(visits["who"].to_numpy(), visits["page"].to_numpy(), mondays, strict=True)
    truth = Counter((page, monday.item()) for _, page, monday in set(rows))
    near = sum(
        abs(row["count"] - truth[row["page"], row["week"]]) <= truth[row["page"], row["week"]] / 10
        for row in made.table.to_pylist()
    )
    return len(made), near


def released(
    visits: pa.Table,
    rho: float,
    method: Method,
    ledger: headcount.Ledger | None = None,
    protect: Protect = "user",
) -> headcount.Release:
    """Release the visits by week."""
    return headcount.release(
        visits,
        user="who",
        item="page",
        by=("week", "at"),
        protect=protect,
        budget=headcount.Budget(rho=rho, delta=DELTA),
        method=method,
        ledger=ledger,
        dataset=None if ledger is None else "visits",
    )


def by_hand(method: Method) -> list[float]:
    """Return the mean yield if every week gets an equal share of the budget."""
    weeks = [week(number) for number in range(WEEKS)]
    made = [yields(released(visits, RHO / WEEKS, method), visits) for visits in weeks]
    return [float(mean) for mean in np.array(made).mean(axis=0)]


def by_ledger(method: Method) -> list[float]:
    """Return the mean yield if each week takes its share of what the ledger has left."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        ledger = headcount.Ledger(Path(folder) / "year.db")
        ledger.init("visits", budget=headcount.Budget(rho=RHO, delta=WEEKS * DELTA * 1.01))
        for number in range(WEEKS):
            left = float(ledger.books().left("visits").rho) / (WEEKS - number)
            rho, visits = math.floor(left * 10**6) / 10**6, week(number)
            one = released(visits, rho, method, ledger)
            made.append(yields(one, visits))
    return [float(mean) for mean in np.array(made).mean(axis=0)]


def at_once(method: Method, protect: Protect = "user") -> list[float]:
    """Return the mean yield per week of one release of the whole year, by week."""
    visits = pa.concat_tables(week(number) for number in range(WEEKS))
    return [
        number / WEEKS for number in yields(released(visits, RHO, method, protect=protect), visits)
    ]


def main() -> None:
    """Print a row for each method and each way of spending the budget."""
    methods: tuple[Method, ...] = ("auto", "pcr-paper")
    for method in methods:
        for way in (by_hand, by_ledger, at_once):
            out, near = way(method)
            print(f"{method:10} {way.__name__:10} {out:7.1f} {near:7.1f}", flush=True)
    out, near = at_once("auto", "user-week")
    print(f"auto       user-week  {out:7.1f} {near:7.1f}")


if __name__ == "__main__":
    main()
