"""Which files a name stands for, and what they are."""

import gzip
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount
from headcount.errors import SourceError
from tests.inputs.counting import counts

ROWS = "u,i\n1,a\n"


def test_parquet(tmp_path):
    pq.write_table(pa.table({"u": [1, 2, None, 3], "i": ["a", "a", "a", None]}), tmp_path / "e.pq")
    assert counts(tmp_path / "e.pq") == {"a": 2}


def test_a_glob_is_all_its_files(tmp_path):
    for n in range(3):
        (tmp_path / f"{n}.csv").write_text(f"u,i\n{n},a\n")
    (tmp_path / "3.csv.gz").write_bytes(gzip.compress(b"u,i\n3,a\n"))
    (tmp_path / "folder.csv").mkdir()
    assert counts(f"{tmp_path}/*.csv") == {"a": 3}
    assert counts(f"{tmp_path}/*.csv*") == {"a": 4}
    assert counts(f"{tmp_path}/[01].csv") == {"a": 2}
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "9.csv").write_text("u,i\n9,a\n")
    assert counts(f"{tmp_path}/**/9.csv") == {"a": 1}


def test_a_user_in_several_files_counts_once(tmp_path):
    for n in range(2):
        pq.write_table(pa.table({"u": ["x", "y"], "i": ["a", f"b{n}"]}), tmp_path / f"{n}.parquet")
    assert counts(f"{tmp_path}/*.parquet") == {"a": 1, "b0": 1, "b1": 1}


@pytest.mark.parametrize(
    "name",
    [
        "a[1].csv",
        "*.csv",
        "?.csv",
        "it's.csv",
        'a"b.csv',
        "a\\b.csv",
        "é ü.csv",
        "{a,b}.csv",
        "a\nb.csv",
        "';--.csv",
        "%41.csv",
        "#.csv",
        "year=2024.csv",
        "UPPER.CSV",
    ],
)
def test_odd_names_are_names(tmp_path, name):
    (tmp_path / "other.csv").write_text("u,i\n9,other\n")
    (tmp_path / name).write_text(ROWS)
    assert counts(tmp_path / name) == {"a": 1}


def test_a_folder_that_looks_like_a_partition_adds_no_column(tmp_path):
    (tmp_path / "i=b").mkdir()
    (tmp_path / "i=b" / "e.csv").write_text(ROWS)
    assert counts(tmp_path / "i=b" / "e.csv") == {"a": 1}


def test_home_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "e.csv").write_text(ROWS)
    assert counts("~/e.csv") == {"a": 1}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.parquet", b"u,i\n1,a\n"),
        ("e.parquet", b"PAR1 but nothing after it"),
        ("e.parquet", b"PAR1 garbage PAR1"),
        ("e.duckdb", b"u,i\n1,a\n"),
        ("e.duckdb", b"12345678DUCK" + b"x" * 500),
        ("e.sqlite", b"u,i\n1,a\n"),
        ("e.sqlite", b"SQLite format 3\0" + b"x" * 500),
        ("e.db", b"u,i\n1,a\n"),
        ("e.csv", b"PAR1"),
        ("e.csv", b"SQLite format 3\0"),
        ("e.csv", gzip.compress(ROWS.encode(), mtime=0)),
        ("e.jsonl", b"u,i\n1,a\n"),
        ("e.parquet.gz", gzip.compress(b"PAR1", mtime=0)),
        ("e.txt", b"u,i\n1,a\n"),
        ("e", b"u,i\n1,a\n"),
        ("e.csv", b""),
        ("e.parquet", b""),
    ],
)
def test_not_what_its_ending_says(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    table = {"table": "t"} if name in ("e.duckdb", "e.sqlite", "e.db") else {}
    with pytest.raises(SourceError) as caught:
        counts(path, **table)
    assert name in str(caught.value)


def test_files_that_do_not_go_together(tmp_path):
    (tmp_path / "a.csv").write_text(ROWS)
    (tmp_path / "b.csv").write_text("u,j\n1,a\n")
    with pytest.raises(SourceError, match="same header"):
        counts(f"{tmp_path}/*.csv")
    (tmp_path / "c.jsonl").write_text('{"u":1,"i":"a"}\n')
    with pytest.raises(SourceError, match="different formats"):
        counts(f"{tmp_path}/*")


@pytest.mark.parametrize("name", ["no.csv", "no*.csv", "", "x" * 300 + ".csv", "\0.csv"])
def test_no_such_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError):
        counts(name)


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize(("user", "item"), [("u", "q"), ("q", "u")])
def test_a_column_of_no_type_has_no_items(tmp_path, engine, user, item):
    pq.write_table(pa.table({"u": ["a", "b"], "q": pa.nulls(2)}), tmp_path / "e.parquet")
    budget = headcount.Budget(rho=1)
    options = {"user": user, "item": item, "budget": budget, "engine": engine}
    assert len(headcount.release(tmp_path / "e.parquet", **options)) == 0


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "e.csv")
    with pytest.raises(SourceError, match="regular file"):
        counts(tmp_path / "e.csv")


def test_a_table_needs_a_database(tmp_path):
    (tmp_path / "e.csv").write_text(ROWS)
    with pytest.raises(SourceError, match="DuckDB or SQLite"):
        counts(tmp_path / "e.csv", table="t")
