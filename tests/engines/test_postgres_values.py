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
    # All that follows is shown as PostgreSQL's text, whether Python has such a type or not.
    "timetz": (["24:00:00+14", "24:00:00-14", "10:00:00+00", "09:00:00-01"], []),
    "uuid": (["00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff"], []),
    "inet": (["1.2.3.4/32", "1.2.3.4/8", "::1/128"], []),
    "cidr": (["10.0.0.0/8"], []),
    "macaddr": (["08:00:2b:01:02:03"], []),
    "money": (["$1.50", "-$92,233,720,368,547,758.08"], []),
    "bit(3)": (["101"], []),
    "varbit": (["", "1", "01"], []),
    "numeric(3, -2)": (["1200", "NaN"], []),
    "int4range": (["[1,4)", "empty"], []),
    "mood": (["sad", "Sad"], []),
    "pair": (["(1,x)", "(1.0,x)"], []),
    "day": (["2026-01-01"], ["infinity"]),
    "char(3)": (["a", "A"], []),
}
_MADE = """
DROP TYPE IF EXISTS mood, pair CASCADE; DROP DOMAIN IF EXISTS day CASCADE;
CREATE TYPE mood AS ENUM ('sad', 'Sad'); CREATE TYPE pair AS (n numeric, t text);
CREATE DOMAIN day AS date;
"""
on_all_kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def put(postgres_url):
    """Put values into a table, each of so many users; return how `release` is told."""
    import psycopg

    def put(kind, users):
        with psycopg.connect(postgres_url) as connection:
            connection.execute("DROP TABLE IF EXISTS odd")
            connection.execute(_MADE)
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
@on_all_kinds
def test_values_that_python_cannot_hold(put, kind, rank):
    kept, left_out = KINDS[kind]
    most, least = (left_out, kept) if rank == "first" else (kept, left_out)
    call = put(kind, {**dict.fromkeys(most, 90), **dict.fromkeys(least, 60)})
    assert shown(call, candidates=max(1, len(kept))) == sorted(kept)
    sql = "SELECT * FROM odd"
    assert shown({"source": call["source"], "sql": sql}) == sorted(kept)


@on_all_kinds
def test_no_row_and_one_row_are_alike(put, kind):
    """An error for the first row of a table would tell that there is one."""
    [value, *_] = KINDS[kind][0]
    assert shown(put(kind, {})) == shown(put(kind, {value: 1}), candidates=1) == []


@on_all_kinds
def test_tables_of_ibis_are_read_alike(put, kind):
    import ibis
    import psycopg

    kept, left_out = KINDS[kind]
    call = put(kind, dict.fromkeys([*kept, *left_out], 90))
    with psycopg.connect(call["source"]) as connection:
        table = ibis.postgres.from_connection(connection).table("odd")
        assert shown({"source": table}) == sorted(kept)


def test_one_spelling_of_a_value_is_not_published_for_another(put):
    """They are equal to PostgreSQL, whose GROUP BY would return any one person's."""
    for odd_one in ("(1.0000000,x)", "(1.00,x)"):
        assert shown(put("pair", {odd_one: 1, "(1,x)": 90})) == ["(1,x)"]


@pytest.mark.parametrize("kind", ["interval", "int[]", "json", "jsonb"])
def test_intervals_lists_and_json_are_refused(put, kind):
    with pytest.raises(headcount.SourceError, match=r"holds (lists|values other than text)"):
        shown(put(kind, {}))


def test_lists_are_counted_by_their_values_as_the_error_says(put):
    call = {**put("text[]", {"{a,b}": 60, "{b}": 30}), "table": None}
    sql = 'SELECT "who", unnest("what") AS "what" FROM odd'
    assert shown({**call, "sql": sql}) == ["a", "b"]


def test_columns_that_may_not_be_read_or_are_not_known_are_no_hindrance(put, postgres_url):
    """A login with grants for some columns, of a table that has types Ibis cannot parse."""
    import psycopg

    put("uuid", {"00000000-0000-0000-0000-000000000001": 90})
    with psycopg.connect(postgres_url) as connection:
        connection.execute("ALTER TABLE odd ADD COLUMN secret text, ADD COLUMN rel regclass")
        connection.execute("ALTER TABLE odd ADD COLUMN small numeric(2, 5)")
        connection.execute("DROP ROLE IF EXISTS columns_only; CREATE ROLE columns_only LOGIN")
        connection.execute("GRANT SELECT (who, what, rel, small) ON odd TO columns_only")
    call = {"source": postgres_url.replace("postgres:@", "columns_only:@"), "table": "odd"}
    assert len(shown(call)) == 1
    with pytest.raises(headcount.SourceError, match="are: 'who', 'what', 'rel', 'small'"):
        shown(call, item="secret")
    with psycopg.connect(postgres_url) as connection:
        connection.execute("REVOKE ALL ON odd FROM columns_only")
        connection.execute("REVOKE SELECT (who, what, rel, small) ON odd FROM columns_only")
    with pytest.raises(headcount.SourceError, match="no column that this login may read"):
        shown(call)


@pytest.mark.parametrize("kind", ["uuid", "numeric", "pair", "mood"])
def test_histograms_of_any_type(put, kind):
    import ibis
    import psycopg

    kept, _ = KINDS[kind]
    call = put(kind, dict.fromkeys(kept, 1))
    with psycopg.connect(call["source"]) as connection:
        table = ibis.postgres.from_connection(connection).table("odd").select("what", count=90)
        found = headcount.release_counts(table, item="what", budget=BUDGET, unsafe_seed=1)
    assert sorted(found.table["what"].to_pylist()) == sorted(kept)


def test_numbers_that_are_equal_are_one_item(put):
    call = put("numeric", {"1.50": 20, "1.5": 40, "1.500": 60})
    assert shown(call) == ["1.5"]


def test_users_may_be_any_numbers(postgres_url):
    sql = "SELECT n::numeric / 3e20 AS who, 'x' AS what FROM generate_series(1, 60) AS n"
    sql += " UNION ALL SELECT 'NaN'::numeric, 'x' UNION ALL SELECT 'Infinity'::numeric, 'x'"
    assert shown({"source": postgres_url, "sql": sql}) == ["x"]


@on_all_kinds
def test_passes_join_items_of_all_types(put, kind):
    import ibis
    import pyarrow as pa

    from headcount.engines import Session
    from headcount.inputs import Request, open_source
    from headcount.views.passes import Passes

    kept, left_out = KINDS[kind]
    call = put(kind, dict.fromkeys([*kept, *left_out], 2))
    with Session() as session:
        passes = Passes(open_source(session, call["source"], Request("odd")), "who", ["what"])
        items = passes.run(passes.pairs.select("what").distinct(), most_rows=99)
        public = passes.public(items.append_column("one", pa.array([1] * len(items))))
        joined = passes.pairs.join(public, "what").group_by("what").agg(n=ibis._.one.count())
        found = passes.run(joined, most_rows=99)
    assert sorted(map(str, found["what"].to_pylist())) == sorted(kept)
    assert found["n"].to_pylist() == [2] * len(kept)
