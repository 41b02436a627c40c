"""Periods on every engine: to the day, whatever the times are, and one user-week moves one unit."""

import datetime as dt
import random
from collections import Counter
from datetime import UTC
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

import headcount as hc
from headcount.engines import Session
from headcount.inputs import Request, open_source
from headcount.inputs.calendar import DayRange
from headcount.inputs.periods import Periods, in_periods
from headcount.privacy.questions import GRID, RATION
from headcount.views.bounded import bounded_counts
from headcount.views.engine_population import EnginePopulation
from headcount.views.engine_view import EngineView
from headcount.views.exact_counts import count_items_and_users
from headcount.views.histogram import count_distinct_users
from tests.engines.test_types import KEEPS_NANOSECONDS

# SQLite has no types of times.
ENGINES = ["duckdb", "duckdb file", "polars", "postgres", "spark"]
BERLIN = "Europe/Berlin"

# Before and after midnight in UTC and in Berlin, on the days on which clocks change there, with and
# without summer time; before 1970, before railways had a common time, and at both ends of a year.
MOMENTS = [
    *("2024-03-30T22:59:59.999999", "2024-03-30T23:00:00", "2024-03-31T21:59:59.999999"),
    *("2024-03-31T22:00:00", "2024-10-26T21:59:59.999999", "2024-10-27T22:59:59.999999"),
    *("2024-10-27T23:00:00", "2024-12-29T22:59:59", "2024-12-29T23:00:00", "2024-12-31T23:30:00"),
    *("1969-12-31T22:59:59.999999", "1969-12-31T23:59:59.999999", "1970-01-01T00:00:00"),
    *("1880-05-02T23:06:31", "1880-05-02T23:06:33", "1600-02-29T12:00:00", "0001-01-02T00:00:00"),
    *("0044-03-15T12:00:00", "2000-02-29T23:00:01", "9999-12-30T12:00:00"),
]
MOMENTS = [dt.datetime.fromisoformat(text) for text in MOMENTS]
BEYOND = [dt.datetime(1, 1, 1, 23), dt.datetime(9999, 12, 31)]


def first_day(day, period):
    match period:
        case "week":
            return day - dt.timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "year":
            return day.replace(month=1, day=1)
    return day


def opened(session, call):
    request = Request(call.get("table"), engine=call.get("engine"))
    return open_source(session, call["source"], request)


def counted(call, periods, items=("what",)):
    with Session() as session:
        events = in_periods(opened(session, call), "who", list(items), periods)
        top = count_distinct_users(events, "who", [*items, periods.period], 10**6)
        names = (top.items[column].to_pylist() for column in (*items, periods.period))
        return dict(zip(zip(*names, strict=True), top.counts.to_pylist(), strict=True))


def table_of(times, kind):
    """Each time of one user, who has it twice; and rows without a user, an item or a time."""
    users = [f"u{n}" for n in range(len(times))] * 2 + [None, "u", "v"]
    items = ["x"] * (2 * len(times)) + ["x", None, "x"]
    when = pa.array([*times, *times, times[0], times[0], None], kind)
    return pa.table({"who": pa.array(users), "what": pa.array(items), "when": when})


def expected(days, period):
    return Counter(("x", first_day(day, period)) for day in days)


@pytest.mark.parametrize("engine", ENGINES)
def test_periods_are_exact(engine, on_engine):
    periods = ["day", "week", "month", "year"] if engine != "spark" else ["week", "year"]
    dates = table_of([moment.date() for moment in MOMENTS + BEYOND], pa.date32())
    naive = table_of(MOMENTS + BEYOND, pa.timestamp("us"))
    zoned = table_of(MOMENTS + BEYOND, pa.timestamp("us", "UTC"))
    days = [moment.date() for moment in MOMENTS]
    local = [moment.replace(tzinfo=UTC).astimezone(ZoneInfo(BERLIN)).date() for moment in MOMENTS]
    assert local != days
    for table, zone, expect in [
        (dates, None, days), (naive, None, days), (zoned, None, days), (zoned, BERLIN, local)
    ]:  # fmt: skip
        call = on_engine(engine, table)
        for period in periods:
            assert counted(call, Periods(period, "when", zone)) == expected(expect, period)


@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Kolkata"])
@pytest.mark.parametrize(
    ("engine", "unit"),
    [
        ("memory", "s"),
        *((engine, u) for engine in ("duckdb", "polars") for u in ("ms", "us", "ns")),
    ],
)
def test_every_precision_to_the_last_digit(engine, unit, zone, on_engine):
    """A nanosecond before midnight is the day before, and what no calendar has is no error."""
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    day = 86_400 * per_second
    values = [-1, 0, day - 1, day, -day - 1, -day, -day * 10_000 - 1, -(2**62), 2**62, 2**63 - 2]
    if unit in ("s", "ms"):  # as much as readers that count in microseconds take
        values[7:] = [-(2**42) * per_second, 2**42 * per_second, 2**43 * per_second]
    stored = pa.timestamp(unit, zone and "UTC")
    when = pa.array(values * 2, pa.int64()).cast(stored)
    users = [f"u{n}" for n in range(len(values))] * 2
    table = pa.table({"who": users, "what": ["x"] * len(users), "when": when})
    ahead = 19_800 * per_second if zone == "Asia/Kolkata" else 0
    inside = values if unit == "ns" else values[:7]  # nanoseconds end in 1677 and 2262
    days = [dt.date(1970, 1, 1) + dt.timedelta(days=(value + ahead) // day) for value in inside]
    call = {"source": table} if engine == "memory" else on_engine(engine, table)
    if engine == "duckdb" and unit == "ns" and zone and not KEEPS_NANOSECONDS:
        with pytest.raises(hc.SourceError, match="would cut to"):
            counted(call, Periods("day", "when", zone))
        return
    assert counted(call, Periods("day", "when", zone)) == expected(days, "day")


def test_infinite_times_have_no_period(tmp_path):
    import duckdb

    with duckdb.connect(str(tmp_path / "e.duckdb")) as connection:
        kinds = ["DATE", "TIMESTAMP", "TIMESTAMPTZ"]
        kinds += ["TIMESTAMP_NS"] if KEEPS_NANOSECONDS else []  # DuckDB 1 has none without an end
        for kind in kinds:
            connection.execute(
                f"CREATE OR REPLACE TABLE t AS SELECT 'u' who, 'x' what, CAST(v AS {kind}) AS "
                "\"when\" FROM (VALUES ('infinity'), ('-infinity'), ('2024-01-03 12:00')) AS t(v)"
            )
            connection.commit()
            call = {"source": tmp_path / "e.duckdb", "table": "t"}
            connection.close()
            week = {("x", dt.date(2024, 1, 1)): 1}
            assert counted(call, Periods("week", "when")) == week
            connection = duckdb.connect(str(tmp_path / "e.duckdb"))
    connection.close()


def events(seed):
    """Some users with some items on some days of five weeks; and a (user, week) among them."""
    chance = random.Random(seed)
    monday = dt.date(2023, 12, 18)  # a year and a month end in between
    rows = [
        (
            chance.choice("abcdef"),
            chance.choice("wxyz"),
            monday + dt.timedelta(chance.randrange(35)),
        )
        for _ in range(120)
    ]
    rows += [("a", item, monday + dt.timedelta(n)) for n, item in enumerate("wxyzwxy")]
    return rows, ("a", monday)


def without(rows, unit, period):
    return [row for row in rows if (row[0], first_day(row[2], period)) != unit]


def as_table(rows, number):
    columns = zip(*rows, strict=True)
    users, items, days = map(list, columns)
    if number:
        users = [ord(user) for user in users]
    return pa.table({"who": users, "what": items, "when": pa.array(days, pa.date32())})


def answers(call, periods):
    """Return everything that a mechanism may ask, as plain numbers."""
    items = ["what", periods.period]
    with Session() as session:
        # The person is known beside the unit, as it is where totals are asked for.
        found = in_periods(opened(session, call), "who", ["what"], periods, with_person=True)
        top = count_items_and_users(found, "who", items, 10**6)
        histogram = _named(count_distinct_users(found, "who", items, 10**6))
        assert _named(top) == histogram
        bounded = _named(bounded_counts(found, "who", items, 2, 1))
        population = EnginePopulation(found, "who", items)
        weights = population.weights(GRID, 10**6, 1)
        population.found(weights, range(len(weights.values)))
        names = list(map(tuple, (row.values() for row in population.found_names().to_pylist())))
        # Three items take a ration.
        costs = np.full(len(names), RATION // 3, dtype=np.int64)
        based = population.clipped_sums(costs, RATION // 4)
        return {
            "users": top.users,
            "shares": based.users,
            "based": dict(zip(names, based.items.tolist(), strict=True)),
            "histogram": histogram,
            "bounded": bounded,
            "weights": dict(zip(names, weights.values.tolist(), strict=True)),
            "clipped": dict(zip(names, population.clipped_sums(costs).items.tolist(), strict=True)),
        }


def _named(top):
    names = zip(*(column.to_pylist() for column in top.items.columns), strict=True)
    return dict(zip(names, top.counts.to_pylist(), strict=True))


def moved(one, other, what):
    keys = {*one[what], *other[what]}
    moves = [one[what].get(key, 0) - other[what].get(key, 0) for key in keys]
    return np.array(moves, dtype=float)


# One neighbour is enough where each takes seconds.
NEIGHBOURS = [(engine, seed) for engine in ENGINES for seed in range(1 if engine == "spark" else 3)]


@pytest.mark.parametrize(("engine", "seed"), NEIGHBOURS)
def test_a_user_within_a_period_moves_what_is_charged_for(engine, seed, on_engine):
    """And of the counts only those of its own days; others of the same person stay as they are."""
    rows, (user, monday) = events(seed)
    kinds = [("day", "week"), ("week", "week"), ("month", "month"), ("day", "year")]
    by, protected = kinds[seed]
    unit = (user, first_day(monday, protected))
    periods = Periods(by, "when", None, f"user-{protected}")
    whole = answers(on_engine(engine, as_table(rows, seed == 1)), periods)
    rest = without(rows, unit, protected)
    less = answers(on_engine(engine, as_table(rest, seed == 1)), periods)
    assert whole["users"] - less["users"] == 1
    assert set(moved(whole, less, "histogram")) <= {0, 1}
    assert np.abs(moved(whole, less, "bounded")).sum() <= 2
    assert np.square(moved(whole, less, "weights")).sum() <= GRID**2
    assert np.square(moved(whole, less, "clipped") / GRID).sum() * (RATION // 3) <= RATION
    # What centred counts are measured from moves by the same share as the counts do.
    share, items = whole["shares"] - less["shares"], moved(whole, less, "based")
    assert set(items) - {0} == {share}
    assert (RATION // 4 + np.count_nonzero(items) * (RATION // 3)) * share**2 <= GRID**2 * RATION
    for what in ("histogram", "bounded", "weights", "clipped", "based"):
        changed = {key for key in whole[what] if whole[what][key] != less[what].get(key, 0)}
        assert all(first_day(day, protected) == unit[1] for _, day in changed)
        assert changed or what == "bounded"


@pytest.mark.parametrize("users", [["a|2024-01-01", "a"], ["2024-01-01|a", "a"]])
def test_no_two_units_are_taken_for_one(users):
    """Whatever stands in an id: the number of units is that of pairs."""
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 8)]
    rows = [(user, "x", day) for user in users for day in days]
    found = answers({"source": as_table(rows, False)}, Periods("week", "when", None, "user-week"))
    assert found["users"] == 4
    assert set(found["histogram"].values()) == {2}


# The first week is cut, and nobody has anything in the last.
PUBLIC = DayRange(dt.date(2023, 12, 20), dt.date(2024, 1, 28))


def known_answers(call, periods):
    """Return what is asked of listed items in the periods of a range, and how many there are."""
    listed, most = periods.of_each(pa.table({"what": ["x", "w", "nobody's"]}))
    items = ["what", periods.period]
    with Session() as session:
        found = in_periods(opened(session, call), "who", ["what"], periods)
        known, number, most_known = EngineView(found, "who", items, listed, most).known_pairs()
        assert (number, most_known) == (listed.num_rows, most)
        costs = np.full(number, RATION // 2, dtype=np.int64)
        full = known.clipped_sums(np.ones(number, dtype=np.int64)).items
        names = list(map(tuple, (row.values() for row in listed.to_pylist())))
        return {
            "sizes": known.sizes([1, 2, 3, 4]),
            "counts": dict(zip(names, (full // GRID).tolist(), strict=True)),
            "clipped": dict(zip(names, known.clipped_sums(costs).items.tolist(), strict=True)),
        }


@pytest.mark.parametrize(("engine", "seed"), NEIGHBOURS)
def test_a_list_in_public_periods(engine, seed, on_engine):
    """Counted as plain Python counts it, and what a unit moves is within its ration."""
    rows, (user, monday) = events(seed)
    by, protect = [("week", "user-week"), ("day", "user-week"), ("month", "user")][seed]
    periods = Periods(by, "when", None, protect, PUBLIC)
    if protect == "user":
        rest = [row for row in rows if row[0] != user]
    else:
        rest = without(rows, (user, monday), "week")
    whole = known_answers(on_engine(engine, as_table(rows, False)), periods)
    less = known_answers(on_engine(engine, as_table(rest, False)), periods)
    inside = {row for row in rows if PUBLIC.first <= row[2] <= PUBLIC.last}
    true = Counter((item, day) for _, item, day in {(u, i, first_day(d, by)) for u, i, d in inside})
    assert whole["counts"] == {key: true[key] for key in whole["counts"]}
    assert {day for _, day in whole["counts"]} == set(PUBLIC.first_days(by).tolist())
    fewer = np.subtract(whole["sizes"], less["sizes"])
    assert set(fewer) <= {0, 1}
    assert fewer[0] == 1
    assert np.square(moved(whole, less, "clipped") / GRID).sum() * (RATION // 2) <= RATION
    assert moved(whole, less, "clipped").any()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_range_is_of_days_where_clocks_show_them(engine, on_engine):
    zoned = table_of(MOMENTS + BEYOND, pa.timestamp("us", "UTC"))
    local = [moment.replace(tzinfo=UTC).astimezone(ZoneInfo(BERLIN)).date() for moment in MOMENTS]
    days = DayRange(dt.date(2024, 3, 31), dt.date(2024, 10, 27))
    periods = Periods("day", "when", BERLIN, "user", days)
    inside = [day for day in local if days.first <= day <= days.last]
    assert 0 < len(inside) < len(local)
    assert counted(on_engine(engine, zoned), periods) == expected(inside, "day")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_release_by_week(engine, on_engine):
    rows = [
        (f"u{n}", "x", dt.date(2024, 1, 1) + dt.timedelta(days=week * 7))
        for n in range(60)
        for week in range(2)
    ]
    call = on_engine(engine, as_table(rows, False))
    made = hc.release(
        **call, user="who", item="what", by=("week", "when"), budget=hc.Budget(rho=9.0),
        protect="user-week", method="pcr-paper" if engine == "spark" else "auto", unsafe_seed=1,
    )  # fmt: skip
    assert made.table.schema.field("week").type == pa.date32()
    found = {row["week"]: row["count"] for row in made.table.to_pylist()}
    assert found.keys() == {dt.date(2024, 1, 1), dt.date(2024, 1, 8)}
    assert all(40 < count < 80 for count in found.values())
