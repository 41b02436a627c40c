"""Published numbers carry the digits that mean something, and never claim to be more precise."""

import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import headcount as hc
from headcount.outputs import render
from headcount.results.digits import rounded_interval

errors = st.floats(1e-9, 1e9)
values = st.floats(-1e9, 1e9)


def rounded(error, lower, upper):
    found = rounded_interval(np.array([error]), np.array([lower]), np.array([upper]))
    return tuple(float(numbers[0]) for numbers in found)


def test_a_standard_error_has_three_digits():
    assert rounded(12.3456, 75.81, 124.19) == (12.4, 75.8, 124.2)
    assert rounded(0.123456, 3.0009, 4.0001) == (0.124, 3.0, 4.001)
    assert rounded(12_345.6, 91_234.0, 191_234.0) == (12_400.0, 91_200.0, 191_300.0)
    assert rounded(7.1, 1.02, 2.0) == (7.1, 1.02, 2.0)
    assert rounded(0.0, 5.0, 5.0) == (0.0, 5.0, 5.0)


@given(errors, values, values)
def test_nothing_is_told_to_be_more_precise_than_it_is(error, lower, upper):
    shown, low, high = rounded(error, lower, upper)
    step = 10.0 ** max(np.floor(np.log10(error)) - 2, -6)
    assert error <= shown <= error + step * 1.001
    assert lower - step * 1.001 - abs(lower) * 1e-15 <= low <= lower
    assert upper <= high <= upper + step * 1.001 + abs(upper) * 1e-15


@given(errors, values)
def test_the_text_is_short(error, value):
    shown, low, high = rounded(error, value, value)
    places = -Decimal(repr(shown)).normalize().as_tuple().exponent
    assert len(Decimal(repr(shown)).normalize().as_tuple().digits) <= 3 or places >= 5
    for number in (low, high):
        assert -Decimal(repr(number)).as_tuple().exponent <= 6


@given(errors, values)
def test_what_was_rounded_stays(error, value):
    once = rounded(error, value, value)
    assert rounded(once[0], once[1], once[2])[1:] == once[1:] or once[0] > error


def test_every_form_says_the_same():
    events = pa.table({"u": range(3000), "i": ["tea"] * 3000})
    made = hc.release(events, user="u", item="i", epsilon=1, total=True)
    [row] = json.loads(render(made, "json"))["items"]
    assert list(row.values()) == [column[0].as_py() for column in made.table.columns]
    assert len(str(row["std_error"])) <= 5
    cells = render(made, "csv").decode().splitlines()[1].split(",")
    assert cells[2:] == [str(row[name]) for name in ("std_error", "lower", "upper")]
    assert all(len(str(number)) <= 7 for number in made.totals["total"].values())
