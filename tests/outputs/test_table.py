"""The table for people: nothing in an item may steer the terminal."""

import unicodedata
from datetime import date

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        ("", ""),
    ],
)
def test_control_characters_are_escaped(item, shown):
    assert visible(item) == shown
    assert lines(item=[item])[2].startswith(shown)


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
