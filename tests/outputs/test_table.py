"""The table for people: nothing in an item may steer the terminal."""

import unicodedata
from datetime import date

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from headcount.outputs import render
from headcount.outputs.table import visible
from tests.outputs.releases import release_of


def lines(**items):
    return render(release_of(items), "table").decode().splitlines()


def test_columns_are_aligned():
    assert lines(item=["tea", "milk and bread"]) == [
        "item            count  std_error  lower  upper",
        "──────────────  ─────  ─────────  ─────  ─────",
        "milk and bread    101        2.5   96.1  105.9",
        "tea               100        2.5   95.1  104.9",
    ]


def test_periods_alone_are_in_their_order():
    days = pa.array([date(2026, 1, day) for day in (2, 3, 1)], pa.date32())
    shown = [line.split()[0] for line in lines(day=days)[2:]]
    assert shown == ["2026-01-01", "2026-01-02", "2026-01-03"]
    release = release_of({"day": days})
    first = render(release, "table", limit=1).decode().splitlines()[2:]
    assert first[0].startswith("2026-01-01") and first[1] == "… and 2 more"
    assert [row[1:11] for row in render(release, "csv").decode().splitlines()[1:]] == [
        "2026-01-01",
        "2026-01-03",
        "2026-01-02",
    ]
    assert [line.split()[1] for line in lines(day=days, item=["a", "b", "c"])[2:]] == list("cba")


def test_items_are_shown_as_they_are_and_counts_for_reading():
    (shown,) = lines(year=[20240], exact=[0.123456], ok=[True])[2:]
    assert shown.split()[:3] == ["20240", "0.123456", "True"]
    release = release_of({"item": ["a"]})
    table = release.table.set_column(1, "count", pa.array([1234567]))
    assert "1,234,567" in render(type(release)(table, release.guarantee), "table").decode()


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\u202eright to left", "\\u202eright to left"),
        ("bell\a \x9b31m", "bell\\x07 \\x9b31m"),
        ("line\u2028separator", "line\\u2028separator"),
        ("é 漢字 😀", "é 漢字 😀"),
        ("non\u00a0breaking", "non\u00a0breaking"),
    ],
)
def test_control_characters_are_escaped(item, shown):
    assert visible(item) == shown
    assert lines(item=[item])[2].startswith(shown)


def test_a_blank_name_can_be_seen():
    names = {line.split("  ")[0] for line in lines(item=["", " \u00a0", "a b"])[2:]}
    assert names == {'""', '" \u00a0"', "a b"}


@given(st.text())
def test_no_control_character_is_ever_shown(text):
    kinds = {unicodedata.category(char) for char in visible(text)}
    assert not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(st.lists(st.text(), min_size=1, max_size=5, unique=True))
def test_one_line_for_each_item(items):
    text = render(release_of({"item": pa.array(items)}), "table").decode()
    assert text.count("\n") == 2 + len(items)


def test_column_names_are_escaped():
    assert "\x1b" not in lines(**{"\x1b[31m": ["a"]})[0]


def test_a_long_name_is_shown_whole_and_spoils_one_line_only():
    shown = lines(item=["x" * 10_000, "short"])
    assert "x" * 10_000 in shown[3]
    assert len(shown[2]) < 200


# --- on a terminal of so many columns -------------------------------------------------------------


def wide(release, columns):
    """A release with rows, sums and means beside its counts."""
    table = release.table
    for name, value, error in columns:
        for column, number in (
            (name, value),
            (f"{name}_std_error", error),
            (f"{name}_lower", value - 2 * error),
            (f"{name}_upper", value + 2 * error),
        ):
            numbers = [number * (row + 1) for row in range(table.num_rows)]
            table = table.append_column(column, pa.array(numbers, pa.float64()))
    return type(release)(table, release.guarantee)


SUMS = [("rows", 15_000.0, 360.0), ("sum_amount", 300_000.0, 4_500.0), ("mean_weight", 70.0, 1.2)]


def test_a_table_that_fits_is_left_alone():
    release = release_of({"item": ["tea", "milk and bread"]})
    whole = render(release, "table")
    assert render(release, "table", width=46) == whole
    assert render(wide(release, SUMS), "table", width=1000) == render(wide(release, SUMS), "table")


def test_a_wide_table_has_errors_beside_the_numbers_and_says_what_is_missing():
    release = wide(release_of({"item": ["tea", "milk"]}), SUMS)
    assert render(release, "table", width=80).decode().splitlines() == [
        "item    count ±        rows ±     sum_amount ±  mean_weight ±",
        "────  ─────────  ────────────  ───────────────  ─────────────",
        "milk  101 ± 2.5  15,000 ± 360  300,000 ± 4,500     70.0 ± 1.2",
        "tea   100 ± 2.5  30,000 ± 720  600,000 ± 9,000    140.0 ± 2.4",
        "± is the standard error. The 95 % intervals did not fit: they reach 1.96",
        "standard errors to each side.",
    ]


def test_what_does_not_fit_beside_the_names_goes_below():
    release = wide(release_of({"item": ["tea", "milk"]}), SUMS)
    assert render(release, "table", width=40).decode().splitlines() == [
        "item    count ±        rows ±",
        "────  ─────────  ────────────",
        "milk  101 ± 2.5  15,000 ± 360",
        "tea   100 ± 2.5  30,000 ± 720",
        "",
        "item     sum_amount ±  mean_weight ±",
        "────  ───────────────  ─────────────",
        "milk  300,000 ± 4,500     70.0 ± 1.2",
        "tea   600,000 ± 9,000    140.0 ± 2.4",
        "± is the standard error. The 95 %",
        "intervals did not fit: they reach 1.96",
        "standard errors to each side.",
    ]


@given(
    st.lists(st.text(max_size=100), min_size=1, max_size=4, unique=True),
    st.integers(42, 200),
    st.integers(0, 3),
)
def test_nothing_is_wider_than_the_terminal_and_no_number_is_lost(items, width, sums):
    release = wide(release_of({"item": pa.array(items)}), SUMS[:sums])
    text = render(release, "table", width=width).decode()
    assert all(cell_len(line) <= width for line in text.splitlines())
    for name, value, error in SUMS[:sums]:
        assert name in text and f"{value:,.0f}" in text and f"{error:,.0f}"[:1] in text


def test_a_long_name_is_cut_on_a_terminal():
    release = release_of({"item": ["x" * 10_000, "漢" * 100], "kind": ["short", "short"]})
    *_, one, other = render(release, "table", width=80).decode().splitlines()
    assert cell_len(one) <= 80 and "…" in one and "short" in one
    assert cell_len(other) <= 80 and "…" in other


def test_counts_of_a_sum_called_lower_are_not_taken_for_an_interval():
    release = wide(release_of({"item": ["tea"]}), [*SUMS, ("sum_lower", 5.0, 1.0)])
    text = render(release, "table", width=60).decode()
    assert "sum_lower ±" in text and "5.0 ± 1.0" in text
