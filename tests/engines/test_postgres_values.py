"""Values of PostgreSQL that Python's types cannot hold: by a rule for each row, not by rank."""

import pytest

import headcount

BUDGET = headcount.Budget(rho=20.0)

# Of each type: what is released, as shown, and what counts as NULL.
NUMBERS = ["1" + 44 * "2" + ".5", "0.00000000012345678901", "NaN", "Infinity", "-7", "1.5"]
KINDS = {
    "numeric": (NUMBERS, []),
    "numeric(60, 2)": (["1" + 44 * "2" + ".5", "NaN"], []),
    "numeric(38, 2)": (["9" * 36 + ".99", "-" + "9" * 36 + ".99"], ["NaN"]),
    "date": (
        ["0001-01-01", "9999-12-31"],
        ["infinity", "-infinity", "10000-01-01", "0044-03-15 BC"],
    ),
    "timestamp": (
        ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"],
        ["infinity", "-infinity", "294000-01-01", "0044-03-15 BC"],
    ),
    "timestamp(3)": (["9999-12-31 23:59:59.999000"], ["infinity"]),
    "timestamptz": (
        ["0001-01-01 00:00:00+00:00", "9999-12-31 23:59:59.999999+00:00"],
        ["infinity", "0001-01-01 00:30+01", "10000-01-01 00:00+00"],
    ),
    "time": (["00:00:00", "23:59:59.999999"], ["24:00"]),
}


@pytest.fixture
def put(postgres_url):
    """Put values into a table, each of so many users; return how `release` is told."""
    import psycopg

    def put(kind, users):
        with psycopg.connect(postgres_url) as connection:
            connection.execute("DROP TABLE IF EXISTS odd")
            connection.execute(f"CREATE TABLE odd (who text, what {kind})")
            for value, count in users.items():
                connection.execute(
                    f"INSERT INTO odd SELECT 'u' || n, %s::{kind} FROM generate_series(1, %s) n",
                    [value, count],
                )
        return {"source": postgres_url, "table": "odd"}

    return put


def shown(call, **changes):
    call = {"user": "who", "item": "what", "budget": BUDGET, "unsafe_seed": 1, **call, **changes}
    return sorted(map(str, headcount.release(call.pop("source"), **call).table["what"].to_pylist()))


@pytest.mark.parametrize("rank", ["first", "last"])
@pytest.mark.parametrize("kind", KINDS)
def test_values_that_python_cannot_hold(put, kind, rank):
    kept, left_out = KINDS[kind]
    most, least = (left_out, kept) if rank == "first" else (kept, left_out)
    call = put(kind, {**dict.fromkeys(most, 90), **dict.fromkeys(least, 60)})
    assert shown(call) == sorted(kept)
    assert shown(call, candidates=max(1, len(kept))) == sorted(kept)
    sql = "SELECT * FROM odd"
    assert shown({"source": call["source"], "sql": sql}) == sorted(kept)


def test_numbers_that_are_equal_are_one_item(put):
    call = put("numeric", {"1.50": 20, "1.5": 40, "1.500": 60})
    assert shown(call) == ["1.5"]


def test_users_may_be_any_numbers(postgres_url):
    sql = "SELECT n::numeric / 3e20 AS who, 'x' AS what FROM generate_series(1, 60) AS n"
    sql += " UNION ALL SELECT 'NaN'::numeric, 'x' UNION ALL SELECT 'Infinity'::numeric, 'x'"
    assert shown({"source": postgres_url, "sql": sql}) == ["x"]


def test_passes_join_numbers_without_bounds(put):
    import ibis
    import pyarrow as pa

    from headcount.engines import Session
    from headcount.passes import Passes
    from headcount.sources import Request, open_source

    call = put("numeric", dict.fromkeys(NUMBERS, 2))
    with Session() as session:
        passes = Passes(open_source(session, call["source"], Request("odd")), "who", ["what"])
        items = passes.run(passes.pairs.select("what").distinct(), most_rows=99)
        public = passes.public(items.append_column("one", pa.array([1] * len(items))))
        joined = passes.pairs.join(public, "what").group_by("what").agg(n=ibis._.one.count())
        found = passes.run(joined, most_rows=99)
    assert sorted(found["what"].to_pylist()) == sorted(NUMBERS)
    assert found["n"].to_pylist() == [2] * len(NUMBERS)
