"""Pages from the command line: checked before anything is spent, and never at a release's cost."""

import json

import pytest

from headcount.errors import OutputError
from headcount.outputs.files import AtomicFile
from tests.conftest import RHO
from tests.pages.parsed import Page

ASKED = ("--user", "uid", "--item", "item", "--rho", RHO)


@pytest.fixture
def ledger(headcount, tmp_path):
    path = tmp_path / "budget.db"
    ran = headcount("ledger", "init", path, "--dataset", "shop", "--rho", "200")
    assert ran.code == 0, ran.err
    return path


def words(path):
    return Page(path.read_text(encoding="utf-8")).text


def test_a_release_comes_with_a_page(headcount, parquet, tmp_path, ledger):
    out, page = tmp_path / "counts.parquet", tmp_path / "release.html"
    charged = ("--ledger", ledger, "--dataset", "shop")
    ran = headcount("release", parquet, *ASKED, *charged, "--output", out, "--report", page)
    assert ran.code == 0, ran.err
    for expected in ("Users per item", "events.parquet", "one value of uid", "shop , entry 3"):
        assert expected in words(page)
    assert str(parquet.parent) not in words(page)
    again = headcount("report", out, "--ledger", ledger)
    assert again.code == 0, again.err
    assert (tmp_path / "counts.html").read_bytes() == page.read_bytes()
    assert again.out == "" and "counts.html" in again.err


def test_without_a_ledger_the_page_says_what_is_known(headcount, parquet, tmp_path):
    page = tmp_path / "release.html"
    ran = headcount("release", parquet, *ASKED, "--format", "json", "--report", page)
    assert ran.code == 0, ran.err
    data = Page(page.read_text(encoding="utf-8")).data
    assert data == json.loads(ran.out)
    assert "It was not charged to a ledger" in words(page) and "UTC" in words(page)
    saved = tmp_path / "counts.json"
    saved.write_text(ran.out)
    ran = headcount("report", saved, "--title", "What people buy", "--output", tmp_path / "b.html")
    assert ran.code == 0, ran.err
    assert "What people buy" in words(tmp_path / "b.html") and "UTC" not in words(
        tmp_path / "b.html"
    )


@pytest.mark.parametrize("name", ["page.txt", "nowhere/page.html", "there.html", "counts.html"])
def test_a_page_that_cannot_be_written_costs_nothing(headcount, parquet, tmp_path, ledger, name):
    (tmp_path / "there.html").write_text("a page")
    out = tmp_path / ("counts.html" if name == "counts.html" else "counts.json")
    charged = ("--ledger", ledger, "--dataset", "shop", "--output", out)
    ran = headcount("release", parquet, *ASKED, *charged, "--report", tmp_path / name)
    assert ran.code == 2
    assert not out.exists() and (tmp_path / "there.html").read_text() == "a page"
    log = json.loads(headcount("ledger", "log", ledger, "--format", "json").out)
    assert [entry["kind"] for entry in log] == ["open"]


@pytest.mark.parametrize("to_file", [True, False])
def test_a_page_that_fails_later_does_not_cost_the_release(
    headcount, parquet, tmp_path, monkeypatch, to_file
):
    commit = AtomicFile.commit

    def failing(self, content):
        if content.startswith(b"<!doctype"):
            raise OutputError("the disk is full")
        commit(self, content)

    monkeypatch.setattr(AtomicFile, "commit", failing)
    out, page = tmp_path / "counts.json", tmp_path / "release.html"
    where = ("--output", out) if to_file else ("--format", "json")
    ran = headcount("release", parquet, *ASKED, *where, "--report", page)
    assert ran.code == 2 and "the disk is full" in ran.err
    assert "The release itself is safe" in ran.err
    release = json.loads(out.read_text() if to_file else ran.out)
    assert release["items"] and not page.exists()


def test_a_page_whose_making_fails_does_not_cost_the_release(
    headcount, parquet, tmp_path, monkeypatch
):
    def failing(*args, **options):
        raise RuntimeError

    monkeypatch.setattr("headcount.pages.release_page", failing)
    ran = headcount(
        "release", parquet, *ASKED, "--format", "json", "--report", tmp_path / "release.html"
    )
    assert ran.code == 1 and json.loads(ran.out)["items"]
    assert "The release itself is safe" in ran.err


def test_a_file_that_was_not_charged_has_no_page_with_a_ledger(
    headcount, parquet, tmp_path, ledger
):
    out = tmp_path / "counts.json"
    assert headcount("release", parquet, *ASKED, "--output", out).code == 0
    ran = headcount("report", out, "--ledger", ledger)
    assert ran.code == 5 and not (tmp_path / "counts.html").exists()


def test_a_ledger_in_the_environment_is_for_files_that_were_charged(
    headcount, parquet, tmp_path, ledger, monkeypatch
):
    free, charged = tmp_path / "free.json", tmp_path / "charged.json"
    assert headcount("release", parquet, *ASKED, "--output", free).code == 0
    monkeypatch.setenv("HEADCOUNT_LEDGER", str(ledger))
    made = headcount("release", parquet, *ASKED, "--dataset", "shop", "--output", charged)
    assert made.code == 0, made.err
    for path in (free, charged):
        ran = headcount("report", path)
        assert ran.code == 0, ran.err
    assert "It was not charged to a ledger" in words(tmp_path / "free.html")
    assert "shop , entry 3, reserved by entry 2" in words(tmp_path / "charged.html")
    assert headcount("report", free, "--ledger", ledger, "--force").code == 5


def test_a_ledger_has_a_page(headcount, tmp_path, ledger):
    page = tmp_path / "budgets.html"
    ran = headcount("ledger", "show", ledger, "--html", page)
    assert (ran.code, ran.out) == (0, ""), ran.err
    assert "200 left" in words(page) and "Nothing" not in words(page)
    assert headcount("ledger", "show", ledger, "--html", page).code == 2
    assert headcount("ledger", "show", ledger, "--html", page, "--force").code == 0
    assert headcount("ledger", "show", ledger, "--html", tmp_path / "budgets.txt").code == 2
    assert (
        headcount("ledger", "show", tmp_path / "none.db", "--html", tmp_path / "b.html").code == 2
    )
    assert not (tmp_path / "b.html").exists()


def test_what_is_no_release_has_no_page(headcount, parquet, tmp_path):
    csv = tmp_path / "counts.csv"
    csv.write_text("item,count\na,1\n")
    broken = tmp_path / "counts.json"
    broken.write_text('{"items": []}')
    assert headcount("report", csv).code == 2
    assert headcount("report", parquet, "--output", tmp_path / "a.html").code == 5
    assert headcount("report", broken).code == 2
    assert headcount("report", tmp_path / "none.json").code == 2
    assert not list(tmp_path.glob("*.html"))


def test_a_page_is_replaced_only_if_asked(headcount, parquet, tmp_path):
    out = tmp_path / "counts.json"
    assert headcount("release", parquet, *ASKED, "--output", out).code == 0
    assert headcount("report", out).code == 0
    assert headcount("report", out).code == 2
    assert headcount("report", out, "--force").code == 0


def test_an_address_with_a_password_is_not_on_the_page():
    from headcount.pages.origin import source_name

    asked = {"source": "postgres://ada:secret@db.example.org/shop", "table": "plays"}
    assert source_name(asked) == "table plays"
    assert source_name({**asked, "table": None, "sql": "SELECT 'secret'"}) == "an SQL query"
    assert source_name({"source": "spark://ada:secret@master:7077"}) is None
    assert source_name({"source": "/home/ada/logs/*.csv"}) == "*.csv"
