"""One row for each user: the same answers as other populations, of one snapshot, by exact ids."""

import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import headcount
from headcount.engines import Session
from headcount.engines.groups import two_slots
from headcount.engines.spark.count import Spark
from headcount.engines.spark.groups import group_users
from headcount.inputs import Request, open_source
from headcount.privacy.questions import RATION
from headcount.views.engine_population import EnginePopulation
from headcount.views.engine_view import EngineView
from headcount.views.grouped_population import GroupedPopulation
from tests.engines.test_coded_population import answers
from tests.engines.test_population import answers as bounded_answers
from tests.engines.test_population import pairs

ODD = ["a.b", "back`tick", "items", "codes", "place"]


def grouped(frame, items=("what",)):
    """What Spark answers."""
    with Session() as session:
        events = open_source(session, frame, Request())
        return answers(GroupedPopulation(events, "who", list(items)))


def plain(table, items=("what",)):
    """What other engines answer."""
    with Session() as session:
        return answers(EnginePopulation(open_source(session, table, Request()), "who", list(items)))


def table_of(seed, items=("what",), users=30, names=12):
    """Events of a few heavy users and many light ones; some rows twice, some with NULLs."""
    draw = random.Random(seed)
    rows = [
        (f"u{int(users * draw.random() ** 3)}", int(names * draw.random() ** 2))
        for _ in range(8 * users)
    ]
    rows += rows[:50]
    columns = {
        name: [f"{name}{item * (place + 1) % names}" for _, item in rows]
        for place, name in enumerate(items)
    }
    empty = {name: [None] for name in columns}
    table = pa.table({"who": [user for user, _ in rows], **columns})
    return pa.concat_tables([table, pa.table({"who": ["u0"], **empty}, schema=table.schema)])


def test_the_answers_are_those_of_other_engines(spark, monkeypatch):
    """Users are told apart by their exact ids: a hash of one may be that of another."""
    monkeypatch.setattr(Spark, "user_key", None)
    table = table_of(0)
    assert grouped(spark.createDataFrame(table)) == plain(table)


def test_items_of_several_columns_whatever_these_are_called(spark):
    table = table_of(7, ODD)
    assert grouped(spark.createDataFrame(table), ODD) == plain(table, ODD)


def test_bounds_are_those_of_other_engines(spark):
    """Of users with too many items, of weights, and of what a user may lose."""
    frame = spark.createDataFrame(pairs("what"))
    assert bounded_answers("what", frame, kind=GroupedPopulation) == bounded_answers("what")


def test_items_with_one_hash_stay_apart(spark, monkeypatch):
    """A hash of names is a code only if no other item has it."""
    from headcount.engines.spark import groups

    hashed = groups._hash
    monkeypatch.setattr(groups, "_hash", lambda *columns: hashed(*columns) % 4)
    table = table_of(3, ODD[:2])
    assert grouped(spark.createDataFrame(table), ODD[:2]) == plain(table, ODD[:2])


def test_the_events_are_read_once(spark, tmp_path, monkeypatch):
    """A file that is gone when anything has been kept of it is not missed."""
    path = tmp_path / "events.parquet"
    table = table_of(5)
    pq.write_table(table, path)
    keep = Spark.keep_frame

    def keep_and_delete(self, *given):
        kept = keep(self, *given)
        path.unlink(missing_ok=True)
        return kept

    monkeypatch.setattr(Spark, "keep_frame", keep_and_delete)
    with Session() as session:
        events = open_source(session, path, Request(engine="spark"))
        population = EngineView(events, "who", ["what"]).pairs()
        assert isinstance(population, GroupedPopulation)
        assert not path.exists()
        assert answers(population) == plain(table)


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("items", [["what"], ["what", "where"]], ids=["one", "two"])
def test_a_user_has_a_number_once_whatever_its_bits(spark, items, kind):
    """0.0 equals -0.0, and one NaN is as good as another: a user with both has one item."""
    numbers = [0.0, -0.0, float("nan"), 1.5, float("nan"), -0.0]
    rows = [("u", number, "here") for number in numbers]
    frame = spark.createDataFrame(rows, f"who string, what {kind}, where string")
    with Session() as session:
        events = open_source(session, frame, Request())
        grouped = group_users(events.engine, events.table, "who", items, "")
        assert sorted(grouped.items.to_pyarrow()[grouped.count].to_pylist()) == [1, 1, 1]
        ((codes,),) = [row.values() for row in grouped.users.table.to_pyarrow().to_pylist()]
        assert sorted(codes) == sorted(grouped.items.to_pyarrow()[grouped.code].to_pylist())


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_is_left_on_spark(spark, fails):
    def kept():
        tables = [table.name for table in spark.catalog.listTables()]
        return sorted([*tables, *map(str, spark.sparkContext._jsc.getPersistentRDDs())])

    before = kept()
    frame = spark.createDataFrame(table_of(6))
    with Session() as session:
        population = GroupedPopulation(open_source(session, frame, Request()), "who", ["what"])
        weights = population.weights(2**14, 99, 1)
        population.found(weights, [0, 1])
        most = 2**62 if fails else RATION
        costs = np.array([most, most], dtype=np.int64)
        if fails:  # not a sum that begins again below 0
            with pytest.raises(headcount.HeadcountError, match="the events cannot be aggregated: "):
                population.losers(costs, costs, [1])
        else:
            population.losers(costs, costs, [1])
        # The users, the items, and the users by the places of items; no longer the names.
        assert (
            len(spark.sparkContext._jsc.getPersistentRDDs())
            - len([name for name in before if name.isdigit()])
            == 3
        )
    assert kept() == before


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(-(2**63), 2**63 - 1)), st.integers(-(2**63), 2**63 - 1))
@example(set(range(100)), 100)
@example({n << 32 for n in range(50)}, 0)
@example({1, 1 + (1 << 40), 1 + (1 << 41)}, 1)
def test_each_code_is_in_one_of_its_two_slots_and_no_other_code_is(codes, other):
    codes = np.array(sorted(codes - {other}), dtype=np.int64)
    slots = two_slots(codes)
    mask = slots.size - 1

    def place(code):
        both = code & mask, ((code % 2**64) >> 32) & mask
        return [int(slots[slot]) for slot in both if codes.size and codes[slots[slot]] == code]

    assert [place(code)[0] for code in codes.tolist()] == list(range(codes.size))
    assert not place(other)


def test_codes_that_have_one_pair_of_slots_are_refused():
    with pytest.raises(headcount.EngineError, match="another engine"):
        two_slots(np.array([0, 1 << 28, 1 << 29, 1 << 30], dtype=np.int64))
