"""Published numbers carry the digits that mean something, and never claim to be more precise."""

import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headcount as hc
from headcount.outputs import render
from headcount.results.digits import for_people, rounded_interval

errors = st.floats(1e-15, 1e9)
values = st.floats(-1e9, 1e9, allow_subnormal=False)  # which become 0 where digits are cut


def rounded(error, lower, upper):
    found = rounded_interval(np.array([error]), np.array([lower]), np.array([upper]))
    return tuple(float(numbers[0]) for numbers in found)


def test_a_standard_error_has_three_digits():
    assert rounded(12.3456, 75.81, 124.19) == (12.4, 75.8, 124.2)
    assert rounded(0.123456, 3.0009, 4.0001) == (0.124, 3.0, 4.001)
    assert rounded(12_345.6, 91_234.0, 191_234.0) == (12_400.0, 91_200.0, 191_300.0)
    assert rounded(7.1, 1.02, 2.0) == (7.1, 1.02, 2.0)
    assert rounded(0.0, 5.0, 5.0) == (0.0, 5.0, 5.0)
    assert rounded(1.2345e-9, 1.00067e-7, 2.00012e-7) == (1.24e-9, 1.0006e-7, 2.0002e-7)
    tiny = rounded(1.2345e-40, -1.2347e-39, 0.0)  # powers of ten are no exact floats there
    assert tiny == pytest.approx((1.24e-40, -1.235e-39, 0.0), rel=1e-15, abs=0)
    huge = rounded(1.2345e60, -1.2347e61, 5.4321e61)
    assert huge == pytest.approx((1.24e60, -1.235e61, 5.433e61), rel=1e-15)


def test_nothing_is_not_minus_nothing():
    found = [str(number) for lower in (0.0, -0.04) for number in rounded(10.0, lower, lower)]
    assert found == ["10.0", "0.0", "0.0", "10.0", "-0.1", "0.0"]


@given(errors, values, values)
def test_nothing_is_told_to_be_more_precise_than_it_is(error, lower, upper):
    shown, low, high = rounded(error, lower, upper)
    step = 10.0 ** (np.floor(np.log10(error)) - 2)
    assert error <= shown <= error + step * 1.001
    assert lower - step * 1.001 - abs(lower) * 1e-15 <= low <= lower
    assert upper <= high <= upper + step * 1.001 + abs(upper) * 1e-15


@given(errors, values)
def test_the_text_is_short(error, value):
    shown, low, high = rounded(error, value, value)
    assert len(Decimal(repr(shown)).normalize().as_tuple().digits) <= 3
    decimals = max(2 - int(np.floor(np.log10(error))), 1)
    for number in (low, high):
        assert number == value or -Decimal(repr(number)).as_tuple().exponent <= decimals


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (1234.5678, 12.3, "1,235"),
        (0.1234567, 0.0000123, "0.123457"),
        (0.0000001234567, 0.00000000123, "1.2346e-7"),
        (-7.606123e22, 1.62e20, "-7.6061e+22"),
        (10**17, 5.0, "100,000,000,000,000,000"),
        (0.0, 1e-12, "0.0000e+0"),
    ],
)
def test_numbers_for_people_have_the_digits_that_their_errors_leave_them(value, error, shown):
    assert for_people(value, error) == shown


@given(errors, values)
def test_what_was_rounded_stays(error, value):
    once = rounded(error, value, value)
    assert rounded(once[0], once[1], once[2])[1:] == once[1:] or once[0] > error


def test_sums_of_very_small_amounts_have_errors_of_their_size():
    """Errors were once a millionth at least, which said nothing about them."""
    spent = np.random.default_rng(1).lognormal(0, 1, 3000) * 1e-12
    events = pa.table({"u": range(3000), "i": ["tea"] * 3000, "x": spent})
    made = hc.release(events, user="u", item="i", rho=9, sum="x", mean="x", unsafe_seed=1)
    [row] = made.table.to_pylist()
    assert 0 < row["sum_x_std_error"] < spent.sum() / 20
    assert 0 < row["mean_x_std_error"] < spent.mean() / 20
    assert row["sum_x_lower"] < spent.sum() < row["sum_x_upper"]


def test_every_form_says_the_same():
    events = pa.table({"u": range(3000), "i": ["tea"] * 3000})
    made = hc.release(events, user="u", item="i", epsilon=1, total=True)
    [row] = json.loads(render(made, "json"))["items"]
    assert list(row.values()) == [column[0].as_py() for column in made.table.columns]
    assert len(str(row["std_error"])) <= 5
    cells = render(made, "csv").decode().splitlines()[1].split(",")
    assert cells[2:] == [str(row[name]) for name in ("std_error", "lower", "upper")]
    assert all(len(str(number)) <= 7 for number in made.totals["total"].values())
