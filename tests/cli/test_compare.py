"""headcount compare: loud, asked for by name, and never beside a release."""

import csv

import pytest

from headcount.evaluation.partition_selection import SELECTIONS
from tests.conftest import CANARY_ITEM, CANARY_USER

ASK = ["--user", "uid", "--item", "item", "--rho", "50", "--trials", "2"]
OWNED = [*ASK, "--i-own-this-data"]


def test_nothing_runs_without_being_asked_for_by_name(headcount, parquet):
    ran = headcount("compare", parquet, *ASK)
    assert ran.code == 2
    assert "--i-own-this-data" in ran.err
    assert not ran.out


def test_it_compares_and_says_that_it_is_not_private(headcount, parquet):
    ran = headcount("compare", parquet, *OWNED)
    assert ran.code == 0
    assert ran.out.startswith("NOT PRIVATE\n")
    assert ran.err.startswith("These are unsafe diagnostics")
    assert (ran.out + ran.err).count("NOT PRIVATE") == 1
    methods = [line.split()[0] for line in ran.out.splitlines()[3:]]
    assert methods == [
        "pcr-paper", "pcr", "rationed", "auto",
        "plume-95", "plume-95-threshold", "plume-99", "plume-99-threshold",
        "gaussian-threshold", "laplace-threshold",
    ]  # fmt: skip
    assert CANARY_ITEM not in ran.out + ran.err
    assert CANARY_USER not in ran.out + ran.err
    assert headcount("compare", parquet, *OWNED).out == ran.out


def test_the_budgets_are_the_papers_unless_given(headcount, parquet):
    ran = headcount("compare", parquet, *OWNED[:4], "--trials", 1, "--i-own-this-data")
    assert [line.split()[1] for line in ran.out.splitlines()[3:]] == (
        ["0.1"] * 10 + ["0.5"] * 10 + ["1"] * 10
    )


def test_epsilon_is_shown_if_it_was_given(headcount, parquet):
    given = [*OWNED[:4], "--trials", 1, "--i-own-this-data", "-e", 1, "-e", 3]
    ran = headcount("compare", parquet, *given)
    assert ran.out.splitlines()[1].split()[:3] == ["method", "ε", "ρ"]
    assert [line.split()[1] for line in ran.out.splitlines()[3:]] == ["1"] * 10 + ["3"] * 10


def test_one_trial_has_no_spread(headcount, parquet):
    ran = headcount("compare", parquet, *ASK[:-1], "1", "--i-own-this-data")
    assert ran.out.count("± –") >= 16
    assert "± 0" not in ran.out


def test_almost_no_data_is_said(headcount, tmp_path):
    (tmp_path / "e.csv").write_text("uid,item\nu1,tea\n")
    ran = headcount("compare", tmp_path / "e.csv", *OWNED)
    assert ran.code == 0
    assert "very little data: 1 users with 1 items" in ran.err


@pytest.mark.parametrize("name", ["diag", "diag.json"])
def test_a_comparison_is_written_as_csv(headcount, parquet, tmp_path, name):
    ran = headcount("compare", parquet, *OWNED, "--output", tmp_path / name)
    assert ran.code == 2
    assert "only be written to a .csv file" in ran.err
    assert "parquet" not in ran.err.lower()


def test_a_file_of_figures_is_marked(headcount, parquet, tmp_path):
    assert headcount("compare", parquet, *OWNED, "--output", tmp_path / "c.csv").code == 0
    with (tmp_path / "c.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["private"] for row in rows} == {"False"}
    assert {row["trials"] for row in rows} == {"2"}


@pytest.mark.parametrize("name", ["r.csv", "r.json", "r.parquet"])
@pytest.mark.parametrize("seed", [[], ["--unsafe-seed", "1"]])
def test_it_writes_nothing_beside_a_release(headcount, parquet, tmp_path, name, seed):
    released = ["release", parquet, "--user", "uid", "--item", "item", "--rho", 50, *seed]
    assert headcount(*released, "--output", tmp_path / name).code == 0
    ran = headcount("compare", parquet, *OWNED, "--output", tmp_path / "c.csv")
    assert ran.code == 2
    assert "holds a release" in ran.err
    assert not (tmp_path / "c.csv").exists()


def test_other_files_in_the_folder_do_not_matter(headcount, parquet, tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    (tmp_path / "a.json").write_bytes(b"\xff")
    (tmp_path / "a.csv").write_text("item,count\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "folder.csv").mkdir()
    assert headcount("compare", parquet, *OWNED, "--output", tmp_path / "c.csv").code == 0


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--output", "c.json"], "can only be written to a .csv file"),
        (["--output", "missing/c.csv"], "there is no folder"),
        (["--relative-error", "2"], "between 0 and 1"),
        (["--delta", "0"], "--delta"),
        (["--rho", "-1"], "--rho"),
        (["--trials", "0"], "--trials"),
        (["--table", "t"], "a table name is only for a"),
    ],
)
def test_what_cannot_be_done_is_said(headcount, parquet, monkeypatch, tmp_path, args, says):
    monkeypatch.chdir(tmp_path)
    ran = headcount("compare", parquet, *OWNED, *args)
    assert ran.code == 2
    assert says in ran.err
    assert not ran.out


@pytest.mark.parametrize("name", SELECTIONS)
def test_every_partition_selection_can_be_chosen(headcount, parquet, name):
    ran = headcount("compare", parquet, *OWNED, "--selection", name)
    assert ran.code == 0
    assert ("plume-95" if name == "weighted" else f"plume-{name}-95") in ran.out
