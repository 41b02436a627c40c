"""How many users there are, and how many have other items than those listed, on every engine."""

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headcount as hc
from headcount.engines import Session
from headcount.engines.duckdb.count import DuckDB
from headcount.inputs import Request, open_source
from headcount.inputs.periods import Periods, in_periods
from headcount.privacy.randomness import OsEntropy
from headcount.views.engine_view import EngineView
from tests.engines.servers import ENGINES

# Some have listed items only, some others only, some both; rows twice, NULLs, and nobody's items.
ROWS = [(f"u{u}", f"i{(u + i) % 9}") for u in range(40) for i in range(1 + u % 3)]
ROWS += [(None, "i0"), ("u99", None), (None, None), *ROWS[:20]]
LISTED = ["i0", "i1", "i2", "i5", "nobody's"]


def table(rows=ROWS):
    users, items = ([row[n] for row in rows] for n in (0, 1))
    return pa.table({"who": pa.array(users, pa.string()), "what": pa.array(items, pa.string())})


def answers(rows, listed=LISTED, **call):
    with Session() as session:
        source = call.get("source", table(rows))
        request = Request(call.get("table"), engine=call.get("engine"))
        events = open_source(session, source, request)
        everybody = EngineView(events, "who", ["what"], one_snapshot=True).everybody()
        released = pa.table({"what": pa.array(listed, pa.string())})
        return everybody.users(), everybody.with_other_items(released)


def expected(rows, listed=LISTED):
    pairs = {(u, i) for u, i in rows if u is not None and i is not None}
    return len({u for u, _ in pairs}), len({u for u, i in pairs if i not in listed})


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_answers_like_plain_python(engine, on_engine):
    call = on_engine(engine, table())
    assert answers(ROWS, **call) == expected(ROWS)
    if engine != "spark":
        assert answers(ROWS, [], **call) == (40, 40)


some = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), max_size=20)
own = st.lists(st.integers(0, 7), min_size=1, max_size=5)


@settings(max_examples=25)
@given(some, own, st.lists(st.integers(0, 7), max_size=6))
def test_one_more_user_moves_each_by_one_at_most(others, mine, listed):
    rows = [(f"u{u}", f"i{i}") for u, i in others]
    more = [*rows, *[("one more", f"i{i}") for i in mine]]
    listed = [f"i{i}" for i in listed]
    (few, few_other), (many, many_other) = answers(rows, listed), answers(more, listed)
    assert (few, few_other) == expected(rows, listed)
    assert many - few == 1
    assert many_other - few_other == bool({f"i{i}" for i in mine} - set(listed))


def test_items_of_several_columns_are_listed_together():
    columns = {"who": [1, 1, 2, 3], "a": ["x", "y", "x", "y"], "b": [1, 2, 2, 2]}
    with Session() as session:
        events = open_source(session, pa.table(columns), Request())
        everybody = EngineView(events, "who", ["a", "b"], one_snapshot=True).everybody()
        assert everybody.with_other_items(pa.table({"a": ["x", "y"], "b": [1, 2]})) == 1


# --- a user's rows within a week are what is protected ---------------------------------------

MONDAY = dt.date(2024, 1, 1)
WEEKS = Periods("week", "when", None, "user-week")
# The second week of each item is listed.
CELLS = [("i0", MONDAY + dt.timedelta(7)), ("i1", MONDAY + dt.timedelta(7))]


def weekly_answers(rows, listed=CELLS, **call):
    """Rows are of a user, an item and the number of a day."""
    users, items, days = ([row[n] for row in rows] for n in range(3))
    when = pa.array([MONDAY + dt.timedelta(day) for day in days], pa.date32())
    events = pa.table({"who": pa.array(users, pa.string()), "what": items, "when": when})
    call = {"source": events} if not call else call["on_engine"](call["engine"], events)
    with Session() as session:
        opened = open_source(
            session, call["source"], Request(call.get("table"), engine=call.get("engine"))
        )
        events = in_periods(opened, "who", ["what"], WEEKS, with_person=True)
        view = EngineView(events, "who", ["what", "week"], one_snapshot=True)
        everybody = view.everybody()
        released = {"what": [item for item, _ in listed], "week": [day for _, day in listed]}
        return (
            everybody.users(),
            everybody.with_other_items(pa.table(released)),
            view.highest_counts(10**6).users,
        )


def weekly_expected(rows, listed=CELLS):
    cells = {(u, i, MONDAY + dt.timedelta(7 * (day // 7))) for u, i, day in rows}
    others = {u for u, i, week in cells if (i, week) not in listed}
    return len({u for u, _, _ in cells}), len(others), len({(u, week) for u, _, week in cells})


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "sqlite"])
def test_users_are_counted_once_for_all_of_their_weeks(engine, on_engine):
    rows = [(f"u{n % 20}|{n % 3}", f"i{n % 4}", n % 21) for n in range(100)]
    found = weekly_answers(rows, engine=engine, on_engine=on_engine)
    assert found == weekly_expected(rows)
    assert found[0] < found[2]


visits = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(["i0", "i1"]), st.integers(0, 20)),
    min_size=1,
    max_size=12,
)


@settings(max_examples=25)
@given(visits, st.integers(0, 11))
def test_the_rows_of_a_user_within_a_week_move_each_by_one_at_most(rows, place):
    """Also if the user has other weeks, with the same items or others."""
    user, _, day = rows[place % len(rows)]
    rest = [row for row in rows if (row[0], row[2] // 7) != (user, day // 7)]
    rest.append(("c", "i0", 0))  # of an empty table nothing is known
    rows = [*rows, rest[-1]]
    whole, less = weekly_answers(rows), weekly_answers(rest)
    assert (whole, less) == (weekly_expected(rows), weekly_expected(rest))
    assert {one - other for one, other in zip(whole, less, strict=True)} <= {0, 1}


def test_a_release_by_week_says_how_many_users_there_are():
    """Not how many users of weeks: each of 300 is there in each of four weeks."""
    rows = [(n, MONDAY + dt.timedelta(7 * week)) for n in range(300) for week in range(4)]
    events = pa.table({"who": [user for user, _ in rows], "when": [day for _, day in rows]})
    made = hc.release(
        events, user="who", by=("week", "when"), protect="user-week", budget=hc.Budget(rho=40),
        total=True, other=True,
    )  # fmt: skip
    assert abs(made.totals["total"]["count"] - 300) < 10  # 8 standard errors
    assert made.totals["other"]["count"] < 10


@pytest.mark.parametrize("method", ["auto", "pcr", "pcr-paper", "threshold", "known"])
def test_all_of_a_release_is_from_one_snapshot(method, monkeypatch):
    read, keep = [], DuckDB.keep_distinct

    def counted(self, rows, error_prefix):
        read.append(1)
        return keep(self, rows, error_prefix)

    monkeypatch.setattr(DuckDB, "keep_distinct", counted)
    bound = 2 if method == "threshold" else None
    asked = {"user": "who", "item": "what", "budget": hc.Budget(rho=1), "max_items_per_user": bound}
    how = {"items_from": ["i0"]} if method == "known" else {"method": method}
    hc.release(table(), **asked, **how, total=True, other=True)
    assert read == [1]


def test_an_engine_that_keeps_nothing_is_refused_before_any_noise(monkeypatch):
    monkeypatch.setattr(DuckDB, "several_passes", False)
    monkeypatch.setattr(OsEntropy, "discrete_gaussian", lambda *given: pytest.fail("noise"))
    monkeypatch.setattr(OsEntropy, "try_out", lambda self: None)
    with pytest.raises(hc.SettingsError, match="keep rows between passes"):
        hc.release(table(), user="who", item="what", budget=hc.Budget(rho=1), total=True)
