"""The pictures say what the numbers say."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.pages import Document
from headcount.pages.charts import (
    BARS,
    POINTS,
    bars_of,
    curve_of,
    over_time,
    parts_of,
    shares_of,
)
from headcount.pages.scales import steps_around
from headcount.results.release import Release, metadata_of
from tests.pages.made import films, measure, page_of, release_with, weekly


def document(counts, errors=10.0):
    names = [f"i{n}" for n in range(len(counts))]
    return Document.of_release(release_with(pa.table({"x": names}), np.array(counts), errors))


def numbers(path):
    return [float(number) for number in re.findall(r"-?[\d.]+", path)]


def test_bars_are_as_long_as_their_numbers():
    made = document([1000.0, 500.0, 0.0], errors=[100.0, 0.0, 0.0])
    chart = bars_of(made, made.measures()[0])
    whole = 1000 + 1.959964 * 100
    assert [row.label for row in chart.rows] == ["i0", "i1", "i2"]
    assert [row.width for row in chart.rows] == [
        pytest.approx(100 * count / whole, abs=0.01) for count in (1000, 500, 0)
    ]
    assert chart.rows[0].low == pytest.approx(100 * (2000 - whole) / whole, abs=0.01)
    assert chart.rows[0].high == 100
    assert (chart.rows[0].value, chart.rows[0].interval) == ("1,000", "804 to 1,196")


def test_means_are_those_of_the_highest_counts_not_the_luckiest():
    number = BARS + 5
    rising = measure("mean_rating", list(range(number)), [0.5] * number)
    names = pa.table({"x": [f"i{n}" for n in range(number)]})
    release = release_with(names, np.arange(number, 0, -1) * 100.0, more=[rising])
    made = Document.of_release(release)
    counts, means = (bars_of(made, one) for one in made.measures())
    assert [row.label for row in means.rows] == [row.label for row in counts.rows]
    assert f"Of the {BARS} items with the highest counts" in page_of(release)


def test_a_picture_shows_as_many_bars_as_can_be_read():
    made = Document.of_release(films(100))
    assert len(bars_of(made, made.measures()[0]).rows) == BARS


def test_the_curve_falls_from_the_first_to_the_last_within_its_band():
    made = Document.of_release(films(10_000))
    chart = curve_of(made.measures()[0])
    line, band = numbers(chart.line), numbers(chart.band)
    across, down = line[::2], line[1::2]
    assert (across[0], across[-1]) == (0, 1000)
    assert across == sorted(across) and down == sorted(down) and len(across) <= POINTS
    above, below = band[1 : len(line) : 2], band[len(line) + 1 :: 2][::-1]
    assert all(a <= d <= b for a, d, b in zip(above, down, below, strict=True))
    assert [tick.label for tick in chart.ranks] == ["1", "10", "100", "1,000", "10,000"]


@given(st.floats(1, 1e9), st.floats(1, 1e6))
def test_steps_enclose_a_range_and_are_few(low, factor):
    steps = steps_around(low, low * factor)
    assert steps[0] <= low and low * factor <= steps[-1]
    assert 2 <= len(steps) <= 6 and steps == sorted(set(steps))


def test_steps_are_round_numbers():
    assert steps_around(30, 400) == [20, 50, 100, 200, 500]
    assert steps_around(1, 1e6) == [1, 100, 1e4, 1e6]
    assert steps_around(1000, 1000) == [1000, 2000]


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=40))
def test_no_place_is_outside_of_its_picture(counts):
    made = document(sorted(counts, reverse=True))
    measure = made.measures()[0]
    chart, curve = bars_of(made, measure), curve_of(measure)
    assert all(0 <= place <= 100 for r in chart.rows for place in (r.start, r.low, r.high))
    if curve is not None:
        assert all(0 <= n <= 1000 for n in numbers(curve.line) + numbers(curve.band))
        assert all(0 <= tick.at <= 100 for tick in curve.counts)


def test_a_period_that_was_withheld_is_a_gap():
    chart = over_time(Document.of_release(weekly(missing=3)))
    assert (chart.period, chart.first, chart.last) == ("week", "2026-01-05", "2026-02-09")
    maps, news = chart.panels
    assert [len(numbers(path)) // 2 for path in news.lines] == [3, 2]
    assert [len(numbers(path)) // 2 for path in maps.lines] == [6]
    assert news.summary.startswith("5 of 6 released")


def test_a_single_period_is_a_dot():
    chart = over_time(Document.of_release(weekly(1, missing=1)))
    assert [panel.dots[0][0] for panel in chart.panels] == [50]


def test_what_was_spent_is_a_share_of_the_budget():
    rho, delta = shares_of(Document.of_release(films(3)))
    assert (rho.name, rho.percent) == ("ρ", 50.0)
    assert (delta.name, delta.percent, delta.aside) == ("δ", 30.0, 10.0)
    assert delta.words == (
        "1e-06, of which 9e-07 is for choosing which items to publish (3e-07 used) and 1e-07 for "
        "converting ρ into ε"
    )


def test_delta_is_told_in_its_parts_as_far_as_they_are_known():
    release = films(3)
    whole = {"rho": 0.0, "delta": release.guarantee.delta_split["selection"]}
    assert "(all used)" in delta_of(replace(release.guarantee, spent=whole)).words
    old = delta_of(replace(release.guarantee, delta_split={}))
    assert (old.words, old.aside) == (
        "3e-07 of 1e-06 (30 %), for choosing which items to publish", 0.0,
    )  # fmt: skip
    listed = {**release.settings, "pure_zcdp": True}
    pure = delta_of(replace(release.guarantee, settings=listed))
    assert (pure.words, pure.aside) == ("1e-06, all of it for converting ρ into ε", 100.0)


def delta_of(guarantee):
    """Return what the page of a release with this guarantee says of δ."""
    return shares_of(replace(Document.of_release(films(3)), guarantee=guarantee))[1]


def spending(release, parts):
    """Return a release whose account says what was spent on what."""
    settings = {**release.settings, "spent_on": parts}
    stated = replace(release.guarantee, settings=settings)
    return Release(release.table.replace_schema_metadata(metadata_of(stated)), stated)


def test_what_rho_was_spent_on_is_told_by_purpose():
    half = {"rho": films(3).guarantee.rho / 2, "delta": 0.0}
    made = spending(films(3), {"finding <b>items</b>": half, "counting": half})
    found, counted = parts_of(Document.of_release(made))
    assert (found.purpose, found.percent, counted.percent) == ("finding <b>items</b>", 50.0, 50.0)
    assert "<li>finding &lt;b&gt;items&lt;/b&gt;: " in page_of(made)
    assert parts_of(Document.of_release(films(3))) == []
    assert "What ρ was spent on" not in page_of(films(3))


@pytest.mark.parametrize(
    "parts", [[], 3, {"a": 3}, {"a": {}}, {"a": {"rho": "1"}}, {"a": {"rho": -1.0}}]
)
def test_a_page_is_not_made_of_parts_that_are_no_numbers(parts):
    with pytest.raises((TypeError, ValueError, KeyError)):
        Document.of_release(spending(films(3), parts))
