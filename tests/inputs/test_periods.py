"""Periods that cannot be meant are refused before anything is reserved or read."""

import datetime as dt
import re

import pyarrow as pa
import pytest

import headcount as hc
from headcount.inputs.unit import Unit
from headcount.question import Question

DAYS = [dt.date(2024, 1, 1), dt.date(2024, 1, 9)]
EVENTS = pa.table(
    {
        "who": ["a", "b"],
        "what": ["x", "y"],
        "when": pa.array(DAYS, pa.date32()),
        "zoned": pa.array(DAYS, pa.date32())
        .cast(pa.timestamp("us"))
        .cast(pa.timestamp("us", "UTC")),
        "text": ["2024-01-01", "2024-01-02"],
        "number": [20240101, 20240102],
        "clock": pa.array([dt.time(1), dt.time(2)]),
        "share": [0.5, 1.5],
        "week": ["w", "w"],
    }
)
CALL = {"user": "who", "item": "what", "budget": hc.Budget(rho=1)}

WITHOUT_DATA = {
    "fortnight": (("fortnight", "when"), {}, "a period is one of: day, week, month, year"),
    "one text": ("week", {}, r"by=\('week', 'when'\)"),
    "three": (("week", "when", "UTC"), {}, r"by=\('week', 'when'\)"),
    "a column that is none": (("week", 7), {}, "column of times is given by its name"),
    "no period": (None, {"timezone": "UTC"}, "a time zone is only for periods"),
    "protect alone": (None, {"protect": "user-week"}, "--protect user-week needs periods"),
    "protect what": (("week", "when"), {"protect": "household"}, r"\(protect=\) is one of: user,"),
    "no such zone": (("week", "zoned"), {"timezone": "Mars/Olympus"}, "IANA"),
    "spelling": (("week", "zoned"), {"timezone": "europe/berlin"}, "spelled as it is there"),
    "an offset": (("week", "zoned"), {"timezone": "+02:00"}, "IANA"),
    "SQL": (("week", "zoned"), {"timezone": "UTC'; DROP TABLE t --"}, "IANA"),
    "a path": (("week", "zoned"), {"timezone": "../../etc/passwd"}, "IANA"),
    "no text": (("week", "zoned"), {"timezone": 2}, "IANA"),
    "an item of that name": (("week", "when"), {"item": ["what", "Week"]}, "called 'week'"),
    "a user of that name": (("week", "when"), {"user": "week"}, "called 'week'"),
}


@pytest.fixture
def ledger(tmp_path):
    ledger = hc.Ledger(tmp_path / "l.db", actor="ann")
    ledger.init("d", budget=hc.Budget(rho=9, delta=1e-4))
    ledger.init("weeks", budget=hc.Budget(rho=9, delta=1e-4), protect="user-week")
    return ledger


def kinds(ledger):
    return [str(entry.kind) for entry in ledger.log()]


@pytest.mark.parametrize(("by", "more", "says"), WITHOUT_DATA.values(), ids=WITHOUT_DATA)
def test_what_cannot_be_meant_is_refused_before_anything_is_reserved(by, more, says, ledger):
    with pytest.raises(hc.InputError, match=says):
        hc.release(EVENTS, **{**CALL, "by": by, "ledger": ledger, "dataset": "d", **more})
    assert kinds(ledger) == ["open", "open"]


@pytest.mark.parametrize("protect", ["user-day", "user-week", "user-month", "user-year"])
@pytest.mark.parametrize("period", ["day", "week", "month", "year"])
def test_periods_that_lie_in_several_protected_ones_are_refused(period, protect):
    """Or who has an item in two of them would count twice."""
    kinds = ["user-day", "user-week", "user-month", "user-year"]
    fine = {"day": kinds, "week": kinds[1:2], "month": kinds[2:], "year": kinds[3:]}
    asked = {**CALL, "source": EVENTS, "by": (period, "when"), "protect": protect}
    if protect in fine[period]:
        assert Question(**asked).periods.protected_period == protect.removeprefix("user-")
    else:
        with pytest.raises(hc.SettingsError, match="would count twice"):
            Question(**asked)


def test_text_becomes_times_by_the_sql_that_the_error_names(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("user_id,page,seen at\n1,a,2026-01-05 10:00:00\n2,a,soon\n3,a,2026-01-06\n")
    asked = {"user": "user_id", "by": ("week", "seen at"), "rho": 1e6}
    asked["between"] = ("2026-01-05", "2026-01-11")
    with pytest.raises(hc.SourceError, match="TRY_CAST") as raised:
        hc.release(path, **asked)
    sql = re.search("--sql '(.*)'", str(raised.value))[1]
    assert hc.release(path, sql=sql, **asked).table["count"].to_pylist() == [2]


NO_TIMES = {
    "text": ("text", {}, "holds text, but a week needs dates or timestamps"),
    "numbers": ("number", {}, "holds numbers"),
    "times of day": ("clock", {}, "values of the type time"),
    "no column": ("then", {}, "no column 'then'"),
    "a zone for dates": ("when", {"timezone": "Europe/Berlin"}, "no time zone: their days"),
    "users that are floats": ("when", {"user": "share", "protect": "user-week"}, "user column of"),
    "users that are times": ("when", {"user": "zoned", "protect": "user-week"}, "user column of"),
}


@pytest.mark.parametrize(("column", "more", "says"), NO_TIMES.values(), ids=NO_TIMES)
def test_columns_without_times_are_refused_and_nothing_is_spent(column, more, says, ledger):
    dataset = "weeks" if "protect" in more else "d"
    asked = {**CALL, "by": ("week", column), "ledger": ledger, "dataset": dataset, **more}
    with pytest.raises(hc.SourceError, match=says):
        hc.release(EVENTS, **asked)
    assert not ledger.books().open
    assert ledger.books().left(dataset).rho == 9


def test_sqlite_has_no_times(tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "e.sqlite") as connection:
        connection.execute('CREATE TABLE t (who TEXT, what TEXT, "when" TIMESTAMP)')
    connection.close()
    with pytest.raises(hc.SourceError, match="needs dates or timestamps"):
        hc.release(tmp_path / "e.sqlite", table="t", by=("week", "when"), **CALL)


def test_a_column_of_the_tables_own_is_no_matter():
    """There is a column ``week`` that nobody asked for; and the times may be an item themselves."""
    made = hc.release(EVENTS, **{**CALL, "item": ["what", "when"]}, by=("week", "when"))
    assert made.table.column_names[:3] == ["what", "when", "week"]
    made = hc.release(EVENTS, **CALL, by=("day", "when"))
    assert made.settings["by"] == {"period": "day", "column": "when", "timezone": None}
    made = hc.release(EVENTS, **CALL, by=("day", "zoned"))
    assert made.settings["by"]["timezone"] == "UTC"


def test_a_question_keeps_its_periods_in_json():
    asked = Question(source="e.parquet", by=("week", "when"), timezone="UTC", protect="user-week",
                     **CALL)  # fmt: skip
    assert Question.from_json(asked.to_json()) == asked
    assert asked.request.columns == ["who", "what", "when"]
    assert Question(source="e.parquet", by=["day", "what"], **CALL).request.columns == [
        "who",
        "what",
    ]


def test_the_guarantee_and_the_summary_say_what_is_protected():
    made = hc.release(EVENTS, **CALL, by=("week", "when"), protect="user-week")
    unit = made.guarantee.unit
    assert unit.startswith(
        "one user within one week: all rows of one user id that lie in one week, added or removed"
    )
    assert "somebody who has some in k weeks are protected less: with k times the ε" in unit
    assert Unit.of(unit) is Unit.USER
    said = " ".join(made.summary())
    assert "once per week of 'when' (ISO weeks, from Monday): a user with rows in several" in said
    assert "Times have no time zone and are used as they stand." in said
    assert unit in said
    whole = hc.release(EVENTS, **CALL, by=("week", "when"))
    assert whole.guarantee.unit == Unit.USER.value


def test_a_caution_about_a_unit_stays_with_periods():
    import ibis

    backend = ibis.duckdb.connect()
    backend.con.register("events", EVENTS)
    some = backend.table("events").filter(ibis._.who != "z")
    made = hc.release(some, **CALL, by=("week", "when"), protect="user-week")
    assert "expression" in [notice.code for notice in made.notices()]
    assert "within one week" in made.guarantee.unit


def test_pages_promise_no_more_than_the_guarantee():
    from headcount.pages.promise import promise_of

    made = hc.release(EVENTS, **CALL, by=("week", "when"), protect="user-week")
    assert made.guarantee.privacy_unit == "user-week"
    assert made.guarantee.protected_period == "week"
    promise = promise_of(made.guarantee)
    assert "rows of one week are in the data" in promise.epsilon
    assert "k times the ε" in promise.epsilon
    assert "for each person and week" in promise.delta.lower()
    assert "differ by one user within one week" in promise.formal
    whole = hc.release(EVENTS, **CALL, by=("week", "when"))
    assert promise_of(whole.guarantee).formal.endswith("differ by " + whole.guarantee.unit + ".")
    assert whole.guarantee.protected_period is None
