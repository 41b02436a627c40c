"""One question with everything beside the counts, on every engine: the truth, up to the noise."""

import datetime as dt
from collections import defaultdict
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

import headcount as hc

# Summer time is half an hour there, and the day before the last of 2011 never was in Apia.
LORD_HOWE, APIA = "Australia/Lord_Howe", "Pacific/Apia"
#: Around the end of summer time in Lord Howe, and around the day that Apia left out.
BEGINS = [dt.datetime(2026, 4, 4, 10, tzinfo=dt.UTC), dt.datetime(2011, 12, 29, tzinfo=dt.UTC)]


def events():
    rng = np.random.default_rng(5)
    users = np.repeat(np.arange(2500), 4)
    minutes = rng.integers(0, 48 * 60, users.size)
    times = [BEGINS[n % 2] + dt.timedelta(minutes=int(minute)) for n, minute in enumerate(minutes)]
    return pa.table(
        {
            "who": users,
            "land": np.array(["DE", "FR", "FR", "IT"])[rng.integers(0, 4, users.size)],
            "what": np.array(["tea", "milk", "rice"])[rng.integers(0, 3, users.size)],
            "spent": pa.array(
                [Decimal(int(cents)) / 100 for cents in rng.lognormal(8, 1, users.size)],
                pa.decimal128(20, 2),
            ),
            "large": rng.integers(2**61, 2**63 - 1, users.size),
            "debt": np.where(rng.random(users.size) < 0.3, 0.0, rng.normal(0, 50, users.size)),
            "at": pa.array(times, pa.timestamp("us", "UTC")),
        }
    )


EVENTS = events()
ENGINES = ["duckdb", "polars", "postgres", "spark"]


def near(made, column, true, prefix=None):
    """Whether a number is within 8 standard errors: further is less likely than 1e-14."""
    prefix = f"{column}_" if prefix is None else prefix
    assert abs(made[column] - true) <= 8 * made[f"{prefix}std_error"] + 0.5, column
    assert made[f"{prefix}std_error"] < 0.1 * abs(true) + 100, column


def grouped(rows, *key):
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in key)].append(row)
    return found


def added(rows, column):
    return float(sum(row[column] for row in rows))


@pytest.mark.parametrize("engine", ENGINES)
def test_segments_sums_means_and_totals_of_chosen_rows(engine, on_engine):
    made = hc.release(
        **on_engine(engine, EVENTS),
        user="who",
        item="what",
        per="land",
        where="land <> 'IT'",
        rho=80,
        total=True,
        other=True,
        sum=["spent", "large"],
        mean="debt",
        unsafe_seed=1,  # or noise would look like far larger amounts once in hundreds of runs
    )
    rows = [row for row in EVENTS.to_pylist() if row["land"] != "IT"]
    truth = grouped(rows, "land", "what")
    found = grouped(made.table.to_pylist(), "land", "what")
    assert found.keys() == truth.keys()
    for key, mine in truth.items():
        (row,) = found[key]
        near(row, "count", len({each["who"] for each in mine}), "")
        near(row, "sum_spent", added(mine, "spent"))
        error = row["sum_large_std_error"]
        assert abs(row["sum_large"] - added(mine, "large")) <= 8 * error < added(mine, "large")
        error = row["mean_debt_std_error"]
        assert abs(row["mean_debt"] - added(mine, "debt") / len(mine)) <= 8 * error < 30
    assert abs(made.totals["total"]["count"] - len({row["who"] for row in rows})) < 8
    assert abs(made.totals["other"]["count"]) < 8


@pytest.mark.parametrize("zone", [LORD_HOWE, APIA])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_list_in_each_day_of_an_odd_time_zone(engine, zone, on_engine):
    rows = [
        row | {"day": row["at"].astimezone(ZoneInfo(zone)).date()} for row in EVENTS.to_pylist()
    ]
    days = (dt.date(2026, 4, 4), dt.date(2026, 4, 6))
    days = days if zone == LORD_HOWE else (dt.date(2011, 12, 28), dt.date(2011, 12, 31))
    made = hc.release(
        **on_engine(engine, EVENTS),
        user="who",
        item="what",
        items_from=["tea", "milk", "salt"],
        by=("day", "at"),
        between=days,
        timezone=zone,
        rho=80,
        sum="spent",
        unsafe_seed=1,
    )
    truth = grouped(rows, "what", "day")
    found = made.table.to_pylist()
    assert len(found) == 3 * ((days[1] - days[0]).days + 1)
    for row in found:
        mine = truth[row["what"], row["day"]]
        near(row, "count", len({each["who"] for each in mine}), "")
        near(row, "sum_spent", added(mine, "spent"))
    nobody = dt.date(2011, 12, 30) if zone == APIA else None
    assert all(row["count"] < 8 for row in found if row["day"] == nobody)
