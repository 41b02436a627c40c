"""What was edited, exchanged or made anew is found, and older forms are brought forward."""

import sqlite3
from contextlib import suppress
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.ledger import published
from headcount.ledger.entries import Entry
from headcount.ledger.store import SCHEMA_VERSION
from headcount.outputs import render
from tests.ledger.conftest import COUNTS, ask, change, kinds, release


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE headcount_entries SET body = replace(body, 'owner', 'other') WHERE number = 2",
        "DELETE FROM headcount_entries WHERE number = 2",
        "DELETE FROM headcount_entries WHERE number = 3",
        "UPDATE headcount_entries SET number = 9 - number WHERE number < 9",
        "UPDATE headcount_ledger SET number = 2",
        "DELETE FROM headcount_releases",
        "UPDATE headcount_releases SET content = 'ab'",
        "UPDATE headcount_releases SET number = 4",
        "INSERT INTO headcount_releases SELECT 9, content FROM headcount_releases",
        "DELETE FROM headcount_ledger",
        "INSERT INTO headcount_ledger SELECT * FROM headcount_ledger",
        "DROP TABLE headcount_entries",
        "DROP TABLE headcount_releases",
    ],
)
def test_tampering_is_found(where, opened, statement):
    ledger = opened()
    release(ledger)
    ledger.verify()
    change(where, statement)
    with pytest.raises(hc.VerificationError) as found:
        ledger.verify()
    assert found.value.exit_code == 5
    if "releases" not in statement or "DROP" in statement:
        with pytest.raises(hc.VerificationError):
            release(ledger)  # nor is anything charged to it


def test_answers_that_were_exchanged_are_not_given(where, opened, parquet_of):
    ledger = opened()
    paths = [parquet_of(), parquet_of(users=2000, name="other.parquet")]
    for path in paths:
        ask(ledger, path, data_version="May")
    for statement in ("= 99 WHERE number = 3", "= 3 WHERE number = 5", "= 5 WHERE number = 99"):
        change(where, f"UPDATE headcount_releases SET number {statement}")
    for use in (ledger.verify, lambda: ask(ledger, paths[0], data_version="May")):
        with pytest.raises(hc.VerificationError, match="was edited"):
            use()


def test_a_cut_tail_is_found_by_the_releases_that_it_leaves_behind(where, opened):
    ledger = opened()
    release(ledger)
    release(ledger)
    change(where, "DELETE FROM headcount_entries WHERE number > 3")
    change(
        where,
        "UPDATE headcount_ledger SET number = 3, hash ="
        " (SELECT hash FROM headcount_entries WHERE number = 3)",
    )
    with pytest.raises(hc.VerificationError, match="entries at its end may be missing"):
        ledger.verify()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE headcount_ledger SET number = 'three'",
        "UPDATE headcount_ledger SET version = 'x'",
        "UPDATE headcount_ledger SET version = 2.5",
        "UPDATE headcount_ledger SET hash = x'00'",
        "UPDATE headcount_ledger SET number = NULL",
        "UPDATE headcount_entries SET body = x'ff' WHERE number = 2",
        "UPDATE headcount_entries SET body = 7 WHERE number = 2",
        "UPDATE headcount_entries SET number = 'three' WHERE number = 3",
        "UPDATE headcount_releases SET number = 'three'",
        "UPDATE headcount_releases SET content = 7",
        "UPDATE headcount_releases SET content = 'text'",
    ],
)
def test_values_of_another_type_are_found_and_no_crash(tmp_path, statement):
    """SQLite takes any value into any column."""
    where = str(tmp_path / "budget.db")
    ledger = hc.Ledger(where)
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    release(ledger)
    with sqlite3.connect(where) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(replace(sql, 'NOT NULL', ''), 'BIGINT', '')"
        )
    connection.close()
    change(where, statement)
    for use in (ledger.verify, ledger.books, lambda: release(ledger)):
        with suppress(hc.VerificationError):
            use()
    with pytest.raises(hc.VerificationError):
        ledger.verify()


@pytest.mark.parametrize("hash_", ["abc", "", "g" * 64])
def test_what_is_no_hash_is_not_called_tampering(opened, hash_):
    with pytest.raises(hc.LedgerError, match="that is not a hash") as found:
        opened().verify(hash_)
    assert found.value.exit_code == 2


def test_a_ledger_made_anew_does_not_have_the_hash_that_was_kept(where, opened):
    ledger = opened()
    release(ledger)
    head = ledger.verify().head
    release(ledger)
    assert ledger.verify(head).head != head
    for table in ("entries", "releases"):
        change(where, f"DELETE FROM headcount_{table}")
    change(where, f"UPDATE headcount_ledger SET number = 0, hash = '{'0' * 64}'")
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    ledger.verify()
    with pytest.raises(hc.VerificationError, match="rewritten"):
        ledger.verify(head)


def more_than(result, form):
    """Return a file that says something else as well, to programs that read it otherwise."""
    if form == "json":
        return render(result, form).replace(b'"guarantee"', b'"guarantee": 0, "guarantee"', 1)
    table = result.table.replace_schema_metadata({**result.table.schema.metadata, b"note": b"x"})
    return render(hc.Release(table, result.guarantee), form)


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_a_published_release_is_found(opened, tmp_path, form):
    ledger = opened()
    path = tmp_path / f"counts.{form}"
    path.write_bytes(render(release(ledger), form))
    assert ledger.find(path).number == 3
    uncharged = hc.release_counts(COUNTS, budget=hc.Budget(rho=0.1, delta=1e-6))
    path.write_bytes(render(uncharged, form))
    with pytest.raises(hc.VerificationError, match="no release in this ledger matches"):
        ledger.find(path)
    path.write_bytes(more_than(release(ledger), form))
    with pytest.raises(hc.VerificationError, match="not a release that headcount wrote"):
        ledger.find(path)
    path.write_bytes(b"PAR1 nothing")
    with pytest.raises(hc.VerificationError, match="not a release that headcount wrote"):
        ledger.find(path)


def as_first_form(where):
    for statement in (
        "DROP TABLE headcount_releases",
        "DROP TABLE IF EXISTS headcount_room",
        "UPDATE headcount_ledger SET version = 1",
    ):
        change(where, statement)


def test_a_ledger_of_the_first_form_opens_and_is_brought_forward(
    where, opened, parquet_of, monkeypatch
):
    ledger = opened()
    body = Entry.body
    monkeypatch.setattr(Entry, "body", lambda entry: body(without_question(entry)))
    release(ledger)
    monkeypatch.undo()
    as_first_form(where)
    ledger.verify()
    assert 0.9 <= ledger.books().left("shop").rho < 1
    path = parquet_of()
    ask(ledger, path, data_version="May")
    ask(ledger, path, data_version="May")
    assert kinds(ledger).count("settle") == 2
    ledger.verify()


def without_question(entry):
    """Return an entry as the first form had it."""
    facts = {key: value for key, value in entry.facts.items() if key != "question"}
    return replace(entry, facts=facts)


def test_a_ledger_of_a_later_form_says_so(where, opened):
    ledger = opened()
    change(where, f"UPDATE headcount_ledger SET version = {SCHEMA_VERSION + 1}")
    for use in (ledger.books, ledger.verify, lambda: release(ledger)):
        with pytest.raises(hc.LedgerError, match="upgrade headcount"):
            use()


@pytest.mark.parametrize("kind", ["repeated by reference", "packed", "many rows", "long JSON"])
def test_a_file_that_unpacks_to_more_than_any_release_is_not_read(
    opened, tmp_path, monkeypatch, kind
):
    monkeypatch.setattr(published, "LARGEST", 2**20)
    ledger = opened()
    made = release(ledger)
    path = tmp_path / "bomb.parquet"
    options = {"compression": "zstd"}
    if kind == "long JSON":
        path = tmp_path / "bomb.json"
        path.write_bytes(b" " * (2**20 + 1))
    else:
        if kind == "repeated by reference":
            column = pa.array(["x" * 2**10]).take(pa.array([0] * 2**11))
        elif kind == "packed":
            column = pa.array(["x" * 2**10] * 2**11)
            options["use_dictionary"] = False
        else:
            column = pa.nulls(2**20 + 1, pa.bool_())
        pq.write_table(
            pa.table({"q": column}, metadata=made.table.schema.metadata), path, **options
        )
        assert path.stat().st_size < 2**14
    with pytest.raises(hc.VerificationError, match="it is too large to be a release"):
        ledger.find(path)
