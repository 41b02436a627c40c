"""Bad input: exit code 2, a message that says what is wrong, nothing on stdout, no file."""

import gzip
import sqlite3

import duckdb
import pytest

from tests.conftest import RHO, after_the_caution

COLUMNS = ["--user", "uid", "--item", "item"]
BUDGET = ["--rho", RHO]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, parquet):
    folder = tmp_path_factory.mktemp("bad")
    (folder / "e.parquet").write_bytes(parquet.read_bytes())
    (folder / "empty.csv").touch()
    (folder / "text.parquet").write_text("uid,item\n1,a\n")
    (folder / "e.xlsx").write_text("x")
    (folder / "cut.csv.gz").write_bytes(gzip.compress(b"uid,item\n1,a\n" * 99)[:9])
    (folder / "folder.csv").mkdir()
    with duckdb.connect(str(folder / "e.duckdb")) as connection:
        connection.execute("CREATE TABLE plays AS SELECT 1 AS uid, 'a' AS item")
    with sqlite3.connect(folder / "e.sqlite") as connection:
        connection.execute("CREATE TABLE plays (uid, item)")
    return folder


BAD = {
    # sources
    "missing": (["no.csv", *COLUMNS, *BUDGET], "there is no file 'no.csv'"),
    "empty": (["empty.csv", *COLUMNS, *BUDGET], "'empty.csv' is empty"),
    "another kind": (
        ["text.parquet", *COLUMNS, *BUDGET],
        "not what its ending says it is (parquet)",
    ),
    "unknown kind": (["e.xlsx", *COLUMNS, *BUDGET], "cannot tell the format of 'e.xlsx'"),
    "damaged": (["cut.csv.gz", *COLUMNS, *BUDGET], "in the expected form"),
    "folder": (["folder.csv", *COLUMNS, *BUDGET], "is a folder"),
    "no match": (["no*.csv", *COLUMNS, *BUDGET], "no file matches 'no*.csv'"),
    "no source": ([*COLUMNS, *BUDGET], "Missing argument 'SOURCE'"),
    # columns
    "no user column": (
        ["e.parquet", "--user", "who", "--item", "item", *BUDGET],
        "there is no column 'who'; the columns are: 'uid', 'item'",
    ),
    "no item column": (
        ["e.parquet", "--user", "uid", "--item", "what", *BUDGET],
        "there is no column 'what'; the columns are: 'uid', 'item'",
    ),
    "user is item": (["e.parquet", "--user", "uid", "--item", "uid", *BUDGET], "are the same"),
    "item twice": (["e.parquet", *COLUMNS, "--item", "item", *BUDGET], "named twice"),
    "no user": (["e.parquet", "--item", "item", *BUDGET], "Missing option '-u' / '--user'"),
    "no item": (["e.parquet", "--user", "uid", *BUDGET], "item column, or periods: --by"),
    # budgets
    "no budget": (["e.parquet", *COLUMNS], "rho or epsilon"),
    "two budgets": (["e.parquet", *COLUMNS, "--rho", "1", "--epsilon", "1"], "not both"),
    "rho 0": (["e.parquet", *COLUMNS, "--rho", "0"], "rho must be a finite number above 0"),
    "rho < 0": (["e.parquet", *COLUMNS, "--rho", "-1"], "rho must be a finite number above 0"),
    "rho inf": (["e.parquet", *COLUMNS, "--rho", "inf"], "'inf' is not a number such as"),
    "rho nan": (["e.parquet", *COLUMNS, "--rho", "nan"], "'nan' is not a number such as"),
    "rho text": (["e.parquet", *COLUMNS, "--rho", "x"], "'x' is not a number such as"),
    "epsilon 0": (["e.parquet", *COLUMNS, "--epsilon", "0"], "epsilon must be a finite number"),
    "epsilon inf": (["e.parquet", *COLUMNS, "--epsilon", "inf"], "'inf' is not a number"),
    "delta 0": (["e.parquet", *COLUMNS, *BUDGET, "--delta", "0"], "between 0 and 1, got 0"),
    "delta 1": (["e.parquet", *COLUMNS, *BUDGET, "--delta", "1"], "between 0 and 1, got 1"),
    "delta nan": (["e.parquet", *COLUMNS, *BUDGET, "--delta", "nan"], "'nan' is not a number"),
    "delta too small": (
        ["e.parquet", *COLUMNS, *BUDGET, "--delta", "1e-12", "--method", "pcr-paper"],
        "delta is too small",
    ),
    # settings
    "error 0": (["e.parquet", *COLUMNS, *BUDGET, "--relative-error", "0"], "relative error"),
    "error 1": (["e.parquet", *COLUMNS, *BUDGET, "--relative-error", "1"], "relative error"),
    "error nan": (["e.parquet", *COLUMNS, *BUDGET, "--relative-error", "nan"], "is not a number"),
    "candidates 0": (["e.parquet", *COLUMNS, *BUDGET, "--candidates", "0"], "at least 1"),
    "candidates 1.5": (
        ["e.parquet", *COLUMNS, *BUDGET, "--candidates", "1.5"],
        "is not a whole number",
    ),
    "method": (["e.parquet", *COLUMNS, *BUDGET, "--method", "magic"], "'pcr', 'pcr-paper'"),
    "memory": (["e.parquet", *COLUMNS, *BUDGET, "--memory", "lots"], "3GB or 512MB"),
    "no memory": (["e.parquet", *COLUMNS, *BUDGET, "--memory", "0GB"], "3GB or 512MB"),
    "seed": (["e.parquet", *COLUMNS, *BUDGET, "--unsafe-seed", "-1"], "at least 0"),
    # outputs
    "format": (["e.parquet", *COLUMNS, *BUDGET, "--format", "xml"], "'table', 'csv', 'json'"),
    "ending": (["e.parquet", *COLUMNS, *BUDGET, "--output", "o.xlsx"], ".csv, .json, .parquet"),
    "both": (
        ["e.parquet", *COLUMNS, *BUDGET, "--output", "o.csv", "--format", "json"],
        "--format says",
    ),
    "no folder": (["e.parquet", *COLUMNS, *BUDGET, "--output", "no/o.csv"], "there is no folder"),
    "no such place": (
        ["e.parquet", *COLUMNS, *BUDGET, "--output", "/proc/o.csv"],
        "cannot write to '/proc'",
    ),
    "output is folder": (["e.parquet", *COLUMNS, *BUDGET, "--output", "folder.csv"], "not a file"),
    "output is source": (
        ["e.parquet", *COLUMNS, *BUDGET, "--output", "./e.parquet"],
        "replace the source",
    ),
    # databases
    "no table": (["e.duckdb", *COLUMNS, *BUDGET], "it has: 'plays'"),
    "wrong table": (["e.duckdb", *COLUMNS, *BUDGET, "--table", "x"], "it has: 'plays'"),
    "table and SQL": (
        ["e.duckdb", *COLUMNS, *BUDGET, "--table", "plays", "--sql", "SELECT 1"],
        "not both",
    ),
    "table of a file": (["e.parquet", *COLUMNS, *BUDGET, "--table", "x"], "DuckDB or SQLite"),
    "two statements": (
        ["e.duckdb", *COLUMNS, *BUDGET, "--sql", "SELECT 1; SELECT 2"],
        "a single SELECT",
    ),
    "no SELECT": (["e.duckdb", *COLUMNS, *BUDGET, "--sql", "DROP TABLE plays"], "a single SELECT"),
    "no SQL": (["e.sqlite", *COLUMNS, *BUDGET, "--sql", "SELEC"], "a single SELECT"),
    "SQL that does not fit": (
        ["e.sqlite", *COLUMNS, *BUDGET, "--sql", "SELECT x FROM plays"],
        "no such column: x",
    ),
    # the command itself
    "option": (["e.parquet", "--colour"], "No such option"),
}


@pytest.mark.parametrize(("args", "says"), BAD.values(), ids=BAD.keys())
def test_bad_input(headcount, folder, monkeypatch, args, says):
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    ran = headcount("release", *args)
    assert ran.code == 2
    assert ran.out == ""
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert "unexpected" not in ran.err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("name", ["missing", "two budgets", "no source", "no such place"])
def test_bad_input_in_a_process(process, folder, name):
    args, says = BAD[name]
    ran = process("release", *args, cwd=folder)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", ["no folder", "no such place", "ending", "output is folder"])
def test_the_output_is_checked_before_the_data_is_read(headcount, folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    args, says = BAD[name]
    ran = headcount("release", "missing.parquet", *args[1:])
    assert says in ran.err
    assert "missing.parquet" not in ran.err


def test_an_output_folder_that_is_read_only(headcount, folder, tmp_path, monkeypatch):
    # Whoever runs this as root can write anywhere, so the refusal is the system's, made up.
    def refuse(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("headcount.outputs.files.tempfile.TemporaryFile", refuse)
    ran = headcount("release", folder / "no.csv", *COLUMNS, *BUDGET, "--output", tmp_path / "o.csv")
    assert ran.code == 2
    assert f"cannot write to '{tmp_path}': Permission denied" in ran.err


def test_a_message_does_not_steer_the_terminal(headcount, tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("\x1b[31mred,item\n1,a\n")
    ran = headcount("release", path, *COLUMNS, *BUDGET)
    assert ran.code == 2
    assert "\x1b" not in ran.err


def test_no_message_has_a_line_that_could_be_taken_for_another(headcount):
    ran = headcount("release", "no\nheadcount: done.csv", *COLUMNS, *BUDGET)
    assert after_the_caution(ran.err).count("\n") == 1


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        ("mysql://me:secret@h/x", [], "not supported"),
        ("https://me:secret@h/x.csv", [], "pipe it in"),
        ("postgres://me:secret@h/x", ["--table", "t", "--engine", "polars"], "is its own engine"),
        ("events.parquet", ["--spark-conf", "spark.x=secret"], "only for the engine spark"),
        ("events.parquet", ["--spark-conf", "secret"], "KEY=VALUE"),
    ],
)
def test_addresses_and_engines_that_do_not_go_together(headcount, source, options, says):
    ran = headcount("release", source, "--user", "u", "--item", "i", "--rho", "1", *options)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert "secret" not in ran.err


def test_the_home_of_a_user_who_does_not_exist(headcount, tmp_path):
    ask = ["--user", "u", "--item", "q", "--rho", "1"]
    ledger = tmp_path / "budget.db"
    headcount("ledger", "init", ledger, "--dataset", "d", "--rho", "1")
    for options in ([], ["--ledger", ledger, "--dataset", "d"], ["--engine", "spark"]):
        ran = headcount("release", "~nosuchuser/e.parquet", *ask, *options)
        assert (ran.code, ran.out) == (2, "")
        assert "there is no file '~nosuchuser/e.parquet'" in ran.err
    assert headcount("ledger", "show", "~nosuchuser/budget.db").code == 2


@pytest.mark.parametrize(
    ("twice", "option"),
    [
        (["--user", "uid"], "--user"),
        (["--rho", "1"], "--rho"),
        (["--where", "item = 'tea'", "--where", "item = 'milk'"], "--where"),
        (["-o", "a.csv", "-o", "b.csv"], "--output"),
    ],
)
def test_an_option_that_is_given_twice_is_refused(headcount, parquet, twice, option):
    """Else the first would be dropped: of two users, and so whom the release protects."""
    ran = headcount(
        "release", parquet, "-u", "uid", "-i", "item", "-i", "item", "--rho", RHO, *twice
    )
    assert (ran.code, ran.out) == (2, "")
    assert f"{option} is given twice" in ran.err
    ran = headcount("ledger", "show", "budget.db", "--format", "json", "--format", "table")
    assert (ran.code, "--format is given twice" in ran.err) == (2, True)
