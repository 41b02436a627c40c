"""--output: no data, no ledger and no database is replaced, and no other file without --force."""

import json
import os
import shutil
import sqlite3
from pathlib import Path

import duckdb
import pytest

from tests.conftest import RHO, USERS

ASK = ["--user", "uid", "--item", "item", "--rho", RHO]
COMPARE = [*ASK, "--trials", "1", "--i-own-this-data"]
FORCED = pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "forced"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of data, which is also the home, and the one to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "g").mkdir()
    for name in ("a", "b"):
        (tmp_path / "g" / f"{name}.csv").write_text("uid,item\n" + f"{name},tea\n" * 9)
    shutil.copy(tmp_path / "g" / "a.csv", tmp_path / "e.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "g" / "a.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "g" / "a.csv")
    (tmp_path / "other").symlink_to(tmp_path / "g", target_is_directory=True)
    (tmp_path / "later.csv").symlink_to(tmp_path / "g" / "later.csv")
    return tmp_path


def everything(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# What is the source, by whichever name; and what would be read with it the next time.
TAKEN = {
    "a file of a glob": ("g/*.csv", "g/a.csv", "replace the source"),
    "by an absolute name": ("g/*.csv", "{}/g/a.csv", "replace the source"),
    "through a link to it": ("g/*.csv", "link.csv", "replace the source"),
    "a hard link to it": ("g/*.csv", "hard.csv", "replace the source"),
    "through a link to its folder": ("g/*.csv", "other/b.csv", "replace the source"),
    "a glob through a link": ("other/*.csv", "g/b.csv", "replace the source"),
    "at home": ("~/e.csv", "{}/e.csv", "replace the source"),
    "a glob at home": ("~/g/*.csv", "g/a.csv", "replace the source"),
    "a glob of folders": ("**/a.csv", "g/a.csv", "replace the source"),
    "new, in a glob": ("g/*.csv", "g/counts.csv", "would match 'g/*.csv'"),
    "new, in a glob of everything": ("g/*", "g/counts.csv", "would match"),
    "new, through a link to its folder": ("g/*.csv", "other/counts.csv", "would match"),
    "new, in a glob through a link": ("other/*.csv", "g/counts.csv", "would match"),
    "new, through a link": ("g/*.csv", "later.csv", "would match"),
    "new, in a glob of all below": ("g/**", "g/counts.csv", "would match"),
    "new, in a glob of folders": ("*/[a-c]*.csv", "g/counts.csv", "would match"),
    "new, at home": ("~/*/*.csv", "g/counts.csv", "would match"),
    "new, where a glob begins": ("**/*.csv", "counts.csv", "would match"),
}


@FORCED
@pytest.mark.parametrize(("source", "output", "says"), TAKEN.values(), ids=TAKEN)
@pytest.mark.parametrize("command", [["release", *ASK], ["compare", *COMPARE]], ids=lambda c: c[0])
def test_the_source_is_neither_replaced_nor_added_to(
    headcount, folder, command, source, output, says, force
):
    before = everything(folder)
    ran = headcount(*command, source, "--output", output.format(folder), *force)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert everything(folder) == before


@pytest.mark.parametrize("output", ["counts.csv", "g/counts.json", "g/.counts.csv"])
def test_what_the_glob_does_not_match_is_written(headcount, folder, output):
    assert headcount("release", "g/*.csv", *ASK, "--output", output).code == 0
    assert (folder / output).exists()


@FORCED
@pytest.mark.parametrize("source", ["lake", "file://{}/lake", "file://{}/la*"])
@pytest.mark.parametrize(
    "output",
    ["lake/o.csv", "lake/d=1/o.csv", "into/o.csv", "beside/1.parquet", "far/o.csv", "new.csv"],
)
def test_no_output_lies_in_a_folder_that_spark_reads(headcount, folder, source, output, force):
    """It is refused before Spark is started."""
    (folder / "lake" / "d=1").mkdir(parents=True)
    (folder / "lake" / "d=1" / "1.parquet").touch()
    (folder / "into").symlink_to(folder / "lake" / "d=1")
    (folder / "beside").mkdir()
    (folder / "beside" / "1.parquet").touch()
    (folder / "lake" / "d=2").symlink_to(folder / "beside")
    (folder / "lake" / "d=3").symlink_to(folder / "lake")  # round and round
    (folder / "far").mkdir()
    (folder / "beside" / "on").symlink_to(folder / "far")
    (folder / "new.csv").symlink_to(folder / "lake" / "new.csv")
    before = everything(folder)
    args = ["--engine", "spark", *ASK, "--output", output, *force]
    ran = headcount("release", source.format(folder), *args)
    assert (ran.code, ran.out) == (2, "")
    assert "a folder that is read" in ran.err
    assert everything(folder) == before


@FORCED
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize("ending", ["", "-journal", "-wal", ".wal"])
def test_no_part_of_a_database_is_replaced(headcount, folder, kind, ending, force):
    database = folder / f"e.{kind}"
    with (sqlite3 if kind == "sqlite" else duckdb).connect(str(database)) as connection:
        connection.execute("CREATE TABLE plays (uid TEXT, item TEXT)")
    part = Path(f"{database}{ending}")
    for is_there in (bool(not ending), True):
        if is_there and ending:
            part.write_bytes(b"what was not yet written to the database")
        (folder / "o.csv").unlink(missing_ok=True)
        (folder / "o.csv").symlink_to(part)
        before = everything(folder)
        args = ["--table", "plays", *ASK, "--output", "o.csv", *force]
        ran = headcount("release", database, *args)
        assert (ran.code, ran.out) == (2, "")
        assert "replace the source" in ran.err
        assert everything(folder) == before


@FORCED
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_no_other_database_is_replaced(headcount, folder, kind, force):
    with (sqlite3 if kind == "sqlite" else duckdb).connect("other.csv") as connection:
        connection.execute("CREATE TABLE plays (uid TEXT, item TEXT)")
    before = everything(folder)
    ran = headcount("release", "e.csv", *ASK, "--output", "other.csv", *force)
    assert ran.code == 2
    assert "is a database" in ran.err
    assert everything(folder) == before


@FORCED
@pytest.mark.parametrize("ending", ["", "-journal"])
@pytest.mark.parametrize("name", ["budget.csv", "~/budget.csv"])
def test_no_part_of_the_ledger_is_replaced(headcount, folder, name, ending, force):
    headcount("ledger", "init", "budget.csv", "--dataset", "shop", "--rho", "90")
    (folder / "o.csv").symlink_to(folder / f"budget.csv{ending}")
    before = everything(folder)
    args = ["--ledger", name, "--dataset", "shop", "--output", "o.csv", *force]
    ran = headcount("release", "e.csv", *ASK, *args)
    assert (ran.code, ran.out) == (2, "")
    assert "replace the ledger" in ran.err
    assert everything(folder) == before


@pytest.mark.parametrize("command", [["release", *ASK], ["compare", *COMPARE]], ids=lambda c: c[0])
def test_a_file_is_replaced_with_force_only(headcount, parquet, tmp_path, command):
    output = tmp_path / "counts.csv"
    output.write_text("old")
    # The source is not looked at before that.
    refused = headcount(*command, tmp_path / "missing.parquet", "--output", output)
    assert (refused.code, refused.out) == (2, "")
    assert "counts.csv" in refused.err
    assert "--force" in refused.err
    assert "missing" not in refused.err
    assert output.read_text() == "old"
    assert headcount(*command, parquet, "--output", output, "--force").code == 0
    assert output.read_text() != "old"
    assert list(tmp_path.iterdir()) == [output]


def test_nothing_is_spent_on_an_output_that_is_refused(headcount, parquet, tmp_path):
    ledger, output = tmp_path / "budget.db", tmp_path / "counts.csv"
    headcount("ledger", "init", ledger, "--dataset", "shop", "--rho", "500")
    args = ["release", parquet, *ASK, "--ledger", ledger, "--dataset", "shop", "--output", output]
    assert headcount(*args).code == 0
    before = headcount("ledger", "log", ledger).out
    assert headcount(*args, "--again").code == 2
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    for place in ("loop.csv", f"{'x' * 300}/counts.csv", "absent/counts.csv"):
        args[-1] = tmp_path / place
        for force in ([], ["--force"]):
            assert headcount(*args, *force).code == 2
    assert headcount("ledger", "log", ledger).out == before


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_during_the_run_is_not_replaced(
    headcount, parquet, tmp_path, monkeypatch, links
):
    from headcount.privacy.mechanisms.auto import mechanism as methods

    output, made = tmp_path / "counts.parquet", methods.release_automatically

    def meanwhile(*args, **options):
        output.write_text("somebody else's")
        return made(*args, **options)

    def unsupported(*args, **options):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(methods, "release_automatically", meanwhile)
    if not links:
        monkeypatch.setattr(os, "link", unsupported)
    ran = headcount("release", parquet, *ASK, "--output", output)
    assert ran.code == 2
    assert "has appeared in the meantime" in ran.err
    # What was paid for is not lost.
    assert [row["item"] for row in json.loads(ran.out)["items"]] == list(USERS)
    assert output.read_text() == "somebody else's"
    assert list(tmp_path.iterdir()) == [output]
