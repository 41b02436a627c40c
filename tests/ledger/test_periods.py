"""A budget protects users, or users within one kind of period: it never adds the two up."""

import datetime as dt

import pyarrow as pa
import pytest

import headcount as hc

MOMENTS = pa.array([dt.datetime(2024, 1, 1)] * 3, pa.timestamp("us", "UTC"))
EVENTS = pa.table(
    {
        "who": ["a", "b", "c"],
        "what": ["x"] * 3,
        "when": pa.array([dt.date(2024, 1, 1)] * 3),
        "zoned": MOMENTS,
        "other": MOMENTS,
    }
)
TOTAL = hc.Budget(rho=9, delta=1e-4)
WEEKS = {"by": ("week", "zoned"), "protect": "user-week"}


@pytest.fixture
def ledger(tmp_path):
    return hc.Ledger(tmp_path / "l.db", actor="ann")


def release(ledger, dataset, **more):
    asked = {"user": "who", "item": "what", "budget": hc.Budget(rho=0.5), "method": "pcr-paper"}
    return hc.release(EVENTS, **{**asked, **more}, ledger=ledger, dataset=dataset)


def refused(ledger, says, dataset, **more):
    entries, left = len(ledger.log()), ledger.books().left(dataset)
    with pytest.raises(hc.LedgerError, match=says):
        release(ledger, dataset, **more)
    assert ledger.books().left(dataset) == left
    return len(ledger.log()) - entries


def test_a_budget_of_users_takes_no_user_weeks(ledger):
    ledger.init("d", budget=TOTAL)
    assert refused(ledger, "protects all rows of one user", "d", **WEEKS) == 0
    release(ledger, "d", by=("week", "zoned"))
    ledger.verify()


def test_a_budget_of_user_weeks_takes_nothing_else(ledger):
    ledger.init("d", budget=TOTAL, protect="user-week")
    assert refused(ledger, "one user's rows within one week", "d") == 0
    assert refused(ledger, "one week", "d", by=("day", "zoned"), protect="user-day") == 0
    with pytest.raises(hc.LedgerError, match="one week"):
        hc.release_counts(
            {"x": 9}, budget=hc.Budget(rho=0.1), ledger=ledger, dataset="d", user="who"
        )
    release(ledger, "d", **WEEKS)
    release(ledger, "d", by=("day", "zoned"), protect="user-week")
    ledger.verify()
    assert hc.Ledger(ledger._where).books().protects("d") == "user-week"


def test_weeks_are_those_of_one_column_and_one_time_zone(ledger):
    """Reserved, refused when the source is open, and returned: no row was read."""
    ledger.init("d", budget=TOTAL, protect="user-week")
    release(ledger, "d", **WEEKS)
    for other in ({"by": ("week", "other")}, {"timezone": "Asia/Tokyo"}, {"by": ("week", "when")}):
        assert refused(ledger, "periods of the column 'zoned'", "d", **{**WEEKS, **other}) == 2
    release(ledger, "d", **WEEKS, timezone="UTC")
    ledger.verify()


def test_who_settles_second_is_held_to_the_first(ledger):
    """Both had been open before either fixed the column."""
    ledger.init("d", budget=TOTAL, protect="user-week")
    made = hc.release(EVENTS, user="who", item="what", budget=hc.Budget(rho=0.5), **WEEKS)
    asked = {"source": "a table in memory", "method": "pcr"}
    one, two = (ledger.reserve("d", hc.Budget(rho=0.5), asked, "who", "user-week") for _ in "ab")
    ledger.settle(one, made, None, "who", {"period": "week", "column": "zoned", "timezone": "UTC"})
    with pytest.raises(hc.LedgerError, match="periods of the column"):
        ledger.settle(two, made, None, "who", {"period": "week", "column": "o", "timezone": "UTC"})
    assert list(ledger.books().open) == [two.number]


def test_a_group_has_one_unit(ledger):
    ledger.init("a", "b", group="g", budget=TOTAL, protect="user-week")
    ledger.init("users", budget=TOTAL)
    ledger.init("days", budget=TOTAL, protect="user-day")
    ledger.init("weeks", budget=TOTAL, protect="user-week")
    assert refused(ledger, "one week", "b") == 0
    for other in ("users", "days"):
        with pytest.raises(hc.LedgerError, match="protect different things"):
            ledger.join(other, "g", reason="the same people")
    release(ledger, "a", **WEEKS)
    assert refused(ledger, "shares the budget", "b", **{**WEEKS, "timezone": "Asia/Tokyo"}) == 2
    release(ledger, "b", **{**WEEKS, "by": ("week", "other")})
    release(ledger, "weeks", **WEEKS, timezone="Asia/Tokyo")
    with pytest.raises(hc.LedgerError, match="different time zones"):
        ledger.join("weeks", "g", reason="the same people")
    ledger.join("new", "g", reason="the same people")
    assert ledger.books().protects("new") == "user-week"
    assert refused(ledger, "one week", "new") == 0
    ledger.verify()


def test_users_that_join_a_group_stay_users(ledger):
    ledger.init("a", group="g", budget=TOTAL)
    ledger.init("weeks", budget=TOTAL, protect="user-week")
    with pytest.raises(hc.LedgerError, match="protect different things"):
        ledger.join("weeks", "g", reason="the same people")


def test_sql_may_call_any_column_the_times(ledger, tmp_path):
    ledger.init("d", budget=TOTAL, protect="user-week")
    asked = {"user": "who", "item": "what", "budget": hc.Budget(rho=1), **WEEKS}
    with pytest.raises(hc.LedgerError, match="works on tables only"):
        hc.release(
            tmp_path / "none.duckdb", sql="SELECT * FROM t", ledger=ledger, dataset="d", **asked
        )
    assert [str(entry.kind) for entry in ledger.log()] == ["open"]


def test_an_edited_unit_is_noticed(ledger):
    """A ledger that says it protects user-weeks and was charged for users cannot be true."""
    from headcount.ledger.balance import Books
    from headcount.ledger.entries import Entry

    ledger.init("d", budget=TOTAL)
    release(ledger, "d")
    opened, *others = ledger.log()
    facts = {**opened.facts, "protect": "user-week"}
    edited = Entry(1, opened.time, opened.actor, opened.kind, opened.dataset, facts)
    with pytest.raises(hc.VerificationError):
        Books([edited, *others])


def test_the_same_question_by_week_is_another(ledger):
    ledger.init("d", budget=TOTAL)
    version = {"data_version": "1"}
    release(ledger, "d", **version)
    release(ledger, "d", **version, by=("week", "when"))
    release(ledger, "d", **version, by=("week", "zoned"))
    release(ledger, "d", **version, by=("week", "zoned"), timezone="Asia/Tokyo")
    settled = [entry for entry in ledger.log() if entry.kind == "settle"]
    assert len(settled) == 4
    release(ledger, "d", **version, by=("week", "zoned"), timezone="Asia/Tokyo")
    assert len([entry for entry in ledger.log() if entry.kind == "settle"]) == 4


def test_what_a_budget_protects_is_shown(ledger, headcount):
    path = ledger._where
    made = headcount(
        "ledger", "init", path, "--dataset", "d", "--rho", "4", "--protect", "user-week"
    )
    assert made.code == 0
    assert "It protects one user within one week" in made.err
    assert "k times the ε" in made.err
    assert "d (user-week)" in headcount("ledger", "show", path).out
    assert '"protects": "user-week"' in headcount("ledger", "show", path, "--format", "json").out
    assert "user-week" in headcount("ledger", "log", path).out
    refused = headcount("ledger", "init", path, "--dataset", "e", "--rho", "4", "--protect", "home")
    assert refused.code == 2
