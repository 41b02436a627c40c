"""At most so many items of each user count, on every engine, whoever else is there."""

from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headcount
from headcount.engines import Session
from headcount.inputs import Request, open_source
from headcount.privacy import questions
from headcount.views.bounded import bounded_counts
from tests.engines.servers import ENGINES

# Users with one to nine items; some rows twice, some NULL.
ROWS = [(f"u{u}", f"i{i % 23}") for u in range(200) for i in range(u, u + 1 + u % 9)]
ROWS += [(None, "i0"), ("u1", None), *ROWS[:50]]


def table(rows, kind=None):
    users, items = ([row[n] for row in rows] for n in (0, 1))
    return pa.table({"who": pa.array(users, pa.string()), "what": pa.array(items, kind)})


def counts(call, most, at_least=1, items=("what",), of=lambda table: table):
    request = Request(call.get("table"), engine=call.get("engine"))
    with Session() as session:
        events = open_source(session, call["source"], request)
        events = replace(events, table=of(events.table))
        found = bounded_counts(events, "who", list(items), most, at_least)
    names = list(zip(*(found.items[column].to_pylist() for column in items), strict=True))
    assert names == sorted(names)  # nothing else decides the order
    return dict(zip(names, found.counts.to_pylist(), strict=True))


@pytest.mark.parametrize("engine", ENGINES)
def test_as_many_pairs_are_kept_on_every_engine(engine, on_engine):
    call = on_engine(engine, table(ROWS, pa.string()))
    sizes = Counter(u for u, _ in {row for row in ROWS if None not in row})
    whole = Counter((i,) for _, i in {row for row in ROWS if None not in row})
    for most in (1, 4):
        kept = counts(call, most)
        assert sum(kept.values()) == sum(min(most, n) for n in sizes.values())
        assert all(n <= whole[item] for item, n in kept.items())
        assert len(kept) > 15  # not the same few items of everybody
    assert counts(call, 9) == whole
    assert counts(call, 9, at_least=43) == {i: n for i, n in whole.items() if n >= 43}
    assert min(whole.values()) < 43


@pytest.mark.parametrize("engine", ENGINES)
def test_a_choice_does_not_hang_on_order_or_on_others(engine, on_engine):
    """The choices of all, added up, are the choices of two halves, added up."""
    rows = sorted((row for row in ROWS if row[0]), key=lambda row: int(row[0][1:]) % 2)
    halves = pa.array([int(user[1:]) % 2 for user, _ in rows])
    call = on_engine(engine, table(rows[::-1], pa.string()).append_column("half", halves[::-1]))
    apart = Counter()
    for half in (0, 1):
        apart.update(counts(call, 3, of=lambda t, half=half: t.filter(t["half"] == half)))
    assert counts(call, 3) == apart
    assert counts(call, 3, of=lambda t: t.order_by("what")) == apart


@pytest.mark.parametrize("engine", ENGINES)
def test_no_item_is_favoured(engine, on_engine):
    """The choice is fixed, so that this cannot fail now and then."""
    rows = [(f"u{u}", item) for u in range(300) for item in "abc"]
    kept = counts(on_engine(engine, table(rows, pa.string())), 1)
    assert len(kept) == 3
    assert all(50 < n < 150 for n in kept.values())  # 100 ± 8


KINDS = {
    "whole": ([1, 2, 3, -4, 5], pa.int64()),
    "double": ([0.0, -0.0, float("nan"), 1.5, float("inf")], pa.float64()),
    "bytes": ([b"", b"\xff", b"a", b"\x00", b"b"], pa.binary()),
    "truth": ([True, False, True, False, None], pa.bool_()),
}


@pytest.mark.parametrize("engine", [e for e in ENGINES if e != "sqlite"])
def test_items_of_any_type(engine, on_engine):
    columns = {name: pa.array(values * 20, kind) for name, (values, kind) in KINDS.items()}
    users = pa.array([n // 5 for n in range(100)])
    call = on_engine(engine, pa.table({"who": users, **columns}))
    request = Request(call.get("table"), engine=call.get("engine"))
    with Session() as session:
        events = open_source(session, call["source"], request)
        for column in KINDS:
            found = bounded_counts(events, "who", [column], 1, 1)
            assert sum(found.counts.to_pylist()) == 20


def test_several_columns_called_as_they_like():
    names = ["scattered", "place", "count_", "user"]
    rows = {name: [f"{name}{n % 5}" for n in range(60)] for name in names}
    events = pa.table({"who": [n // 4 for n in range(60)], **rows})
    assert sum(counts({"source": events}, 2, items=names).values()) == 30


PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8)), max_size=40)


@settings(max_examples=25, deadline=None)
@given(PAIRS, st.sets(st.integers(0, 12)), st.integers(1, 4))
def test_one_more_user_changes_so_many_counts_by_one(pairs, items, most):
    def counted(rows):
        kinds = {"who": pa.int64(), "what": pa.int64()}
        columns = zip(kinds, zip(*rows, strict=True) if rows else ([], []), strict=True)
        source = pa.table({name: pa.array(values, kinds[name]) for name, values in columns})
        return counts({"source": source}, most)

    before = counted(pairs)
    after = counted([*((99, item) for item in items), *pairs])
    changes = [after.get(i, 0) - before.get(i, 0) for i in after.keys() | before.keys()]
    assert set(changes) <= {0, 1}
    assert sum(changes) == min(most, len(items)) <= questions.bounded_counts(most).squared


@pytest.mark.parametrize("engine", ENGINES)
def test_a_release(engine, on_engine):
    rows = [(f"u{n}", item) for item, users in {"a": 3000, "b": 1500}.items() for n in range(users)]
    release = headcount.release(
        **on_engine(engine, table([*rows, ("u1", "rare")], pa.string())),
        user="who",
        item="what",
        budget=headcount.Budget(rho=5),
        method="threshold",
        max_items_per_user=3,
    )
    found = release.table.to_pydict()
    assert found["what"] == ["a", "b"]
    for count, true in zip(found["count"], [3000, 1500], strict=True):
        assert abs(count - true) < 8 * release.settings["sigma"]  # but for 1 in 10¹⁴
    assert set(release.settings) == {"max_items_per_user", "r", "sigma", "threshold"}
