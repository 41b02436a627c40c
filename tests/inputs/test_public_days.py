"""Days that are public: which periods a range has, and that exactly these come out."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headcount as hc
from headcount.inputs.calendar import DayRange, most_within
from headcount.question import Question
from tests.engines.test_periods import first_day
from tests.ledger.conftest import kinds

BUDGET = hc.Budget(rho=40)  # so that a standard error is far below 5 users
PERIODS = ["day", "week", "month", "year"]
# 60 users on Thursday 1 January 2026, half of them again in the week after, and 40 in March.
DAYS = [dt.date(2026, 1, 1)] * 60 + [dt.date(2026, 1, 8)] * 30 + [dt.date(2026, 3, 4)] * 40
EVENTS = pa.table(
    {
        "u": [*range(60), *range(30), *range(40)],
        "c": ["DE", "FR"] * 65,
        "at": pa.array([*DAYS], pa.date32()),
        "text": [str(day) for day in DAYS],
    }
)


def released(source=EVENTS, **options):
    return hc.release(source, **{"user": "u", "budget": BUDGET, **options})


def counts(made):
    names = [made.table[name].to_pylist() for name in made.item_columns]
    return dict(zip(zip(*names, strict=True), made.table["count"].to_pylist(), strict=True))


def are_close(made, expected):
    found = counts(made)
    assert found.keys() == expected.keys()
    return all(abs(found[key] - expected[key]) < 8 for key in expected)


days = st.dates(dt.date(1, 1, 2), dt.date(9999, 12, 30))


@given(days, st.integers(0, 1000), st.sampled_from(PERIODS))
def test_the_periods_of_a_range_are_those_of_its_days(first, more, period):
    last = min(first.toordinal() + more, dt.date(9999, 12, 30).toordinal())
    all_days = map(dt.date.fromordinal, range(first.toordinal(), last + 1))
    expected = sorted({first_day(day, period) for day in all_days})
    found = DayRange(first, dt.date.fromordinal(last)).first_days(period)
    assert found.tolist() == expected


@given(st.lists(days, min_size=1, max_size=40, unique=True), st.sampled_from(PERIODS))
def test_the_most_that_one_user_can_have(listed, within):
    table = pa.table({"day": pa.array(listed, pa.date32())})
    counted = [first_day(day, within) for day in listed]
    assert most_within(table, "day", within) == max(map(counted.count, counted))
    assert most_within(table, "day", None) == len(listed)


# --- what comes out ----------------------------------------------------------------------------


def test_users_per_day():
    made = released(by=("day", "at"))
    expected = {(dt.date(2026, 1, 1),): 60, (dt.date(2026, 1, 8),): 30, (dt.date(2026, 3, 4),): 40}
    assert are_close(made, expected)
    assert made.spent["delta"] > 0
    segments = released(by=("month", "at"), per="c")
    assert {key for key, _ in counts(segments)} == {"DE", "FR"}


def test_exactly_the_periods_of_a_range_come_out():
    made = released(by=("month", "at"), between=("2026-01-02", dt.date(2026, 4, 1)))
    months = {(dt.date(2026, month, 1),): users for month, users in enumerate((30, 0, 40, 0), 1)}
    assert are_close(made, months)  # of January only the days from the second on
    assert made.spent["delta"] == 0
    assert made.guarantee.provenance.asked.between == ["2026-01-02", "2026-04-01"]
    assert "from 40-zCDP" in str(made.guarantee)
    assert "the range of days" in made.guarantee.provenance.public
    said = " ".join(notice.text for notice in made.notices())
    assert "The range of days is taken to be public. Exactly its periods are counted" in said
    assert "from 2026-01-02 to 2026-04-01 count, so the first and the last month are cut" in said


def test_exactly_the_list_in_each_period_comes_out():
    made = released(
        item="c", by=("week", "at"), items_from=["DE", "IT"], between=("2026-01-01", "2026-01-18")
    )
    weeks = [dt.date(2025, 12, 29), dt.date(2026, 1, 5), dt.date(2026, 1, 12)]
    expected = {(item, week): 0 for item in ("DE", "IT") for week in weeks}
    assert are_close(made, expected | {("DE", weeks[0]): 30, ("DE", weeks[1]): 15})
    assert made.spent["delta"] == 0
    said = " ".join(notice.text for notice in made.notices())
    assert "The list of items and the range of days are taken to be public" in said


def test_a_list_may_name_the_periods_itself(tmp_path):
    monday = dt.date(2026, 1, 5)
    (tmp_path / "list.csv").write_text("week,c\n2026-01-05,DE\n2026-03-02,FR\n")
    expected = {("DE", monday): 15, ("FR", dt.date(2026, 3, 2)): 20}
    for listed in (tmp_path / "list.csv", list(expected)):
        made = released(item="c", by=("week", "at"), items_from=listed)
        assert are_close(made, expected)
        assert made.spent["delta"] == 0
    made = released(by=("week", "at"), items_from=[monday, dt.date(2026, 1, 12)])
    assert are_close(made, {(monday,): 30, (dt.date(2026, 1, 12),): 0})


def test_a_range_without_a_list_leaves_out_rows_and_finds_items():
    made = released(item="c", by=("week", "at"), between=("2026-01-01", "2026-01-31"))
    assert {week for _, week in counts(made)} == {dt.date(2025, 12, 29), dt.date(2026, 1, 5)}
    assert made.spent["delta"] > 0


def test_a_user_within_a_day_has_one_day():
    """So that nothing is asked about how many items they have, and nothing can be hidden."""
    range_ = {"by": ("day", "at"), "between": ("2026-01-01", "2026-01-31")}
    made = released(**range_, protect="user-day")
    assert (made.settings["bound"], made.settings["hidden_users"]) == (1, 0)
    assert made.table["std_error"][0].as_py() == 0.112  # √(1∕80), rounded up to three digits
    assert len(made.guarantee.provenance.mechanisms) == 1
    assert len(released(**range_).guarantee.provenance.mechanisms) == 2
    assert "less than one in each" not in " ".join(made.summary())
    weeks = released(**range_, protect="user-week", max_items_per_user=2)
    assert "more than 2 of them within one week count as less" in " ".join(weeks.summary())


@pytest.mark.parametrize(
    ("period", "between", "said"),
    [
        ("day", ("2026-01-01", "2026-01-02"), "."),
        ("week", ("2026-01-05", "2026-01-18"), "."),
        ("week", ("2026-01-06", "2026-01-18"), ", so the first week is cut short."),
        ("week", ("2026-01-05", "2026-01-17"), ", so the last week is cut short."),
        ("week", ("2026-01-06", "2026-01-17"), ", so the first and the last week are cut short."),
        ("week", ("2026-01-06", "2026-01-11"), ", which is only part of that week."),
        ("month", ("2028-01-01", "2028-02-29"), "."),
        ("month", ("2028-01-01", "2028-02-28"), ", so the last month is cut short."),
        ("year", ("9999-01-01", "9999-12-30"), ", which is only part of that year."),
    ],
)
def test_which_periods_of_a_range_are_cut_short_is_said(period, between, said):
    made = released(by=(period, "at"), between=between)
    (notice,) = (notice.text for notice in made.notices() if notice.code == "periods")
    assert notice.endswith(f"from {between[0]} to {between[1]} count{said}")


# --- what is refused ---------------------------------------------------------------------------

WEEK, MARCH = {"by": ("week", "at")}, ("2026-03-01", "2026-03-31")
BEFORE_ANYTHING = {
    "no periods": ({"item": "c", "between": MARCH}, "a range of days is only for periods"),
    "nothing counted": ({}, "name at least one item column, or periods"),
    "one day": ({**WEEK, "between": ("2026-03-01",)}, "a range of days has a first and a last day"),
    "a text": ({**WEEK, "between": "2026-03-01"}, "a range of days has a first and a last day"),
    "backwards": ({**WEEK, "between": MARCH[::-1]}, "after its end on 2026-03-01: swap the two"),
    "no day": ({**WEEK, "between": ("2026-02-30", "2026-03-01")}, "^'2026-02-30' is not a day"),
    "a week": ({**WEEK, "between": ("2026-W10-1", MARCH[1])}, "'2026-W10-1' is not a day; write"),
    "a time": ({**WEEK, "between": (dt.datetime(2026, 1, 1),) * 2}, "year, month and day"),
    "a number": ({**WEEK, "between": (20260301, 20260331)}, "year, month and day"),
    "far": ({**WEEK, "between": ("0001-01-01", "0001-02-01")}, "lie between 0001-01-02 and"),
    "too far": ({**WEEK, "between": ("9999-01-01", "9999-12-31")}, "lie between 0001-01-02 and"),
    "too many": ({"by": ("day", "at"), "between": ("0001-01-02", "9999-12-30")}, "1,000,000"),
    "too many of a list": (
        {"item": "c", "by": ("day", "at"), "between": ("1900-01-01", "2100-01-01"),
         "items_from": [str(n) for n in range(14)]}, "1,000,000"),
    "nothing to list": ({**WEEK, "between": MARCH, "items_from": ["DE"]}, "no item column to list"),
    "no days in a list": ({**WEEK, "item": "c", "items_from": ["DE"]}, "'week'.*--between"),
    "no column of days": (
        {**WEEK, "item": "c", "items_from": pa.table({"c": ["DE"]})}, "no column 'week'.*--between"
    ),
    "a method": ({**WEEK, "between": MARCH, "method": "pcr"}, "its own method"),
    "an error": ({**WEEK, "between": MARCH, "relative_error": 0.1}, "no relative error"),
}  # fmt: skip


@pytest.fixture
def ledger(tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=500, delta=1e-4))
    return ledger


@pytest.mark.parametrize(("options", "says"), BEFORE_ANYTHING.values(), ids=BEFORE_ANYTHING.keys())
def test_what_cannot_be_meant_is_refused_before_anything_is_reserved(options, says, ledger):
    with pytest.raises(hc.InputError, match=says):
        released(**options, ledger=ledger, dataset="shop")
    assert kinds(ledger) == ["open"]


FAR = pa.array([-800_000, 4_000_000], pa.int32()).cast(pa.date32())  # beyond years 1 and 9999
NOT_SPENT = {
    "not a Monday": (["c"], [("DE", dt.date(2026, 1, 6))], "not the first of a week, a Monday"),
    "a time": (["c"], [("DE", dt.datetime(2026, 1, 5))], "is of type date"),
    "text": (["c"], [("DE", "2026-01-05")], "is of type date"),
    "twice": (["c"], [("DE", dt.date(2026, 1, 5))] * 2, "appears twice"),
    "NULL": (["c"], [("DE", None), ("DE", dt.date(2026, 1, 5))], "empty value in column 'week'"),
    "far years": ([], pa.table({"week": FAR}), "before the year 1 or after 9999"),
}


@pytest.mark.parametrize(("item", "listed", "says"), NOT_SPENT.values(), ids=NOT_SPENT)
def test_lists_with_days_that_no_period_begins_with(item, listed, says, ledger):
    with pytest.raises(hc.SourceError, match=says):
        released(item=item, **WEEK, items_from=listed, ledger=ledger, dataset="shop")
    assert ledger.books().left("shop").rho == 500


def test_text_that_looks_like_dates_is_no_time(ledger):
    for options in ({}, {"between": MARCH}):
        with pytest.raises(hc.SourceError, match="holds text, but a day needs dates"):
            released(by=("day", "text"), **options, ledger=ledger, dataset="shop")
    assert ledger.books().left("shop").rho == 500


# --- questions and ledgers ---------------------------------------------------------------------


def test_a_question_keeps_its_range_in_json():
    asked = Question(
        source="e.parquet", user="u", budget=BUDGET, by=("day", "at"),
        between=(dt.date(2026, 3, 1), "2026-03-31"),
    )  # fmt: skip
    assert asked.between == MARCH
    assert Question.from_json(asked.to_json()) == asked


def test_the_range_is_part_of_the_question(ledger, tmp_path):
    pq.write_table(EVENTS, tmp_path / "events.parquet")
    options = {"source": tmp_path / "events.parquet", "by": ("day", "at"), "ledger": ledger,
               "dataset": "shop", "data_version": "May"}  # fmt: skip
    made = [released(**options, between=days) for days in (MARCH, MARCH, ("2026-03-01",) * 2, None)]
    assert made[0].table.equals(made[1].table)
    assert kinds(ledger).count("settle") == 3


def test_a_ledger_takes_a_list_with_a_bound(ledger):
    released(item="c", items_from=["DE"], max_items_per_user=1, ledger=ledger, dataset="shop")
    released(by=("day", "at"), between=MARCH, max_items_per_user=1, ledger=ledger, dataset="shop")
    assert kinds(ledger).count("settle") == 2


def test_it_covers():
    """Of 360 days' intervals nearly all hold the truth: users have up to four days each."""
    chance = np.random.default_rng(5)
    users = np.repeat(np.arange(3000), 4)
    at = np.datetime64("2026-01-01") + chance.integers(0, 30, users.size)
    pairs = {*zip(users.tolist(), at.tolist(), strict=True)}
    true = [day for _, day in pairs]
    inside = []
    for seed in range(12):
        made = released(
            pa.table({"u": users, "at": at}), budget=hc.Budget(rho=0.1), by=("day", "at"),
            between=("2026-01-01", "2026-01-30"), unsafe_seed=seed,
        )  # fmt: skip
        inside += [
            row["lower"] <= true.count(row["day"]) <= row["upper"] for row in made.table.to_pylist()
        ]
    assert len(inside) == 360
    assert np.mean(inside) >= 0.92  # seeded: it is the same in every run
