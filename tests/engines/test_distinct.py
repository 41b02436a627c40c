"""No pair is counted twice: what is distinct is decided by the engine that counts, when it counts.

A user who is there twice with an item moves its count by 2, and every sensitivity is wrong.
"""

import sqlite3

import ibis
import pyarrow as pa
import pytest

from headcount.engines import Session
from headcount.engines.duckdb.count import DuckDB
from headcount.inputs import Request, open_source
from headcount.views.bounded import bounded_counts
from headcount.views.engine_population import EnginePopulation
from headcount.views.histogram import check_columns, count_distinct_users
from tests.engines.servers import ENGINES

UNIT = 2**20


def check_counts(call, items):
    """One user has so many items, in whatever many rows; all methods must see just that."""
    request = Request(call.get("table"), engine=call.get("engine"), columns=["who", "what"])
    with Session() as session:
        events = open_source(session, call["source"], request)
        population = EnginePopulation(events, "who", ["what"])
        assert population.highest_counts(items + 1).counts.to_pylist() == [1] * items
        assert population.sizes([1, items, items + 1]) == [1, 1, 0]
        weights = population.weights(UNIT, items, 1).values
        assert len(weights) == items
        assert sum(int(weight) ** 2 for weight in weights) <= UNIT**2
        bounded = bounded_counts(events, "who", ["what"], items, 1)
        assert bounded.counts.to_pylist() == [1] * items
        one = bounded_counts(events, "who", ["what"], 1, 1)
        assert one.counts.to_pylist() == [1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pair_in_many_rows_counts_once(engine, on_engine):
    table = pa.table({"who": ["u"] * 600, "what": [f"i{n % 3}" for n in range(600)]})
    call = on_engine(engine, table)
    check_counts(call, 3)
    request = Request(call.get("table"), engine=call.get("engine"))
    with Session() as session:
        events = open_source(session, call["source"], request)
        assert count_distinct_users(events, "who", ["what"], 9).counts.to_pylist() == [1] * 3


@pytest.mark.parametrize("engine", ["polars", "sqlite"])
def test_pairs_that_become_equal_on_the_way_to_what_keeps_them_count_once(
    engine, on_engine, monkeypatch
):
    """As 1,000 timestamps within a microsecond did on their way to DuckDB before 2.0."""
    insert = DuckDB.insert

    def cut(self, table, rows):
        import pyarrow.compute as pc

        place = rows.column_names.index("what")
        column = pc.divide(rows["what"], pa.scalar(1000, pa.int64()))
        insert(self, table, rows.set_column(place, "what", column))

    monkeypatch.setattr(DuckDB, "insert", cut)
    table = pa.table({"who": ["u"] * 3000, "what": pa.array(range(3000), pa.int64())})
    check_counts(on_engine(engine, table), 3)


def test_items_that_look_the_same_are_one_item_duckdb():
    """A time of day with a zone, which Arrow would show without."""
    backend = ibis.duckdb.connect()
    backend.con.execute(
        "CREATE TABLE events AS SELECT 'u' AS who, CAST(t AS TIMETZ) AS what "
        "FROM (VALUES ('10:00:00+00'), ('10:00:00+01'), ('11:00:00+01')) AS v(t)"
    )
    table = backend.table("events")
    assert counted(table) == {"10:00:00+00": 1, "10:00:00+01": 1, "11:00:00+01": 1}
    check_counts({"source": table}, 3)


def test_items_that_look_the_same_are_one_item_sqlite(tmp_path):
    """SQLite stores any text as a date, and Ibis reads different ones as the same date.

    Nor does one row decide whether there is an error.
    """
    path = tmp_path / "e.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (who TEXT, day DATE, yes BOOLEAN, n INTEGER)")
        rows = [("u", "2020-01-01", 1, 1), ("u", "2020-1-1", 2, "x"), ("u", "never", 0, 2)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    connection.close()
    table = ibis.sqlite.connect(path).table("t")
    assert counted(table, "day") == {"2020-01-01": 1, "2020-1-1": 1, "never": 1}
    assert counted(table, "yes") == {0: 1, 1: 1, 2: 1}
    assert counted(table, "n") == {1: 1, 2: 1}
    check_counts({"source": table.rename(what="day")}, 3)


def counted(source, item="what"):
    with Session() as session:
        events = open_source(session, source, Request(columns=["who", item]))
        check_columns(events, "who", [item])
        top = count_distinct_users(events, "who", [item], 9)
    names = top.items[item].to_pylist()
    assert len(set(names)) == len(names)
    return dict(zip(names, top.counts.to_pylist(), strict=True))
