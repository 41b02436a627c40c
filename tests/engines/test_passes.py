"""Two passes over one snapshot, joined with a public table, on every engine."""

import math
from collections import Counter

import ibis
import pyarrow as pa
import pytest

from headcount.engines import Session
from headcount.passes import Passes
from headcount.sources import Request, open_source
from tests.engines.conftest import ENGINES

UNIT = 1 << 20

# Users with different numbers of items; some rows twice, some NULL.
ROWS = [(f"u{u}", f"i{i}") for u in range(30) for i in range(1 + u % 5)]
ROWS += [(None, "i0"), ("u1", None), *ROWS[:20]]


def table():
    return pa.table({"who": [u for u, _ in ROWS], "what": [i for _, i in ROWS]})


def opened(session, call):
    request = Request(call.get("table"), engine=call.get("engine"))
    return open_source(session, call["source"], request)


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_per_user_summed_per_item(engine, on_engine):
    """Each user spreads l2-norm 1 over the items a public table leaves, in integers."""
    left = ["i1", "i2", "i3", "i4"]
    with Session() as session:
        passes = Passes(opened(session, on_engine(engine, table())), "who", ["what"])
        public = passes.public(pa.table({"what": left, "noise": [1, 2, 3, 4]}))
        pairs = passes.pairs.join(public, "what")
        per_user = pairs.group_by(passes.user).agg(n=ibis._.count())
        # isqrt(4^k / n) for the few n there are, as a public table too.
        weights = passes.public(
            pa.table({"n": range(1, 6), "weight": [math.isqrt(UNIT**2 // n) for n in range(1, 6)]})
        )
        weighted = pairs.join(per_user, passes.user).join(weights, "n")
        per_item = weighted.group_by("what").agg(total=ibis._.weight.sum().cast("int64"))
        found = passes.run(per_item, most_rows=100)
    distinct = {(u, i) for u, i in ROWS if u and i in left}
    items_of = Counter(u for u, _ in distinct)
    expected = Counter()
    for u, i in distinct:
        expected[i] += math.isqrt(UNIT**2 // items_of[u])
    assert dict(zip(*(found[c].to_pylist() for c in ("what", "total")), strict=True)) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pass_returns_no_more_rows_than_it_may(engine, on_engine):
    with Session() as session:
        passes = Passes(opened(session, on_engine(engine, table())), "who", ["what"])
        assert passes.run(passes.pairs, most_rows=7).num_rows == 7


def test_passes_see_one_snapshot(tmp_path):
    """A table that changes between passes is not seen to change."""
    backend = ibis.duckdb.connect(tmp_path / "e.duckdb")
    backend.con.execute("CREATE TABLE t AS SELECT 'u' AS who, 'a' AS what")
    with Session() as session:
        passes = Passes(open_source(session, backend.table("t"), Request()), "who", ["what"])
        backend.con.execute("INSERT INTO t VALUES ('v', 'b')")
        assert passes.run(passes.pairs, most_rows=9)["what"].to_pylist() == ["a"]


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_is_left_on_the_engine(tmp_path, fails):
    backend = ibis.duckdb.connect(tmp_path / "e.duckdb")
    backend.con.execute("CREATE TABLE t AS SELECT 'u' AS who, 'a' AS what")

    def names():
        return backend.con.execute("SELECT table_name FROM duckdb_tables()").fetchall()

    before = names()
    with pytest.raises(ZeroDivisionError) if fails else Session(), Session() as session:
        passes = Passes(open_source(session, backend.table("t"), Request()), "who", ["what"])
        passes.public(pa.table({"what": ["a"], "noise": [1]}))
        assert names() != before
        if fails:
            raise ZeroDivisionError
    assert names() == before
