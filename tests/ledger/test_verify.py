"""What was edited, exchanged or made anew is found, and older forms are brought forward."""

import pytest

import headcount as hc
from headcount.ledger.store import SCHEMA_VERSION
from headcount.writers import render
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
        "UPDATE headcount_releases SET content = headcount_keys.key FROM headcount_keys",
        "UPDATE headcount_releases SET question = 'x'",
        "UPDATE headcount_keys SET key = headcount_releases.content FROM headcount_releases",
        "DELETE FROM headcount_keys",
        "INSERT INTO headcount_keys SELECT key FROM headcount_keys",
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
        ask(ledger, path)
    change(where, "CREATE TABLE other AS SELECT number, question FROM headcount_releases")
    change(
        where,
        "UPDATE headcount_releases SET question ="
        " (SELECT question FROM other WHERE other.number <> headcount_releases.number)",
    )
    for use in (ledger.verify, lambda: ask(ledger, paths[0])):
        with pytest.raises(hc.VerificationError, match="answers was edited"):
            use()


@pytest.mark.parametrize("hash_", ["abc", "", "g" * 64])
def test_what_is_no_hash_is_not_called_tampering(opened, hash_):
    with pytest.raises(hc.LedgerError, match="that is no hash") as found:
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
    with pytest.raises(hc.VerificationError, match="no release like"):
        ledger.find(path)
    path.write_bytes(more_than(release(ledger), form))
    with pytest.raises(hc.VerificationError, match="no release that headcount wrote"):
        ledger.find(path)
    path.write_bytes(b"PAR1 nothing")
    with pytest.raises(hc.VerificationError, match="no release that headcount wrote"):
        ledger.find(path)


def as_first_form(where):
    for statement in (
        "DROP TABLE headcount_releases",
        "DROP TABLE headcount_keys",
        "UPDATE headcount_ledger SET version = 1",
    ):
        change(where, statement)


def test_a_ledger_of_the_first_form_opens_and_is_brought_forward(where, opened, parquet_of):
    ledger = opened()
    as_first_form(where)
    assert ledger.books().left("shop").rho == 1
    path = parquet_of()
    ask(ledger, path)  # is not known by its question yet: there was no key
    ask(ledger, path)
    ask(ledger, path)
    assert kinds(ledger).count("settle") == 2
    ledger.verify()


def test_a_ledger_of_a_later_form_says_so(where, opened):
    ledger = opened()
    change(where, f"UPDATE headcount_ledger SET version = {SCHEMA_VERSION + 1}")
    for use in (ledger.books, ledger.verify, lambda: release(ledger)):
        with pytest.raises(hc.LedgerError, match="upgrade headcount"):
            use()
