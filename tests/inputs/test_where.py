"""Conditions on rows: one boolean expression on a row's own columns, and nothing else."""

import datetime
import sqlite3

import duckdb
import ibis
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headcount as hc
from headcount.engines import Session
from headcount.errors import SourceError
from headcount.inputs import Request, open_source
from headcount.inputs.where import parsed

ROWS = pa.table(
    {
        "u": [1, 2, 3, 4],
        "c": ["DE", "de", None, "FR"],
        "age": [17, 18, None, 60],
        "d": [datetime.date(2024, 1, day) for day in (1, 2, 3, 4)],
        "ts": [datetime.datetime(2024, 1, day, 12) for day in (1, 2, 3, 4)],
        "at": pa.array([86400 * day for day in range(4)], pa.timestamp("s", "UTC")),
        "Show": ["a", "b", "c", "it's"],
    }
)

# What holds of which users, the same on every engine; what Polars has not through Ibis comes last.
MEANT = {
    "c = 'DE'": [1],
    "c = 'DE' OR c = 'FR' AND age > 99": [1],
    "NOT (c = 'DE' OR c = 'FR')": [2],
    "c <> 'DE'": [2, 4],
    "c IN ('DE', 'FR')": [1, 4],
    "c NOT IN ('DE')": [2, 4],
    "age BETWEEN 18 AND 60": [2, 4],
    "age NOT BETWEEN 18 AND 60": [1],
    "c IS NULL": [3],
    "c IS NOT NULL AND age < 20": [1, 2],
    "lower(c) = 'de'": [1, 2],
    "length(trim(c)) = 2": [1, 2, 4],
    "coalesce(c, 'none') = 'none'": [3],
    "c || '!' = 'DE!'": [1],
    "-age < -20": [4],
    "(age + 1) * 2 > 37": [2, 4],
    "age % 2 = 0": [2, 4],
    "abs(age - 20) <= 2": [2],
    "d >= '2024-01-03'": [3, 4],
    "d >= DATE '2024-01-03'": [3, 4],
    "ts < '2024-01-02 13:00:00'": [1, 2],
    "ts >= d": [1, 2, 3, 4],
    "at >= '1970-01-03'": [3, 4],
    "year(d) = 2024 AND extract(day FROM ts) = 4": [4],
    "CAST(age AS TEXT) = '17'": [1],
    "\"Show\" = 'it''s'": [4],
    "Show = 'a' -- a comment": [1],
    "c LIKE 'D%'": [1],
    "c ILIKE 'd_'": [1, 2],
}
LIKE = [text for text in MEANT if "LIKE" in text]


def kept(session, call, text):
    """Return the users whose rows are read."""
    options = {key: value for key, value in call.items() if key != "source"}
    columns = [*dict.fromkeys(["u", *parsed(text).columns])]
    request = Request(**options, columns=columns, user="u", where=parsed(text))
    events = open_source(session, call["source"], request)
    table = events.engine.run(events.table.select("u"), "it fails")
    return sorted(int(user) for user in table["u"].to_pylist())


def test_on_sqlite_and_in_memory(tmp_path):
    """SQLite has no dates, and its LIKE takes upper and lower case of ASCII for the same."""
    file = tmp_path / "e.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE events (u INTEGER, c TEXT, age INTEGER)")
        rows = [(row["u"], row["c"], row["age"]) for row in ROWS.to_pylist()]
        connection.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
    connection.close()
    plain = [text for text in MEANT if not set(parsed(text).columns) - {"u", "c", "age"}]
    with Session() as session:
        for text in plain:
            if text not in LIKE:
                assert kept(session, {"source": file, "table": "events"}, text) == MEANT[text]
            assert kept(session, {"source": ROWS}, text) == MEANT[text]
        zoned = "at >= '1970-01-03T01:00:00+01:00'"  # through Ibis, Spark has no zones
        assert kept(session, {"source": ROWS}, zoned) == [3, 4]


def test_on_an_ibis_table_and_on_the_result_of_sql(tmp_path):
    connection = ibis.duckdb.connect(tmp_path / "e.duckdb")
    connection.con.register("given", ROWS)
    connection.con.execute("CREATE TABLE events AS SELECT * FROM given")
    with Session() as session:
        assert kept(session, {"source": connection.table("events")}, "age < 20") == [1, 2]
    connection.disconnect()
    sql = "SELECT u, age + 1 AS more FROM events"
    with Session() as session:
        assert kept(session, {"source": tmp_path / "e.duckdb", "sql": sql}, "more = 19") == [2]


NOT_CONDITIONS = {
    "cannot be parsed": [
        "",
        " ",
        "c =",
        "c = 'DE",
        "c = 'DE' GROUP BY c",
        "c = 'DE' LIMIT 1",
        "c = 'DE' ORDER BY 1",
        "c = 'DE'; DROP TABLE events",
        "c = 'DE') OR (c = 'DE'",
        "c = 'DE' UNION SELECT 1",
        "(" * 20_000 + "c = 'DE'" + ")" * 20_000,
    ],
    "which is not allowed": [
        "EXISTS (SELECT 1)",
        "c IN (SELECT c FROM events)",
        "c = (SELECT max(c) FROM events)",
        "count(*) > 1",
        "max(age) > 1",
        "row_number() OVER () > 1",
        "random() > 0.5 AND age > 1",
        "getenv('HOME') = c",
        "current_setting('threads') = c",
        "read_text('/etc/passwd') = c",
        "query('SELECT 1') = c",
        "pg_sleep(10) IS NULL AND age > 1",
        "now() > ts",
        "current_user = c",
        "nextval('s') > age",
        "c = c COLLATE nocase",
        "age = $1",
        "age = ?",
        "CASE WHEN age > 1 THEN true ELSE error('x') END",
        "age > 1 AND *",
        "[c] = ['DE']",
    ],
    "names no column": ["1 = 1", "true", "'DE' = 'DE'"],
    "names a column with its table": ["events.c = 'DE'", "pg_catalog.pg_class.relname = 'x'"],
}
TYPES = {
    "neither true nor false": ["age", "c", "lower(c)", "c = 'DE' AND age", "NOT age"],
    "different types": ["c = 5", "c = age", "d = age", "at > d", "c = true"],
    "has a time with a zone": ["ts > '2024-01-01T00:00:00+01:00'"],
    "text in quotes": ["age = '17'", "d = 'May'", "ts > '2024-13-01'", "CAST('x' AS INTEGER) = u"],
    "that is not one": ["lower(age) = 'x'", "c + 1 = 2", "year(c) = 2024", "abs(c) = 1"],
    "IS NULL": ["c = NULL", "c IN ('DE', NULL)"],
    "there is no column": [
        "nothing = 1",
        "C = 'DE'",
        "show = 'a'",
        "u = 1 AND rowid = 1",
    ],
    "incompatible types": ["u IN ()", "u = 99999999999999999999999"],
    "casts to": ["CAST(c AS BLOB) = c", "CAST(c AS INTEGER[]) = c"],
    "casts to|cannot be parsed": ["CAST(c AS my_type) = c"],  # as new as sqlglot is
    "something other than": ["c LIKE c", "extract(epoch FROM ts) = 1", "u IS 1"],
    "in a form": ["trim('x' FROM c) = 'DE'"],
}


@pytest.mark.parametrize(
    ("says", "text"), [(says, text) for says, texts in NOT_CONDITIONS.items() for text in texts]
)
def test_what_is_no_condition_is_refused_before_anything_is_opened(says, text):
    budget = hc.Budget(rho=1)
    with pytest.raises(SourceError, match=says):
        hc.Question(source="none.csv", user="u", item="c", budget=budget, where=text)


@pytest.mark.parametrize(
    ("says", "text"), [(says, text) for says, texts in TYPES.items() for text in texts]
)
def test_types_that_do_not_fit_are_refused_before_a_row_is_read(says, text, monkeypatch):
    monkeypatch.setattr("headcount.engines.duckdb.count.DuckDB.fetch", None)
    with Session() as session, pytest.raises(SourceError, match=says):
        kept(session, {"source": ROWS}, text)


LONG = {
    "ors": " OR ".join(["u = 1"] * 3000),
    "a list": f"u IN ({', '.join(map(str, range(3000)))})",
    "a sum": " || ".join(["c"] * 3000) + " = 'x'",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_condition_too_long_for_python_is_an_input_error(text):
    with Session() as session, pytest.raises(SourceError, match="too many parts"):
        kept(session, {"source": ROWS}, text)


def test_a_condition_is_text():
    with pytest.raises(SourceError, match="as text"):
        hc.Question(source="a.csv", user="u", item="i", budget=hc.Budget(rho=1), where=5)


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_whatever_is_written_is_a_condition_or_an_input_error(text):
    try:
        where = parsed(text)
    except SourceError:
        return
    assert where.columns


@settings(max_examples=25)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20))
def test_a_text_in_quotes_is_never_anything_else(text):
    """Whatever stands in it reaches the engine as that text, so it finds that text and no other."""
    rows = pa.table({"u": [1, 2], "c": [text, text + "x"]})
    quoted = text.replace("'", "''")
    with Session() as session:
        assert kept(session, {"source": rows}, f"c = '{quoted}'") == [1]


def test_names_of_columns_are_never_sql(tmp_path):
    odd = 'c"; DROP TABLE events; --'
    file = tmp_path / "e.duckdb"
    with duckdb.connect(str(file)) as connection:
        quoted = odd.replace('"', '""')
        connection.execute(f'CREATE TABLE events AS SELECT 1 AS u, 5 AS "{quoted}"')
    with Session() as session:
        assert kept(session, {"source": file, "table": "events"}, f'"{quoted}" = 5') == [1]


def test_a_condition_leaves_whose_privacy_is_protected_as_it_is():
    people = pa.table({"u": list(range(900)), "c": ["DE"] * 600 + ["FR"] * 300})
    found = hc.release(people, user="u", item="c", budget=hc.Budget(rho=20), where="c = 'DE'")
    assert found.table["c"].to_pylist() == ["DE"]
    assert abs(found.table["count"][0].as_py() - 600) < 30
    assert found.guarantee.unit.startswith("one user: all rows of one user id, added")
