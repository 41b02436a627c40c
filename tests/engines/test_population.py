"""The population of a rationed release, on every engine and whatever its columns are called."""

from collections import Counter

import duckdb
import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.engines import Session
from headcount.engines.duckdb.count import DuckDB
from headcount.inputs import Request, open_source
from headcount.privacy.questions import GRID, RATION
from headcount.views.engine_population import EnginePopulation
from tests.engines.servers import ENGINES
from tests.privacy.population import PlainPopulation, both, by_item

PAIRS = [(u, 1000 - i) for u in range(60) for i in range(1 + u % 7)]
NAMES = ["item_number", "users", "user_number", "items_of_user", "items", "user", "total"]
NAMES += ["item_number_", "Users", "cost", "counted"]
NAMES += ["place"]


VALUES = np.array([0, 1, 1, 0])

# With it alone a user has spent so much that 2⁶⁰ // that is 999,999, a hair below 1000².
A_SHARE_OF_999 = GRID**2 * RATION // 10**6 + 1


# Costs of which two are within a ration, and with this base one of them is not.
BASED = np.array([RATION // 2, RATION // 3, RATION // 4, 0]), 2 * RATION // 3


def pairs(name):
    users, items = (pa.array([pair[n] for pair in PAIRS]) for n in (0, 1))
    return pa.table({"who": users, name: items})


def answers(name, source=None, kind=EnginePopulation, **request):
    with Session() as session:
        events = open_source(session, pairs(name) if source is None else source, Request(**request))
        population = kind(events, "who", [name])
        top = population.highest_counts(3)
        # Of users with 7 items nothing counts, and of items with little weight.
        weights = population.weights(2**14, 6, 2**16 + 2**15)
        population.found(weights, [0, 1, 3, 4])
        costs = np.array([2**50, 2**51, 2**51, A_SHARE_OF_999])
        return (
            list(zip(top.items[name].to_pylist(), top.counts.to_pylist(), strict=True)),
            weights.values.tolist(),
            population.found_names()[name].to_pylist(),
            population.sizes([1, 2, 4]),
            both(population.clipped_sums(costs)),
            population.losers(costs, VALUES, [1, 500, 1000, 2000]),
            both(population.clipped_sums(*BASED)),
            population.losers(BASED[0], VALUES, [1, 50, 500], BASED[1]),
        )


def test_what_an_engine_answers_to_bounds_is_what_plain_python_does():
    """Each bound makes a difference here, and is part of what the noise is chosen for."""
    plain = PlainPopulation(PAIRS)
    top = Counter(item for _, item in PAIRS).most_common(3)
    bounded = plain.weights(2**14, 6, 2**16 + 2**15)
    weights = by_item(bounded)
    for without in [(100, 2**16 + 2**15), (6, 1)]:
        assert by_item(PlainPopulation(PAIRS).weights(2**14, *without)) != weights
    found = [sorted(weights)[place] for place in (0, 1, 3, 4)]
    plain.found(bounded, [bounded.items.index(item) for item in found])
    costs = np.array([2**50, 2**51, 2**51, A_SHARE_OF_999])
    assert answers("what") == (
        top,
        [weights[item] for item in sorted(weights)],
        found,
        plain.sizes([1, 2, 4]),
        both(plain.clipped_sums(costs)),
        plain.losers(costs, VALUES, [1, 500, 1000, 2000]),
        both(plain.clipped_sums(*BASED)),
        plain.losers(BASED[0], VALUES, [1, 50, 500], BASED[1]),
    )


def test_all_of_many_users_are_counted_and_of_one_snapshot():
    """An approximate number is right for a few. The table changes after the pairs are kept."""
    users = 5000
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS SELECT range AS who, range % 3 AS what FROM range({users})")
    with Session() as session:
        events = open_source(session, ibis.duckdb.from_connection(con).table("t"), Request())
        population = EnginePopulation(events, "who", ["what"])
        population.found(population.weights(2**14, 6, 1), [0])
        con.execute("INSERT INTO t VALUES (-1, 0), (-2, 1)")
        sums = population.clipped_sums(np.array([1]), 1)
    assert both(sums) == ([GRID * len(range(0, users, 3))], GRID * users)


def test_users_are_told_apart_by_their_exact_ids(monkeypatch):
    """A hash of an id may be that of another: then one would change what the other gives."""
    monkeypatch.setattr(DuckDB, "user_key", None)
    table = pa.table({"who": ["a", "b", "b"], "what": ["x", "x", "y"]})
    with Session() as session:
        events = open_source(session, table, Request())
        assert EnginePopulation(events, "who", ["what"]).sizes([1, 2]) == [2, 1]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_an_item_column_changes_nothing(name):
    assert answers(name) == answers("what")


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_answers_alike(engine, on_engine):
    assert answers("what", **on_engine(engine, pairs("what"))) == answers("what")


@pytest.mark.parametrize("engine", ["duckdb", "polars", "spark"])
def test_items_that_are_no_numbers_are_numbered_too(engine, on_engine):
    """NaN equals nothing elsewhere; here a join must find it, or a user would have fewer items."""
    values = [float("nan"), 0.0, -0.0, 1.5] * 3
    table = pa.table({"who": [f"u{n % 3}" for n in range(12)], "what": values})
    call = on_engine(engine, table)
    with Session() as session:
        request = Request(engine=call.get("engine"))
        events = open_source(session, call["source"], request)
        population = EnginePopulation(events, "who", ["what"])
        items = 2 if engine == "spark" else 3  # through Ibis, Spark takes NaN for NULL
        assert population.sizes([items, items + 1]) == [3, 0]
        assert population.weights(2**14, 100, 1).values.size == items


def test_found_items_are_in_the_order_of_their_names():
    names = answers("what")[2]
    assert len(names) == 4
    assert names == sorted(names)


@settings(max_examples=25, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 9)), min_size=1),
    costs=st.lists(st.integers(0, RATION), min_size=10, max_size=10),
    base=st.integers(0, RATION),
    data=st.data(),
)
def test_an_engine_answers_like_plain_python(pairs, costs, base, data):
    table = pa.table({"who": [u for u, _ in pairs], "what": [i for _, i in pairs]})
    plain = PlainPopulation(pairs)
    with Session() as session:
        engine = EnginePopulation(open_source(session, table, Request()), "who", ["what"])
        for _ in range(2):
            assert engine.sizes([1, 2, 5]) == plain.sizes([1, 2, 5])
            weights = engine.weights(2**14, 6, 2**13)
            names = weights.items["what"].to_pylist()
            expected = plain.weights(2**14, 6, 2**13)
            assert dict(zip(names, weights.values.tolist(), strict=True)) == by_item(expected)
            chosen = data.draw(st.sets(st.sampled_from(names))) if names else set()
            engine.found(weights, [names.index(name) for name in sorted(chosen)])
            plain.found(expected, [expected.items.index(name) for name in sorted(chosen)])
        assert engine.found_names()["what"].to_pylist() == plain.names
        if not plain.names:
            return
        costs = np.array(costs[: len(plain.names)], dtype=np.int64)
        assert both(engine.clipped_sums(costs, base)) == both(plain.clipped_sums(costs, base))
        asked = costs, np.arange(costs.size) % 2, [1, 2, 100, GRID], base
        assert engine.losers(*asked) == plain.losers(*asked)


def test_the_highest_counts_are_those_of_a_plain_count():
    plain = Counter(item for _, item in PAIRS).most_common(3)
    assert answers("what")[0] == plain
