"""Releases and pages of them, with given items."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa

from headcount.pages import Document, Origin, release_page
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.mechanisms import Measure, MechanismResult
from headcount.privacy.mechanisms.base import Total
from headcount.results.guarantee import Guarantee
from headcount.results.release import Release, build_release
from tests.outputs.releases import BUDGET

ORIGIN = Origin("events.parquet", "user_id", datetime(2026, 11, 17, 20, 5, tzinfo=UTC), 7, "films")

#: Names that would do something, if anything let them.
NASTY = [
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 1</script>",
    "<!--<script>",
    '"><img src=x onerror="window.pwned = 1">',
    "<svg onload='window.pwned = 1'>",
    "javascript:window.pwned = 1",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;&#60;",
    "\u202egnp.exe\u202c\u2066\u200f",
    "\x1b[31mred\x07\x00\r\n\t\x85\u2028",
    "=1+1",
    "'quoted', \"twice\"",
    "A" * 10_000,
    "مرحبا بالعالم",
    "𝕏 and 😀",
    "",
    " \u3000",
]


def release_with(
    items: pa.Table,
    counts: np.ndarray,
    errors: np.ndarray | float = 14.0,
    *,
    private: bool = True,
    more: Sequence[Measure] = (),
    totals: Sequence[Total] = (),
) -> Release:
    """Return a release of items with these counts, and what else was measured."""
    counts = np.asarray(counts, dtype=float)
    errors = np.broadcast_to(errors, counts.shape).astype(float)
    made = MechanismResult.of_counts(
        items=items,
        estimates=counts,
        errors=errors,
        noisy=counts,
        sigmas=errors,
        spent=Cost(BUDGET.rho_for_filter / 2, BUDGET.delta_selection / 3),
        settings={"r": 0.1, "chosen": "rationed", "rounds": [1, 2, 3]},
    )
    made = replace(made, measures=(*made.measures, *more), totals=tuple(totals))
    return build_release(made, Guarantee.of(BUDGET, method="auto", private=private))


def films(number: int, *, names: list[str] | None = None, private: bool = True) -> Release:
    """Return a release with a long tail."""
    names = [*(names or []), *(f"film {n}" for n in range(number))][:number]
    ranks = np.arange(1, number + 1)
    counts = 60_000 / ranks**0.75 + 3 * (number - ranks)  # no two alike
    return release_with(pa.table({"film": names}), counts, private=private)


def measure(name: str, values: Sequence[float], errors: Sequence[float]) -> Measure:
    """Return a sum or a mean of each item, with its standard error."""
    numbers, spread = np.array(values, dtype=float), np.array(errors, dtype=float)
    return Measure(name, numbers, spread, numbers, spread)


def rated() -> Release:
    """Return a release of films with sums of any size and means that are known well."""
    more = [
        measure("sum_amount", [98_765.4321, 0.25, -3.5], [234.0, 0.09, 1.5]),
        measure("mean_rating", [2.988, 3.0, 1.5], [0.0014, 0.0014, 0.25]),
        measure("sum_steps", [-7.606123e22, 1.23456e-7, 0.0], [1.62e20, 1.5e-9, 1e-7]),
    ]
    return release_with(pa.table({"film": ["a", "b", "c"]}), np.array([300, 200, 100]), more=more)


def weekly(weeks: int = 6, *, missing: int = 0, private: bool = True) -> Release:
    """Return a release of two items by week; one of them was withheld in one week."""
    first = date(2026, 1, 5)
    rows = [(first + timedelta(weeks=n), item) for item in ("news", "maps") for n in range(weeks)]
    del rows[missing]
    when, items = zip(*rows, strict=True)
    table = pa.table({"week": pa.array(when, pa.date32()), "query": items})
    return release_with(table, 1000.0 - np.arange(len(rows)), private=private)


def daily(days: int = 30) -> Release:
    """Return a release of days and nothing else, of which every other one has few users."""
    when = [date(2026, 1, 1) + timedelta(days=n) for n in range(days)]
    counts = np.array([1000.0 + n if n % 2 else 100.0 + n for n in range(days)])
    return release_with(pa.table({"day": pa.array(when, pa.date32())}), counts)


def page_of(release: Release, origin: Origin = ORIGIN, **options: str) -> str:
    """Return the page of a release as text."""
    return release_page(Document.of_release(release), origin, **options).decode()
