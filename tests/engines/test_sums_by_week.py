"""Sums where a user's rows within a week are what is protected."""

import datetime as dt
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.engines import Session
from headcount.inputs import Request, open_source
from headcount.inputs.periods import Periods, in_periods
from headcount.privacy.questions import Ration
from headcount.views.engine_view import EngineView
from tests.engines.test_sums import QUANTITIES, STRANGE, assert_one_bin, questions, values
from tests.privacy.amounts import PlainAmounts

MONDAY = dt.date(2024, 1, 1)
# A user within a week may have seven days' items. Some of the cells are listed.
DAYS = Periods("day", "when", None, "user-week")
CELLS = [(f"i{n % 2}", MONDAY + dt.timedelta(n)) for n in range(12)]


def weekly(visits, put=None, **choices):
    """Ask about the values of visits: a user, an item, the number of a day, and a value."""
    users, items, days, numbers = ([visit[n] for visit in visits] for n in range(4))
    events = pa.table(
        {
            "who": pa.array(users, pa.string()),
            "what": pa.array(items, pa.string()),
            "when": pa.array([MONDAY + dt.timedelta(day) for day in days], pa.date32()),
            "x": pa.array(numbers, pa.float64()),
        }
    )
    call = put(events) if put else {"source": events}
    with Session() as session:
        opened = open_source(
            session, call["source"], Request(call.get("table"), engine=call.get("engine"))
        )
        by_day = in_periods(opened, "who", ["what", "x"], DAYS, with_person=True)
        view = EngineView(by_day, "who", ["what", "day"], one_snapshot=True, values=["x"])
        listed = [[cell[n] for cell in CELLS] for n in (0, 1)]
        return questions(view.amounts(), pa.table(listed, ["what", "day"]), **choices)


def weekly_expected(visits, **choices):
    """What plain Python says, of units that are a user and the number of a week."""
    rows = [
        ((user, day // 7), (item, MONDAY + dt.timedelta(day)), {"x": value})
        for user, item, day, value in visits
    ]
    return questions(PlainAmounts(rows), CELLS, **choices)


visit = st.tuples(st.sampled_from("ab"), st.sampled_from(["i0", "i1"]), st.integers(0, 13), values)
OF_WEEKS = {"rations": (3, 30), "first": 4}


@settings(max_examples=10, deadline=None)
@given(st.lists(visit, min_size=1, max_size=25), st.integers(0, 24))
def test_the_rows_of_a_user_within_a_week_move_what_is_paid_for(visits, place):
    """Whatever the user has in other weeks."""
    user, _, day, _ = visits[place % len(visits)]
    visits = [*visits, ("c", "i0", 0, 1.0)]  # of an empty table nothing is known
    rest = [row for row in visits if (row[0], row[2] // 7) != (user, day // 7)]
    whole, less = weekly(visits, **OF_WEEKS), weekly(rest, **OF_WEEKS)
    assert whole == weekly_expected(visits, **OF_WEEKS)
    each = iter(zip(whole, less, strict=True))
    for _ in 2 * QUANTITIES[4:]:  # how much, and middle values
        assert_one_bin(*next(each))
    for _ in QUANTITIES[4:]:
        assert_one_bin(*next(each))
        for bits in OF_WEEKS["rations"]:
            moved = np.subtract(*next(each)).tolist()
            assert sum(added**2 for added in moved) <= Ration(6, bits).squared
            assert all(
                (cell_day - MONDAY).days // 7 == day // 7
                for added, (_, cell_day) in zip(moved, CELLS, strict=True)
                if added
            )


# SQLite has no type of times.
@pytest.mark.parametrize("engine", ["polars", "postgres", "spark"])
def test_users_within_a_week_on_every_engine(engine, on_engine):
    chance = random.Random(5)
    visits = [
        (chance.choice("abc"), f"i{chance.randrange(2)}", chance.randrange(14), value)
        for value in STRANGE * 4
    ]
    choices = {**OF_WEEKS, "rations": (20,)}
    found = weekly(visits, lambda events: on_engine(engine, events), **choices)
    assert found == weekly_expected(visits, **choices)
