"""How many users there are, and how many have other items than those listed, on every engine."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headcount as hc
from headcount.engines import Session
from headcount.engines.duckdb.count import DuckDB
from headcount.inputs import Request, open_source
from headcount.privacy.randomness import OsEntropy
from headcount.views.engine_view import EngineView
from tests.engines.conftest import ENGINES

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


@pytest.mark.parametrize("method", ["auto", "pcr", "pcr-paper", "threshold"])
def test_all_of_a_release_is_from_one_snapshot(method, monkeypatch):
    read, keep = [], DuckDB.keep_distinct

    def counted(self, rows, error_prefix):
        read.append(1)
        return keep(self, rows, error_prefix)

    monkeypatch.setattr(DuckDB, "keep_distinct", counted)
    bound = 2 if method == "threshold" else None
    asked = {"user": "who", "item": "what", "budget": hc.Budget(rho=1), "max_items_per_user": bound}
    hc.release(table(), **asked, method=method, total=True, other=True)
    assert read == [1]


def test_an_engine_that_keeps_nothing_is_refused_before_any_noise(monkeypatch):
    monkeypatch.setattr(DuckDB, "several_passes", False)
    monkeypatch.setattr(OsEntropy, "discrete_gaussian", lambda *given: pytest.fail("noise"))
    monkeypatch.setattr(OsEntropy, "try_out", lambda self: None)
    with pytest.raises(hc.SettingsError, match="keep rows between passes"):
        hc.release(table(), user="who", item="what", budget=hc.Budget(rho=1), total=True)
