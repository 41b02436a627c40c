"""headcount ledger, headcount verify, and releases that are charged."""

import json
import os

import pytest

from headcount import Ledger
from tests.conftest import RHO

ASK = ["--user", "uid", "--item", "item"]


@pytest.fixture
def ledger(headcount, tmp_path):
    path = tmp_path / "budget.db"
    ran = headcount("ledger", "init", path, "--dataset", "shop", "--rho", "4", "--delta", "1e-5")
    assert (ran.code, ran.out) == (0, "")
    assert "may use ρ = 4 and δ = 1e-05: (ε = 17.8611, δ = 1e-05)-differential" in ran.err
    return path


@pytest.fixture
def charged(headcount, parquet, ledger):
    def run(*options):
        return headcount(
            "release",
            parquet,
            *([] if "--user" in options else ["--user", "uid"]),
            "--item",
            "item",
            "--method",
            "pcr",
            "--ledger",
            ledger,
            "--dataset",
            "shop",
            *options,
        )

    return run


def test_a_release_is_charged_once_for_the_same_question(headcount, charged, ledger):
    ask = ["--rho", "1", "--format", "json", "--data-version", "May"]
    first = charged(*ask)
    assert (first.code, first.err.splitlines()[0][:17]) == (0, "Charged to 'shop'")
    second = charged(*ask)
    assert second.out == first.out
    assert "at no cost" in second.err
    assert "Spent: ρ" in first.err and "Released 3 items" in first.err
    assert "Spent then: ρ" in second.err and "; nothing now." in second.err
    assert "Released earlier: 3 items" in second.err
    assert headcount("ledger", "fetch", ledger, "3", "--format", "json").out == first.out
    third = charged(*ask, "--again")
    assert third.out != first.out
    [shown] = json.loads(headcount("ledger", "show", ledger, "--format", "json").out)
    spent = [json.loads(ran.out)["spent"]["rho"] for ran in (first, third)]
    assert shown["spent"]["rho"] == pytest.approx(sum(spent))
    assert shown["left"]["rho"] == pytest.approx(4 - sum(spent))


def test_a_release_can_be_written_again(headcount, charged, ledger, tmp_path):
    first, second = tmp_path / "first.parquet", tmp_path / "second.parquet"
    charged("--rho", "1", "--output", first)
    ran = headcount("ledger", "fetch", ledger, "3", "--output", second)
    assert (ran.code, ran.out) == (0, "")
    assert second.read_bytes() == first.read_bytes()
    ran = headcount("ledger", "fetch", ledger, "2")
    assert (ran.code, ran.out) == (2, "")
    assert "entry 2 of the ledger is not a release" in ran.err


def test_a_budget_protects_one_kind_of_user(headcount, charged, ledger):
    assert charged("--rho", "0.1").code == 0
    ran = charged("--rho", "0.1", "--user", "item")
    assert (ran.code, ran.out) == (2, "")
    assert "given twice" not in ran.err
    ran = charged("--rho", "0.1", "--user", "uidd")
    assert (ran.code, ran.out) == (2, "")
    assert "no column 'uidd'" in ran.err and "Did you mean 'uid'" in ran.err


def test_text_that_is_not_utf8_does_not_spoil_the_log(headcount, charged, ledger):
    bad = os.fsdecode(b"\xff")
    ran = headcount(
        "ledger", "extend", ledger, "--dataset", "shop", "--rho", "1", "--reason", f"no {bad}"
    )
    assert (ran.code, ran.out) == (2, "")
    assert "half of a character" in ran.err
    assert charged("--rho", "0.1", "--item", bad).code == 2  # there is no such column
    entries = json.loads(headcount("ledger", "log", ledger, "--format", "json").out)
    assert entries[1]["facts"]["asked"]["item"] == ["item", "\\udcff"]


def test_what_does_not_fit_is_refused_with_what_would(charged, tmp_path):
    ran = charged("--rho", "5", "--output", tmp_path / "counts.csv")
    assert (ran.code, ran.out) == (3, "")
    assert "ρ = 4 and δ = 1e-05 are left. This would fit: rho 4, delta 1e-06" in ran.err
    assert not (tmp_path / "counts.csv").exists()
    ran = charged("--epsilon", "90", "--delta", "1e-6")
    assert ran.code == 3
    words = ran.err.split()
    epsilon = words[words.index("epsilon") + 1].rstrip(",")
    assert charged("--epsilon", epsilon, "--delta", "1e-6").code == 0


def test_the_log_says_who_asked_what(headcount, charged, ledger):
    charged("--rho", "1", "--actor", "ann")
    entries = json.loads(headcount("ledger", "log", ledger, "--format", "json").out)
    assert [entry["kind"] for entry in entries] == ["open", "reserve", "settle"]
    assert entries[1]["actor"] == "ann"
    assert entries[1]["facts"]["asked"]["item"] == ["item"]
    table = headcount("ledger", "log", ledger, "--dataset", "shop").out
    assert "ρ = 1 and δ = 1e-06 for item by uid of " in table


def test_owners_commands_say_what_they_did(headcount, charged, ledger):
    because = ["--reason", "because"]
    for says, args in (
        ("ρ = 5 and δ = 1e-05 are left", ["extend", "--dataset", "shop", "--rho", "1", *because]),
        ("is lower and still applies", ["cap", "--dataset", "shop", "--of", "ann", "--rho", "6"]),
        ("at most ρ = 0.5 of", ["cap", "--dataset", "shop", "--of", "ann", "--rho", "0.5"]),
        ("δ = 1e-05)", ["init", "--dataset", "a", "--group", "all", "--rho", "9"]),
        ("in the group 'all'", ["join", "--dataset", "shop", "--group", "all", *because]),
        ("no more releases", ["retire", "--dataset", "a", *because]),
    ):
        ran = headcount("ledger", args[0], ledger, *args[1:])
        assert (ran.code, ran.out) == (0, ""), args
        assert says in ran.err
    ran = charged("--rho", "1", "--actor", "ann")
    assert ran.code == 3
    assert "the cap of 'ann' leaves ρ = 0.5" in ran.err
    shown = headcount("ledger", "show", ledger).out
    assert "all: shop, a (retired)" in shown
    assert "ann of shop, at most 0.5" in shown
    assert headcount("ledger", "return", ledger, "1", *because).code == 2
    log = headcount("ledger", "log", ledger).out
    assert log.count("because") == 3


def test_show_has_the_bar_of_what_is_scarcer_and_leaves_nothing_of_what_is_retired(
    headcount, charged, ledger
):
    charged("--rho", "0.1", "--delta", "9e-6")
    left = headcount("ledger", "show", ledger).out.splitlines()[-1].split()
    assert left[-3:] == ["%", "of", "δ"]
    headcount("ledger", "retire", ledger, "--dataset", "shop", "--reason", "the end")
    last = headcount("ledger", "show", ledger).out.splitlines()[-1]
    assert last.split()[:3] == ["unspent", "(closed)", "3.9"]
    [shown] = json.loads(headcount("ledger", "show", ledger, "--format", "json").out)
    assert shown["left"] == {"rho": 0, "delta": 0, "epsilon": 0}


@pytest.mark.parametrize(
    ("budget", "spent", "shown", "left"),
    [
        (("--epsilon", "3"), "3.34e-07", (1e-6, 9e-6), 3e-6),
        (("--rho", "0.5"), "9e-07", (2.7e-6, 7.3e-6), 7.3e-6 / 3),
    ],
)
def test_delta_is_shown_as_the_page_on_ledgers_says(
    headcount, parquet, tmp_path, budget, spent, shown, left
):
    ledger, to = tmp_path / "total.db", ("--ledger", tmp_path / "total.db", "--dataset", "shop")
    headcount("ledger", "init", ledger, "--dataset", "shop", "--epsilon", "6", "--delta", "1e-5")
    bound = ("--method", "threshold", "--max-items-per-user", "1")  # spends all of its δ
    ran = headcount("release", parquet, *ASK, *budget, "--delta", "1e-6", *bound, *to)
    assert ran.code == 0
    assert f"δ = {spent}." in ran.err
    [books] = json.loads(headcount("ledger", "show", ledger, "--format", "json").out)
    assert (books["spent"]["delta"], books["left"]["delta"]) == pytest.approx(shown, rel=1e-3)
    assert float(Ledger(ledger).books().left("shop").delta) == pytest.approx(left, rel=1e-3)


def test_verify(headcount, charged, ledger, tmp_path):
    output = tmp_path / "counts.parquet"
    assert charged("--rho", "1", "--output", output).code == 0
    ran = headcount("ledger", "verify", ledger)
    assert ran.code == 0
    assert len(ran.out.strip()) == 64
    assert headcount("ledger", "verify", ledger, "--head", ran.out.strip()).code == 0
    assert headcount("ledger", "verify", ledger, "--head", "0" * 64).code == 5
    assert headcount("ledger", "verify", ledger, "--head", "abc").code == 2
    ran = headcount("verify", output, "--ledger", ledger)
    assert (ran.code, ran.out) == (0, "")
    assert "(entry 3)" in ran.err
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert headcount("verify", other, "--ledger", ledger).code == 5
    assert headcount("verify", tmp_path / "counts.csv", "--ledger", ledger).code == 2


def test_an_output_does_not_replace_a_ledger(headcount, parquet, tmp_path):
    ledger = tmp_path / "budget.json"
    headcount("ledger", "init", ledger, "--dataset", "shop", "--rho", "4")
    ran = headcount("release", parquet, *ASK, "--rho", "1", "--output", ledger)
    assert (ran.code, ran.out) == (2, "")
    assert "is a database, perhaps a ledger" in ran.err
    assert headcount("ledger", "verify", ledger).code == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--again"], "--again and --actor need --ledger"),
        (["--actor", "ann"], "--again and --actor need --ledger"),
        (["--dataset", "shop"], "must be given together"),
        (["--ledger", "nowhere.db"], "must be given together"),
        (["--ledger", "nowhere.db", "--dataset", "shop"], "headcount ledger init"),
    ],
)
def test_options_that_go_together(headcount, parquet, options, says):
    ran = headcount("release", parquet, *ASK, "--rho", "1", *options)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_no_password_is_written_down(headcount, ledger):
    url = "postgres://ann:hunter2@localhost:1/shop?password=hunter2&host=localhost"
    headcount(
        "release", url, "--table", "t", *ASK, "--rho", "1", "--ledger", ledger, "--dataset", "shop"
    )
    log = headcount("ledger", "log", ledger, "--format", "json").out
    assert "postgres://ann@localhost:1/shop" in log
    assert b"hunter2" not in ledger.read_bytes()


def test_a_ledger_whose_name_is_no_utf_8(headcount, parquet, tmp_path):
    path = str(tmp_path) + "/budget-\udcff.db"
    assert headcount("ledger", "init", path, "--dataset", "d", "--rho", "60").code == 0
    options = ["--user", "uid", "--item", "item", "--rho", RHO, "--ledger", path, "--dataset", "d"]
    assert headcount("release", parquet, *options).code == 0
    shown = headcount("ledger", "log", path, "--format", "json")
    assert shown.code == 0
    assert len(json.loads(shown.out)) >= 2
