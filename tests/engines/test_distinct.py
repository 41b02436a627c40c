"""No pair is counted twice: what is distinct is decided by the engine that counts, when it counts.

A user who is there twice with an item moves its count by 2, and every sensitivity is wrong.
"""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headcount.bounded import bounded_counts
from headcount.engines import Session
from headcount.engines.duckdb import DuckDB
from headcount.histogram import count_distinct_users
from headcount.population import EnginePopulation
from headcount.sources import Request, open_source
from tests.engines.conftest import ENGINES

UNIT = 2**20


def check_counts(call, items):
    """One user has so many items, in whatever many rows; all methods must see just that."""
    request = Request(call.get("table"), engine=call.get("engine"), columns=["who", "what"])
    with Session() as session:
        events = open_source(session, call["source"], request)
        population = EnginePopulation(events, "who", ["what"])
        assert population.top_counts(items + 1).counts.to_pylist() == [1] * items
        assert population.sizes([1, items, items + 1]) == [1, 1, 0]
        weights = population.weights(UNIT, items, 1)
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


STAMPS = [pa.timestamp("ns", "UTC"), pa.timestamp("ns"), pa.time64("ns")]


@pytest.mark.parametrize("engine", ["duckdb", "polars", None])
@pytest.mark.parametrize("kind", STAMPS, ids=str)
def test_stamps_within_a_microsecond_are_as_many_items_or_refused(engine, kind, tmp_path):
    table = pa.table({"who": ["u"] * 1000, "what": pa.array(range(1000), pa.int64()).cast(kind)})
    pq.write_table(table, tmp_path / "e.parquet")
    check_counts({"source": tmp_path / "e.parquet" if engine else table, "engine": engine}, 1000)
