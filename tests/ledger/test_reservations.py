"""A reservation is one's own: no run settles or returns what another reserved."""

import shutil

import duckdb
import ibis
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import headcount as hc
from tests.ledger.conftest import ask, kinds, release

BUDGET = hc.Budget(rho=0.1, delta=1e-6)


@pytest.fixture
def two(tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db", actor="ann")
    for dataset in ("secret", "other"):
        ledger.init(dataset, budget=hc.Budget(rho=1, delta=1e-5))
    return ledger


@pytest.mark.parametrize("same", [set(), {"dataset"}, {"dataset", "actor"}])
def test_a_ledger_restored_while_a_release_runs_charges_nobody_else(two, tmp_path, same):
    made = release(two, dataset="secret")
    shutil.copy(two._where, tmp_path / "backup.db")
    mine = two.reserve("secret", BUDGET, {})
    shutil.copy(tmp_path / "backup.db", two._where)
    actor = "ann" if "actor" in same else "bob"
    other = hc.Ledger(two._where, actor=actor)
    theirs = other.reserve("secret" if "dataset" in same else "other", BUDGET, {})
    assert theirs.number == mine.number
    for use in (
        lambda: two.settle(mine, made, None),
        lambda: two.abandon(mine, reason="it failed"),
    ):
        with pytest.raises(hc.LedgerUnavailableError, match="replaced by a copy"):
            use()
    assert list(two.books().open.values()) == [theirs]
    other.settle(theirs, made, None)
    two.verify()


def test_no_two_reservations_have_one_identity(two):
    made = [two.reserve("secret", hc.Budget(rho=0.01, delta=1e-8), {}) for _ in range(20)]
    assert len({reservation.identity for reservation in made}) == 20
    assert all(len(reservation.identity) == 32 for reservation in made)


# --- one meaning of "one user" ------------------------------------------------------------------


def test_the_first_release_fixes_who_is_protected(opened, parquet_of):
    ledger = opened()
    ask(ledger, parquet_of())
    assert ledger.books().unit("shop") == "u"
    with pytest.raises(
        hc.LedgerError, match="is for users identified by 'u', but this release uses 'q'"
    ) as found:
        ask(ledger, parquet_of(), user="q", item="u")
    assert found.value.exit_code == 2
    with pytest.raises(hc.LedgerError, match="uses 'session'"):
        hc.release_counts({"a": 900}, budget=BUDGET, ledger=ledger, dataset="shop", user="session")
    assert kinds(ledger) == ["open", "reserve", "settle"]
    release(ledger)  # of the same user
    ledger.verify()


def test_a_mistyped_user_column_is_called_that_before_another_is_refused(opened, parquet_of):
    ledger = opened()
    ask(ledger, parquet_of())
    with pytest.raises(hc.SourceError, match=r"no column 'uu'.*Did you mean 'u'"):
        ask(ledger, parquet_of(), user="uu")
    plan = pl.scan_parquet(parquet_of())  # which is not run for an error
    with pytest.raises(hc.LedgerError, match="but this release uses 'uu'"):
        ask(ledger, plan, user="uu")
    used_up = hc.Budget(rho=1, delta=1e-6)  # the budget decides first
    with pytest.raises(hc.BudgetRefusedError):
        ask(ledger, parquet_of(), user="uu", budget=used_up)
    assert kinds(ledger) == ["open", "reserve", "settle"]


def test_a_release_that_failed_fixes_nothing(opened, parquet_of):
    ledger = opened()
    with pytest.raises(hc.SourceError, match="no column 'usr'"):
        ask(ledger, parquet_of(), user="usr")
    assert ledger.books().unit("shop") is None
    ask(ledger, parquet_of())
    assert ledger.books().unit("shop") == "u"


def test_the_owner_fixes_who_is_protected(where, parquet_of):
    ledger = hc.Ledger(where)
    ledger.init("shop", "web", group="g", budget=hc.Budget(rho=1, delta=1e-5), user="person")
    for dataset in ("shop", "web"):
        with pytest.raises(hc.LedgerError, match="identified by 'person'"):
            ask(ledger, parquet_of(), dataset=dataset)
    assert kinds(ledger) == ["open"]


def test_counts_without_a_user_are_not_charged(opened):
    ledger = opened()
    with pytest.raises(hc.LedgerError, match="which column identified the users"):
        hc.release_counts({"a": 900}, budget=BUDGET, ledger=ledger, dataset="shop")
    assert kinds(ledger) == ["open"]


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE events AS SELECT range AS person, range % 1500 AS session, "
            "'tea' AS item, range = 17 AS ill FROM range(3000)"
        )
    return path


def ask_sql(ledger, path, sql, user="person"):
    return ask(ledger, path, sql=sql, user=user, item="item", method="pcr")


PINNED = "SELECT person, item FROM events"
SWAPPED = [
    "SELECT item AS person, person AS item FROM events",
    "SELECT session AS person, item FROM events",
    "SELECT person, item FROM events UNION ALL SELECT session, item FROM events",
    "SELECT row_number() OVER () AS person, item FROM events",
    "SELECT person + 0 AS person, item FROM events",
]


@pytest.mark.parametrize("sql", SWAPPED)
def test_a_name_does_not_make_another_column_the_user(opened, database, sql):
    ledger = opened()
    ask_sql(ledger, database, PINNED)
    with pytest.raises(hc.LedgerError, match=r"but this release uses|computes the user"):
        ask_sql(ledger, database, sql)
    assert kinds(ledger)[3:] == ["reserve", "return"]
    ledger.verify()


def test_no_budget_protects_users_that_the_sql_makes_up(opened, database):
    ledger = opened()
    for sql in SWAPPED[2:]:
        with pytest.raises(hc.LedgerError, match="the SQL computes the user column"):
            ask_sql(ledger, database, sql)
    assert set(kinds(ledger)[1:]) == {"reserve", "return"}
    ask_sql(ledger, database, PINNED)


def test_the_user_by_another_name_is_the_same_user(opened, database):
    ledger = opened()
    ask_sql(ledger, database, PINNED)
    ask_sql(ledger, database, "SELECT Person AS u, item FROM events", user="u")
    ask(ledger, database, table="events", user="person", item="item")
    assert kinds(ledger).count("settle") == 3
    assert ledger.books().unit("shop") == "person"


# --- a failure that somebody's row decides ------------------------------------------------------

FAILS_FOR = (
    "SELECT person, CASE WHEN person = {} AND ill THEN CAST(CAST('x' AS integer) AS text) "
    "ELSE item END AS item FROM events"
)


def test_a_query_that_fails_because_of_a_row_is_paid_for(opened, database):
    """Free, it would tell for nothing and without noise what anybody's row says."""
    told = []
    ledger = opened(tell=told.append)
    ask_sql(ledger, database, FAILS_FOR.format(16))
    told.clear()
    with pytest.raises(hc.SourceError):
        ask_sql(ledger, database, FAILS_FOR.format(17))
    assert kinds(ledger) == ["open", "reserve", "settle", "reserve"]
    assert "counts as spent" in told[0]


def test_a_condition_that_fails_because_of_a_row_is_paid_for(opened, parquet_of):
    told = []
    ledger = opened(tell=told.append)
    with pytest.raises(hc.SourceError) as raised:
        ask(ledger, parquet_of(), where="CAST(q AS INTEGER) = 5")
    assert "tea" not in str(raised.value)
    assert kinds(ledger) == ["open", "reserve"]
    assert "counts as spent" in told[0]


def test_a_query_on_files_that_fails_because_of_a_row_is_paid_for(opened, parquet_of):
    ledger = opened()
    with pytest.raises(hc.SourceError):
        ask(ledger, parquet_of(), sql="SELECT u, CAST(q AS INTEGER) AS q FROM events")
    assert kinds(ledger) == ["open", "reserve"]


@pytest.mark.parametrize("kind", ["view", "expression"])
def test_what_is_computed_and_fails_because_of_a_row_is_paid_for(kind, opened, tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path) as made:
        made.execute(
            "CREATE TABLE events AS SELECT range AS person, 'tea' AS item, range = 17 AS ill "
            "FROM range(3000)"
        )
        made.execute(f"CREATE VIEW seen AS {FAILS_FOR.format(17)}")
    ledger = opened()
    asked = {"user": "person", "item": "item", "rho": 0.1, "ledger": ledger, "dataset": "shop"}
    if kind == "view":
        with pytest.raises(hc.SourceError):
            hc.release(path, table="seen", **asked)
    else:
        events = ibis.duckdb.connect(path, read_only=True).table("events")
        drink = ibis.cases((events.ill, "x"), else_="1").cast("int64").cast("string")
        with pytest.raises(hc.SourceError):
            hc.release(events.mutate(item=drink), **asked)
    assert kinds(ledger) == ["open", "reserve"]


def test_a_limit_on_memory_that_one_persons_rows_exceed_is_paid_for(opened, tmp_path):
    """Free, repeated failures would tell how much anybody has, to the row."""
    path = tmp_path / "events.parquet"
    one = [f"some rather long and rare item number {n:020d}" for n in range(400_000)]
    users = [f"u{n % 1000}" for n in range(5000)] + ["heavy"] * len(one)
    items = [f"item{n % 37}" for n in range(5000)] + one
    pq.write_table(pa.table({"u": users, "q": items}), path)
    ledger = opened()
    with pytest.raises(hc.EngineError, match="memory"):
        ask(ledger, path, memory="20MB")
    assert kinds(ledger) == ["open", "reserve"]


@pytest.mark.parametrize("wrong", [{"user": "usr"}, {}])
def test_fields_that_end_where_the_asker_says_are_paid_for(wrong, opened, tmp_path):
    """A delimiter may occur in one person's row only; a column that is missing costs nothing."""
    path = tmp_path / "events.csv"
    rows = [f"u-{n % 1000},tea{n % 7}" for n in range(5000)]
    path.write_text("\n".join(["user-id,query", *rows, "u-17,self-harm"]) + "\n")
    ledger = opened()
    asked = {"user": "user", "item": "id,query", "delimiter": "-", "rho": 0.1, **wrong}
    with pytest.raises(hc.SourceError):
        hc.release(path, **asked, ledger=ledger, dataset="shop")
    assert kinds(ledger) == (["open", "reserve", "return"] if wrong else ["open", "reserve"])


@pytest.mark.parametrize(
    "options", [{"where": "nothing = 5"}, {"where": "q = 5"}, {"sql": "SELECT u, x FROM events"}]
)
def test_what_cannot_be_asked_of_the_columns_costs_nothing(opened, parquet_of, options):
    ledger = opened()
    with pytest.raises(hc.SourceError):
        ask(ledger, parquet_of(), **options)
    assert kinds(ledger) == ["open", "reserve", "return"]


PLANS = {
    "polars": lambda path: pl.scan_parquet(path).with_columns(pl.col("q").cast(pl.Int64)),
    "arrow": lambda path: ds.dataset(path).filter(ds.field("q").cast("int64") > 0),
    "duckdb": lambda path: duckdb.read_parquet(str(path)).project("u, q::BIGINT AS q"),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_plan_that_fails_because_of_a_row_is_paid_for(opened, parquet_of, plan):
    ledger = opened()
    with pytest.raises(hc.SourceError):
        ask(ledger, plan(parquet_of()))
    assert kinds(ledger) == ["open", "reserve"]


@pytest.mark.parametrize("counts", [[5, -5], [5, 5]])
def test_what_is_no_histogram_is_paid_for(opened, counts):
    """Whoever asks may have made the table say so of anybody's row. Both faults look alike."""
    ledger = opened()
    table = pl.DataFrame({"item": ["a", "a"] if counts[1] > 0 else ["a", "b"], "count": counts})
    with pytest.raises(hc.SourceError, match="is in several rows, or a count is negative"):
        hc.release_counts(table, budget=BUDGET, ledger=ledger, dataset="shop", user="u")
    assert kinds(ledger) == ["open", "reserve"]


def test_a_query_that_cannot_be_bound_costs_nothing(opened, database):
    ledger = opened()
    with pytest.raises(hc.SourceError):
        ask_sql(ledger, database, "SELECT person, nothing AS item FROM events")
    assert kinds(ledger) == ["open", "reserve", "return"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, hc.CancelledError])
def test_a_query_that_is_interrupted_is_paid_for(opened, database, monkeypatch, error):
    """Who ends a query that has not failed yet has seen that it did not."""

    def interrupted(*given):
        raise error

    ledger = opened()
    monkeypatch.setattr("headcount.views.engine_view.CodedPopulation", interrupted)
    with pytest.raises(error):
        ask_sql(ledger, database, PINNED)
    assert kinds(ledger) == ["open", "reserve"]
