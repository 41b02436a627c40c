"""A canary is never heard: not on stdout or stderr, not in an exception, not in a file.

A canary user and canary items are put where engines like to quote what they cannot read.
"""

import json
import sqlite3
import traceback

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from tests.conftest import CANARY_ITEM, CANARY_USER, RHO

CANARIES = (CANARY_USER, CANARY_ITEM)
GOOD = [("u1", "bread"), ("u2", "bread")] * 500


def no_canary(text: str) -> bool:
    return not any(canary[:-5] in text.lower() for canary in CANARIES)


def csv_with(bad_line: str) -> bytes:
    lines = [f"{user},{item}" for user, item in GOOD]
    return "\n".join(["uid,item", *lines, bad_line, *lines, ""]).encode()


def jsonl_with(bad_line: str) -> bytes:
    lines = [json.dumps({"uid": user, "item": item}) for user, item in GOOD]
    return "\n".join([*lines, bad_line, *lines, ""]).encode()


FILES = {
    "CSV, a field too many": ("e.csv", csv_with(f"{CANARY_USER},{CANARY_ITEM},x")),
    "CSV, a field too few": ("e.csv", csv_with(CANARY_USER)),
    "CSV, text after a quote": ("e.csv", csv_with(f'{CANARY_USER},"{CANARY_ITEM}"x')),
    "CSV, an open quote": ("e.csv", csv_with(f'{CANARY_USER},"{CANARY_ITEM}')),
    "CSV, no UTF-8": ("e.csv", csv_with(f"{CANARY_USER},{CANARY_ITEM}@").replace(b"@", b"\xff")),
    "CSV, too long": ("e.csv", csv_with(f"{CANARY_USER},{CANARY_ITEM * 200_000}")),
    "JSON, first line": ("e.jsonl", f'{{"uid":"{CANARY_USER}","item":"{CANARY_ITEM}\n'.encode()),
}


@pytest.fixture
def hears_nothing(headcount, tmp_path):
    """Run a failing release and look for canaries in all that it says and leaves."""

    def run(source, *options):
        before = set(tmp_path.rglob("*"))
        args = ["--user", "uid", "--item", "item", "--rho", RHO, "--output", tmp_path / "o.json"]
        ran = headcount("release", source, *args, *options)
        assert ran.code == 2
        assert ran.out == ""
        assert no_canary(ran.err)
        assert set(tmp_path.rglob("*")) == before

    return run


@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES.keys())
def test_malformed_files(hears_nothing, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    hears_nothing(tmp_path / name)


def test_a_damaged_parquet_file(hears_nothing, tmp_path):
    path = tmp_path / "e.parquet"
    table = pa.table(
        {"uid": [CANARY_USER] * 999, "item": [f"{CANARY_ITEM}{n}" for n in range(999)]}
    )
    pq.write_table(table, path, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    position = content.index(CANARY_ITEM.encode())
    for start in (4, position - 4, position + 400):  # a page's header, a length, a later length
        damaged = bytearray(content)
        damaged[start : start + 4] = b"\xff\xff\xff\x7f"
        path.write_bytes(damaged)
        hears_nothing(path)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT uid, CAST(item AS INTEGER) AS item FROM t",
        "SELECT CAST(uid AS UUID) AS uid, item FROM t",
        "SELECT uid, CAST(item AS DATE) AS item FROM t",
        "SELECT uid, strptime(item, '%Y') AS item FROM t",
        "SELECT uid, json_extract(item, '$') AS item FROM t",
        "SELECT uid, json_extract('{}', '$[' || item) AS item FROM t",
        "SELECT uid, decode(encode(item) || '\\xFF'::BLOB) AS item FROM t",
        "SELECT uid, chr(CAST(item AS INTEGER)) AS item FROM t",
        "SELECT uid, item::ENUM('a', 'b') AS item FROM t",
    ],
)
def test_queries_that_fail_on_a_value(hears_nothing, tmp_path, sql):
    with duckdb.connect(str(tmp_path / "e.duckdb")) as connection:
        connection.execute("CREATE TABLE t (uid VARCHAR, item VARCHAR)")
        connection.execute("INSERT INTO t VALUES (?, ?)", CANARIES)
    hears_nothing(tmp_path / "e.duckdb", "--sql", sql)


@pytest.mark.parametrize(
    "table",
    [
        f"(uid, item INTEGER); INSERT INTO t VALUES ('{CANARY_USER}', '{CANARY_ITEM}')",
        f"(uid, item REAL); INSERT INTO t VALUES ('{CANARY_USER}', '{CANARY_ITEM}')",
        f"(uid, item); INSERT INTO t VALUES (1, CAST(x'ff{CANARY_ITEM.encode().hex()}' AS TEXT))",
    ],
)
def test_sqlite_values_that_are_not_of_the_declared_type(headcount, tmp_path, table):
    """They are no error, which would tell that their counts are among the highest."""
    connection = sqlite3.connect(tmp_path / "e.sqlite")
    connection.executescript(f"CREATE TABLE t {table}")
    connection.close()
    ran = headcount(
        "release",
        tmp_path / "e.sqlite",
        "--table",
        "t",
        "--user",
        "uid",
        "--item",
        "item",
        "--rho",
        "1",
    )
    assert ran.code == 0
    assert no_canary(ran.out + ran.err)


def test_a_json_path_that_fails_in_sqlite(hears_nothing, tmp_path):
    connection = sqlite3.connect(tmp_path / "e.sqlite")
    connection.execute("CREATE TABLE t (uid, item)")
    connection.execute("INSERT INTO t VALUES (?, ?)", CANARIES)
    connection.commit()
    connection.close()
    sql = "SELECT uid, json_extract('{}', item) AS item FROM t"
    hears_nothing(tmp_path / "e.sqlite", "--sql", sql)


def everything_said(error: BaseException) -> str:
    """Return all that a crash reporter could print of an exception, its chain included."""
    said, seen = "", [error]
    while seen:
        error = seen.pop()
        said += f"{error!s} {error!r} {error.args!r} {getattr(error, '__notes__', '')}"
        said += "".join(traceback.format_exception(error))
        seen += [linked for linked in (error.__cause__, error.__context__) if linked is not None]
    return said


FRAMES = {
    "mixed users": {"uid": [1, CANARY_USER, 2.5], "item": ["a", "b", "c"]},
    "mixed items": {"uid": [1, 2, 3], "item": [CANARY_ITEM, 5, b"x"]},
    "objects": {"uid": [1, 2], "item": [CANARY_ITEM, {CANARY_ITEM}]},
    "large numbers": {"uid": [1, 2], "item": [2**70, CANARY_ITEM]},
}


@pytest.mark.parametrize("rows", FRAMES.values(), ids=FRAMES.keys())
def test_data_frames_of_mixed_values(rows, capfd):
    """They are text, all of them: an error would tell that somebody has another type."""
    hc.release(pd.DataFrame(rows), user="uid", item="item", budget=hc.Budget(rho=1))
    assert capfd.readouterr() == ("", "")


HISTOGRAMS = {
    "negative": {CANARY_ITEM: -1, "b": 5},
    "too large": {CANARY_ITEM: 2**60, "b": 5},
    "beyond 64 bits": {CANARY_ITEM: 2**70, "b": 5},
    "a fraction": {CANARY_ITEM: 1.5, "b": 5},
    "text": {CANARY_ITEM: "5", "b": 5},
    "no number": {CANARY_ITEM: None, "b": 5},
    "true": {CANARY_ITEM: True, "b": 5},
    "twice": pa.table({"item": [CANARY_ITEM, CANARY_ITEM], "count": [5, 5]}),
    "fractions in a table": pa.table({"item": [CANARY_ITEM], "count": [5.5]}),
    "text in a table": pa.table({"item": [CANARY_ITEM], "count": [CANARY_ITEM]}),
    "negative in a table": pa.table({"item": [CANARY_ITEM], "count": [-5]}),
}


@pytest.mark.parametrize("counts", HISTOGRAMS.values(), ids=HISTOGRAMS.keys())
def test_histograms_that_are_none(counts, capfd):
    with pytest.raises(hc.SourceError) as caught:
        hc.release_counts(counts, budget=hc.Budget(rho=1))
    assert no_canary(everything_said(caught.value))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("name", "content"), list(FILES.values())[:3], ids=list(FILES)[:3])
def test_exceptions_of_the_library(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(hc.SourceError) as caught:
        hc.release(tmp_path / name, user="uid", item="item", budget=hc.Budget(rho=1))
    assert no_canary(everything_said(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_runs_that_succeed(headcount, parquet, tmp_path, form):
    output = tmp_path / f"o.{form}"
    args = ["--user", "uid", "--item", "item", "--rho", RHO, "--output", output]
    ran = headcount("release", parquet, *args)
    assert ran.code == 0
    assert no_canary(ran.out + ran.err)
    assert no_canary(output.read_bytes().decode(errors="replace"))
    assert b"bread" in output.read_bytes()


@pytest.mark.parametrize("rows", [1, 3, 5000])
def test_messages_do_not_depend_on_how_much_there_is(headcount, tmp_path, rows):
    (tmp_path / "e.csv").write_text("uid,item\n" + "u,a\n" * rows + "u,a,b\n" + "u,a\n" * rows)
    ran = headcount("release", tmp_path / "e.csv", "--user", "uid", "--item", "item", "--rho", "1")
    assert ran.err == (
        "headcount: the events cannot be read: a line of the CSV is not in the expected form: "
        "UTF-8, as many fields as the header, separated by commas, quotes closed\n"
    )


def test_the_canary_would_be_heard(tmp_path):
    """Check that the engine does quote it, or all this would test nothing."""
    (tmp_path / "e.csv").write_bytes(FILES["CSV, a field too many"][1])
    with pytest.raises(duckdb.Error, match=CANARY_ITEM):
        duckdb.sql(
            f"FROM read_csv('{tmp_path}/e.csv', auto_detect = false, header = true, "
            "columns = {'uid': 'VARCHAR', 'item': 'VARCHAR'})"
        ).fetchall()
