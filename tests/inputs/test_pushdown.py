"""What is counted, ordered and cut is counted, ordered and cut by the engine."""

import sqlite3

import ibis
import polars as pl
import pyarrow as pa
import pytest

from headcount.engines import Session, engine_for
from headcount.errors import SourceError
from headcount.inputs import Request, open_source
from headcount.inputs.open import Events
from headcount.views.histogram import check_columns, count_distinct_users, top_of_histogram

ROWS = {
    "u": [u for item in range(50) for u in range(item + 1)],
    "i": [f"item {item}" for item in range(50) for _ in range(item + 1)],
}


def watching(table, backend, session):
    """Return events whose engine remembers what it was asked and what it answered."""
    engine = engine_for(backend, session)
    engine.queries, engine.answers = [], []
    fetch = engine.fetch

    def watched_fetch(query):
        engine.queries.append(query)
        engine.answers.append(fetch(query))
        return engine.answers[-1]

    engine.fetch = watched_fetch
    return Events(table, engine)


@pytest.fixture(params=["duckdb", "sqlite", "polars"])
def watched(request, tmp_path):
    if request.param == "polars":
        table = ibis.polars.connect({"t": pl.DataFrame(ROWS)}).table("t")
        yield watching(table, table.get_backend(), Session())
        return
    if request.param == "sqlite":
        connection = sqlite3.connect(tmp_path / "e.sqlite")
        connection.execute("CREATE TABLE t (u INT, i TEXT)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?)", zip(ROWS["u"], ROWS["i"], strict=True)
        )
        connection.commit()
        connection.close()
        source, options = tmp_path / "e.sqlite", {"table": "t"}
    else:
        source, options = pa.table(ROWS), {}
    with Session() as session:
        events = open_source(session, source, Request(**options))
        yield watching(events.table, events.engine.backend, session)


@pytest.mark.parametrize("limit", [1, 7, 50, 1000])
def test_no_more_rows_than_asked_for_reach_python(watched, limit):
    top = count_distinct_users(watched, "u", ["i"], limit)
    (answer,) = watched.engine.answers
    assert answer.num_rows == min(limit, 50)
    assert top.counts.to_pylist() == list(range(50, 50 - min(limit, 50), -1))
    assert top.items["i"].to_pylist() == [f"item {49 - n}" for n in range(min(limit, 50))]


@pytest.mark.parametrize("watched", ["duckdb", "sqlite"], indirect=True)
def test_the_query_holds_the_cut(watched):
    count_distinct_users(watched, "u", ["i"], 8)
    (query,) = watched.engine.queries
    sql = str(ibis.to_sql(query, dialect=watched.engine.backend.name)).upper()
    assert "LIMIT 8" in sql
    assert "ORDER BY" in sql
    assert "GROUP BY" in sql


@pytest.mark.parametrize("watched", ["duckdb", "sqlite"], indirect=True)
def test_a_limit_beyond_any_table(watched):
    assert len(count_distinct_users(watched, "u", ["i"], 10**30).counts) == 50


def test_a_histogram_is_cut_by_the_engine():
    table = ibis.memtable({"item": [str(n) for n in range(50)], "count": list(range(50))})
    events = watching(table, table.get_backend(), Session())
    top = top_of_histogram(events, "count", ["item"], 5, 8)
    assert [answer.num_rows for answer in events.engine.answers] == [0, 0, 8]
    assert top.counts.to_pylist() == list(range(49, 41, -1))


def test_ties_do_not_depend_on_the_order_of_rows():
    rows = {"u": [1, 2, 3, 4], "i": ["d", "b", "c", "a"]}
    for order in (1, -1):
        with Session() as session:
            source = pa.table({name: values[::order] for name, values in rows.items()})
            top = count_distinct_users(open_source(session, source, Request()), "u", ["i"], 2)
        assert top.items["i"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize(
    ("user", "items", "says"),
    [
        ("u", ["i", "i"], "twice"),
        ("u", ["u"], "the same"),
        ("x", ["i"], "no column 'x'; the columns are: 'u', 'i', 'count', 'Upper'"),
        ("u", ["x"], "no column 'x'"),
        ("U", ["i"], "no column 'U'"),
        ("u", ["count"], "column of the result"),
        ("u", ["Upper"], "column of the result"),
    ],
)
def test_columns_that_cannot_be_used(user, items, says):
    source = pa.table({"u": [1], "i": ["a"], "count": ["b"], "Upper": ["c"]})
    with Session() as session, pytest.raises(SourceError, match=says):
        check_columns(open_source(session, source, Request()), user, items)


def test_a_user_column_may_be_called_count():
    source = pa.table({"count": [1], "i": ["a"]})
    with Session() as session:
        events = open_source(session, source, Request())
        check_columns(events, "count", ["i"])
        assert count_distinct_users(events, "count", ["i"], 5).counts.to_pylist() == [1]
