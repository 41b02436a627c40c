"""SQL on files of events, which are one table: what it counts, and what is said of it."""

import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.engines import Session
from headcount.inputs import Request, open_source
from headcount.inputs.unit import Unit
from tests.inputs.counting import counts

ROWS = pa.table({"u": ["1", "2", "2", "3"], "i": ["a", "A", "b", "a"], "n": ["1", "2", "x", "4"]})


@pytest.fixture(params=["e.parquet", "e.csv", "e.jsonl", "logs/*.csv"])
def files(tmp_path, request):
    if request.param == "e.parquet":
        pq.write_table(ROWS, tmp_path / request.param)
    elif request.param == "e.csv":
        pyarrow.csv.write_csv(ROWS, tmp_path / request.param)
    elif request.param == "e.jsonl":
        lines = "".join(json.dumps(row) + "\n" for row in ROWS.to_pylist())
        (tmp_path / request.param).write_text(lines)
    else:
        (tmp_path / "logs").mkdir()
        pyarrow.csv.write_csv(ROWS.slice(0, 2), tmp_path / "logs" / "1.csv")
        pyarrow.csv.write_csv(ROWS.slice(2), tmp_path / "logs" / "2.csv")
    return tmp_path / request.param


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT u, lower(i) AS i FROM events", {"a": 3, "b": 1}),
        ("SELECT u, i FROM Events WHERE TRY_CAST(n AS INTEGER) > 1", {"A": 1, "a": 1}),
        ("WITH x AS (SELECT * FROM events) SELECT u, i FROM x;", {"a": 2, "A": 1, "b": 1}),
        ("SELECT u, i FROM events AS headcount_events", {"a": 2, "A": 1, "b": 1}),
    ],
)
def test_a_query_on_files(files, sql, expected):
    assert counts(files, sql=sql) == expected


@pytest.fixture
def parquet(tmp_path):
    pq.write_table(ROWS, tmp_path / "e.parquet")
    return tmp_path / "e.parquet"


def opened(session, path, sql):
    return open_source(session, path, Request(sql=sql, columns=["who", "i"], user="who"))


@pytest.mark.parametrize(
    ("sql", "unit", "origin"),
    [
        ("SELECT u AS who, upper(i) AS i FROM events WHERE n > '1'", Unit.USER, "u"),
        ("SELECT u || '' AS who, i FROM events", Unit.COMPUTED, None),
        ("SELECT u AS who, max(i) AS i FROM events GROUP BY u", Unit.QUERY, "u"),
        ("SELECT u AS who, i FROM events LIMIT 2", Unit.QUERY, "u"),
        ("SELECT a.u AS who, b.i FROM events a JOIN events b ON a.i = b.i", Unit.QUERY, "u"),
    ],
)
def test_what_it_does_to_rows_is_told(parquet, sql, unit, origin):
    with Session() as session:
        events = opened(session, parquet, sql)
    assert (events.unit, events.origin) == (unit, origin)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sql": "SELECT u, i FROM plays"}, "plays"),
        ({"sql": "SELECT u, nothing FROM events"}, "nothing"),
        ({"sql": "DROP VIEW events"}, "single SELECT"),
        ({"sql": "SELECT 1; SELECT 2"}, "single SELECT"),
        ({"sql": f"SELECT {'(' * 3000}1{')' * 3000}"}, "cannot be parsed"),
        ({"sql": "COPY events TO 'stolen.csv'"}, "single SELECT"),
        ({"sql": "SELECT u, i FROM 'other.csv'"}, "reads a text file"),
        ({"sql": "SELECT u, i FROM events", "engine": "polars"}, "run by DuckDB"),
        ({"sql": "SELECT u, i FROM events", "engine": "spark"}, "run by DuckDB"),
        ({"table": "events"}, "files of events"),
        ({"table": "events", "sql": "SELECT u, i FROM events"}, "not both"),
    ],
)
def test_what_cannot_be_run(parquet, options, says):
    with pytest.raises(hc.InputError, match=says):
        counts(parquet, **options)


def test_a_value_that_cannot_be_converted_is_not_called_a_bad_line(files):
    asked = {"user": "u", "item": "i", "rho": 1.0, "unsafe_seed": 1}
    for how in (
        {"sql": "SELECT u, CAST(n AS INTEGER) AS i FROM events"},
        {"where": "CAST(n AS INTEGER) > 1"},
    ):
        with pytest.raises(hc.InputError, match="TRY_CAST in place of CAST"):
            hc.release(files, **asked, **how)


def test_describing_a_query_does_not_run_it(parquet):
    """What it would tell about rows, by failing or not, costs what was reserved."""
    failing = (
        "SELECT u AS who, i FROM events WHERE "
        "(SELECT CASE WHEN count(*) > 1 THEN error('told') ELSE 1 END FROM events) = 1"
    )
    with Session() as session:
        events = opened(session, parquet, failing)
        with pytest.raises(hc.HeadcountError) as raised:
            events.engine.run(events.table, "it fails")
    assert "told" not in str(raised.value)
