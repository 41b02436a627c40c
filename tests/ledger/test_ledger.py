"""What a ledger does, in SQLite and in PostgreSQL."""

import sqlite3
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.ledger.entries import Kind
from headcount.ledger.ledger import _PAY_WHAT_THEY_GET
from headcount.ledger.store import SCHEMA_VERSION
from headcount.writers import render
from tests.ledger.conftest import COUNTS, release


def kinds(ledger):
    return [str(entry.kind) for entry in ledger.log()]


def test_a_release_is_reserved_and_settled_at_what_it_spent(opened):
    ledger = opened()
    result = release(ledger)
    assert kinds(ledger) == ["open", "reserve", "settle"]
    _, reserved, settled = ledger.log()
    assert reserved.facts["rho"] == "1/10"
    assert float(Fraction(settled.facts["rho"])) == result.spent["rho"]
    assert float(Fraction(settled.facts["delta"])) == result.spent["delta"]
    assert settled.facts["guarantee"] == result.guarantee.to_dict()["guarantee"]
    assert settled.time == "2026-01-31T12:00:00+00:00"
    assert settled.actor == "owner"
    balance = ledger.books().balance("shop")
    assert float(balance.spent.rho) == result.spent["rho"] < 0.1
    assert balance.reserved.rho == 0
    assert ledger.verify().entries == 3


def test_a_method_of_which_nothing_is_proved_is_charged_in_full(opened):
    ledger = opened()
    result = release(hc.Ledger(ledger._where))
    reservation = ledger.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})
    object.__setattr__(result.guarantee, "method", "another")
    ledger.settle(reservation, result, None)
    assert ledger.log()[-1].facts["rho"] == "1/10"


def test_which_methods_pay_what_they_get():
    """Each needs a proof in ledger.md; a method that joins them needs it first."""
    assert _PAY_WHAT_THEY_GET == ("pcr", "pcr-paper")


def test_a_budget_ends(opened):
    ledger = opened(rho=0.3)
    release(ledger, 0.2)
    with pytest.raises(hc.BudgetRefusedError) as refusal:
        release(ledger, 0.2)
    assert refusal.value.exit_code == 3
    said = str(refusal.value)
    assert "too little ρ is left. It asks for ρ = 0.2 and δ = 1e-06; ρ = 0." in said
    fits = float(said.partition("would fit: rho ")[2].partition(",")[0])
    assert 0.1 < fits < 0.2
    release(ledger, fits)
    assert len(ledger.log()) == 5


def test_a_refusal_says_that_delta_is_short_and_what_it_counts_as(opened):
    ledger = opened(delta=1e-6)
    release(ledger)
    with pytest.raises(hc.BudgetRefusedError, match="too little δ is left"):
        release(ledger)
    ledger.init("strict", budget=hc.Budget(epsilon=1, delta=1e-6))
    with pytest.raises(hc.BudgetRefusedError, match="too little ρ and δ is left") as refusal:
        release(ledger, 1, dataset="strict")
    assert "asks for ρ = 1 and δ = 1e-06, which count as ρ = 1 and δ = 2.7e-06" in str(
        refusal.value
    )
    with pytest.raises(
        hc.BudgetRefusedError, match=r"asks for ε = 2 and δ = 1e-06, which count as"
    ):
        ledger.reserve("strict", hc.Budget(epsilon=2, delta=1e-6), {})


def test_a_run_that_fails_before_any_noise_costs_nothing(opened):
    ledger = opened()
    budget = hc.Budget(rho=1)
    with pytest.raises(hc.SourceError):
        hc.release_counts(pa.table({"item": ["a"]}), budget=budget, ledger=ledger, dataset="shop")
    assert kinds(ledger) == ["open", "reserve", "return"]
    assert ledger.books().left("shop").rho == 1


def test_what_died_counts_as_spent_until_the_owner_decides(opened):
    ledger = opened()
    dead = ledger.reserve("shop", hc.Budget(rho=0.9), {})
    with pytest.raises(hc.BudgetRefusedError, match=r"ρ = 0\.9 .* are reserved by releases"):
        release(ledger, 0.2)
    with pytest.raises(hc.LedgerError, match="reason"):
        ledger.give_back(dead.number, reason=" ")
    ledger.give_back(dead.number, reason="the machine was switched off before it ran")
    result = release(ledger, 0.2)
    with pytest.raises(hc.LedgerUnavailableError, match="was returned while it ran: nothing was"):
        ledger.settle(dead, result, None)  # it had not died after all, and is not released


def test_a_seeded_release_is_refused(opened):
    ledger = opened()
    with pytest.raises(hc.NotPrivateError):
        hc.release_counts(
            COUNTS, budget=hc.Budget(rho=0.1), ledger=ledger, dataset="shop", unsafe_seed=1
        )
    assert kinds(ledger) == ["open"]
    seeded = hc.release_counts(COUNTS, budget=hc.Budget(rho=0.1), unsafe_seed=1)
    reservation = ledger.reserve("shop", hc.Budget(rho=0.1), {})
    with pytest.raises(hc.NotPrivateError):
        ledger.settle(reservation, seeded, None)
    assert kinds(ledger) == ["open", "reserve"]


@pytest.mark.parametrize("given", [{"ledger": "x.db"}, {"dataset": "shop"}])
def test_a_ledger_and_a_dataset_go_together(given):
    with pytest.raises(hc.LedgerError, match="go together"):
        hc.release_counts(COUNTS, budget=hc.Budget(rho=0.1), **given)


def test_extend_retire_cap_and_join(opened):
    ledger = opened(rho=0.1)
    ledger.extend("shop", rho=0.1, reason="the board agreed")
    assert ledger.books().left("shop").rho == Fraction(1, 5)
    ledger.cap("shop", "ann", rho=0.05)
    ann = hc.Ledger(ledger._where, actor="ann")
    with pytest.raises(hc.BudgetRefusedError, match=r"cap of 'ann' leaves ρ = 0\.05"):
        release(ann, 0.1)
    release(ann, 0.05)
    release(ledger, 0.1)
    ledger.init("x", "y", group="both", budget=hc.Budget(rho=1, delta=1e-5))
    ledger.join("shop", "both", reason="the same people")
    assert list(ledger.books().totals) == ["both"]
    ledger.retire("shop", reason="the survey is over")
    with pytest.raises(hc.BudgetRefusedError, match="retired"):
        release(ledger, 0.001)
    for change_it in (
        lambda: ledger.extend("shop", rho=1, reason="more"),
        lambda: ledger.retire("shop", reason="once more"),
        lambda: ledger.cap("shop", "ann", rho=1),
    ):
        with pytest.raises(hc.LedgerError, match="is retired"):
            change_it()
    release(ledger, 0.01, dataset="x")
    ledger.verify()
    assert {e.kind for e in ledger.log("y")} == {Kind.OPEN}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda ledger: ledger.init("shop", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init("a", "a", group="g", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init("a", group="shop", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init("a", "b", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init("\n", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init("a", "b", group="a", budget=hc.Budget(rho=1)),
        lambda ledger: ledger.init(budget=hc.Budget(rho=1)),
        lambda ledger: ledger.join("shop", "nowhere", reason="none"),
        lambda ledger: ledger.join("shop", "shop", reason="none"),
        lambda ledger: ledger.retire("nothing", reason="none"),
        lambda ledger: ledger.cap("nothing", "ann", rho=1),
        lambda ledger: ledger.give_back(1, reason="none"),
        lambda ledger: ledger.log("nothing"),
    ],
)
def test_what_cannot_be_done_leaves_no_entry(opened, wrong):
    ledger = opened()
    with pytest.raises(hc.LedgerError):
        wrong(ledger)
    assert len(ledger.log()) == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda ledger: ledger.init("shop", budget=hc.Budget(rho=1)), "`headcount ledger extend`"),
        (
            lambda ledger: ledger.init("c", group="g", budget=hc.Budget(rho=1)),
            "`headcount ledger j",
        ),
        (lambda ledger: ledger.retire("g", reason="no"), "name one of its datasets: 'a', 'b'"),
        (lambda ledger: ledger.init("c", budget=3), "must be a headcount.Budget"),
        (lambda ledger: hc.Ledger(3), "the path of a SQLite file"),
    ],
)
def test_what_to_do_instead_is_said(opened, wrong, says):
    ledger = opened()
    ledger.init("a", "b", group="g", budget=hc.Budget(rho=1))
    with pytest.raises(hc.HeadcountError, match=says):
        wrong(ledger)


@pytest.mark.parametrize(
    "amounts",
    [{}, {"rho": -1.0}, {"rho": float("inf")}, {"delta": 1.0}, {"rho": 1.0, "delta": float("nan")}],
)
def test_a_total_is_raised_by_something(opened, amounts):
    with pytest.raises(hc.BudgetError):
        opened().extend("shop", reason="no", **amounts)


# --- the same question again --------------------------------------------------------------------


@pytest.fixture
def parquet_of(tmp_path):
    def write(users=3000, name="events.parquet"):
        path = tmp_path / name
        pq.write_table(pa.table({"u": range(users), "q": ["tea"] * users}), path)
        return path

    return write


def ask(ledger, path, **options):
    budget = hc.Budget(rho=0.1, delta=1e-6)
    given = {"user": "u", "item": "q", "budget": budget, "dataset": "shop", **options}
    return hc.release(path, ledger=ledger, **given)


def test_the_same_question_is_answered_at_no_cost(opened, parquet_of):
    told = []
    ledger = opened(tell=told.append)
    path = parquet_of()
    first = ask(ledger, path)
    second = ask(hc.Ledger(ledger._where, actor="ann", tell=told.append), str(path))
    assert second.table.equals(first.table, check_metadata=True)
    assert second.guarantee == first.guarantee
    assert kinds(ledger) == ["open", "reserve", "settle"]
    assert told[0].startswith("Charged to 'shop'")
    assert "entry 3 of the ledger), at no cost" in told[1]
    third = ask(ledger, path, again=True)
    assert kinds(ledger)[3:] == ["reserve", "settle"]
    assert ask(ledger, path).table.equals(third.table)


def test_another_question_is_charged(opened, parquet_of):
    ledger = opened(delta=1e-4)
    path = parquet_of()
    ask(ledger, path)
    ask(ledger, path, relative_error=0.2)
    ask(ledger, path, budget=hc.Budget(rho=0.11, delta=1e-6))
    ask(ledger, path, method="pcr-paper")
    ask(ledger, parquet_of(name="other.parquet"))
    ask(ledger, parquet_of(users=3001))  # the file has changed
    assert kinds(ledger).count("settle") == 6


def test_nothing_of_the_data_is_in_the_entries(opened, parquet_of):
    ledger = opened()
    path = parquet_of(users=3137)
    ask(ledger, path)
    bodies = "".join(entry.body() for entry in ledger.log())
    assert "tea" not in bodies
    assert "3137" not in bodies
    assert str(path.stat().st_size) not in bodies


# --- verify -------------------------------------------------------------------------------------


def change(where, statement):
    """Run one statement on the database behind the ledger's back."""
    if where.startswith("postgres"):
        import psycopg

        with psycopg.connect(where) as connection:
            connection.execute(statement)
    else:
        with sqlite3.connect(where) as connection:
            connection.execute(statement)
        connection.close()


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


# --- forms of the tables ------------------------------------------------------------------------


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
