"""Ledgers and releases of every form that there was open, verify and answer today."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import headcount as hc
from headcount.ledger.published import account_of_file
from headcount.ledger.store import SCHEMA_VERSION
from headcount.outputs import render
from headcount.results.canonical import FIRST_FORMAT, FORMAT, account_of
from tests.golden.make import ASKED, VERSION, tables

FOLDER = Path(__file__).parent
#: The form of the ledger, and of its releases after a dot where the ledger's did not change.
FORMS = sorted(path.name for path in FOLDER.iterdir() if (path / "ledger.db").is_file())
RELEASES = {"text": 3, "numbers": 5, "times": 7, "others": 9}


@pytest.fixture(params=FORMS)
def golden(request, tmp_path):
    return Path(shutil.copytree(FOLDER / request.param, tmp_path / request.param))


def test_the_form_of_today_has_golden_files():
    assert str(SCHEMA_VERSION) in FORMS


def test_the_release_form_of_today_has_golden_files():
    forms = {json.loads(path.read_bytes()).get("format") for path in FOLDER.glob("*/*.json")}
    assert forms == {None, FIRST_FORMAT, FORMAT}


@pytest.mark.parametrize("name", RELEASES)
def test_an_old_release_is_written_down_as_it_was(golden, name):
    """Whatever its form: a file made from the ledger today is the one that was published."""
    made = hc.Ledger(golden / "ledger.db").released(RELEASES[name])
    published = json.loads((golden / f"{name}.json").read_bytes())
    assert json.loads(render(made, "json")) == published
    assert made.guarantee.to_dict() == account_of(made.table)


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_a_published_file_can_be_described(golden, form):
    account = account_of_file(golden / f"text.{form}")
    assert (account.columns, account.rows) == (("q",), 2)
    assert account.guarantee.epsilon == 8.39514240998285


def test_a_ledger_opens_and_verifies(golden):
    ledger = hc.Ledger(golden / "ledger.db")
    assert ledger.verify().entries == 10
    assert list(ledger.books().open) == [10]
    assert 35.5 <= ledger.books().left("shop").rho < 39.5


@pytest.mark.parametrize("form", ["json", "parquet"])
@pytest.mark.parametrize("name", RELEASES)
def test_a_published_file_is_found(golden, name, form):
    ledger = hc.Ledger(golden / "ledger.db")
    assert ledger.find(golden / f"{name}.{form}").number == RELEASES[name]


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_can_be_had_again(golden, name):
    made = hc.Ledger(golden / "ledger.db").released(RELEASES[name])
    assert len(made)
    assert made.guarantee.rho == 1
    assert made.guarantee.private


def test_a_ledger_is_charged_and_verifies_after_it_was_brought_forward(golden):
    ledger = hc.Ledger(golden / "ledger.db")
    hc.release_counts(
        {"a": 4000}, budget=hc.Budget(rho=0.1), ledger=ledger, dataset="shop", user="u"
    )
    assert ledger.verify().entries == 12
    with sqlite3.connect(golden / "ledger.db") as connection:
        [(version,)] = connection.execute("SELECT version FROM headcount_ledger")
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    connection.close()
    assert version == SCHEMA_VERSION
    assert "headcount_keys" not in there  # questions were known by sizes and times of files


@pytest.mark.parametrize("golden", [form for form in FORMS if float(form) >= 3], indirect=True)
def test_a_question_is_answered_from_the_ledger(golden):
    ledger = hc.Ledger(golden / "ledger.db")
    answer = hc.release(
        tables()["text"], item=["q"], columns="all", ledger=ledger, data_version=VERSION, **ASKED
    )
    assert answer.table.equals(ledger.released(3).table)
    assert len(ledger.log()) == 10
