"""Pages of published files: what they say, and files that are none."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from headcount.errors import SourceError, VerificationError
from headcount.outputs import render
from headcount.pages import Document, Origin, release_page
from headcount.pages.charts import bars_of
from headcount.privacy.mechanisms.base import Total
from headcount.results.provenance import LIST_OF_ITEMS, RANGE_OF_DAYS, Provenance
from headcount.results.release import Release, metadata_of
from tests.pages.made import ORIGIN, daily, films, page_of, rated, release_with, weekly
from tests.pages.parsed import Page

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*/*.[jp][sa]*"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_release_there_ever_was_has_a_page(path):
    document = Document.of_file(path)
    page = Page(release_page(document, Origin()).decode())
    assert len(page.data["items"]) == len(document)


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_a_file_has_the_page_that_its_release_had(tmp_path, form):
    release = films(30)
    path = tmp_path / f"counts.{form}"
    path.write_bytes(render(release, form))
    assert release_page(Document.of_file(path), Origin()).decode() == page_of(release, Origin())


BROKEN = {
    "no guarantee": lambda d: d.pop("guarantee"),
    "no items": lambda d: d.pop("items"),
    "items of another kind": lambda d: d.update(items=[1, 2]),
    "an item without a count": lambda d: d["items"][0].pop("count"),
    "an item with more columns": lambda d: d["items"][1].update(more=1),
    "a count that is text": lambda d: d["items"][1].update(count="many"),
    "a count that is not finite": lambda d: d["items"][1].update(count="inf"),
    "a value that is a list": lambda d: d["items"][1].update(film=[1]),
    "a budget that is text": lambda d: d["guarantee"].update(epsilon="3"),
    "a budget that is negative": lambda d: d["guarantee"].update(delta=-1),
    "a budget that is true": lambda d: d["guarantee"].update(rho=True),
    "nothing spent": lambda d: d["spent"].clear(),
    "private in words": lambda d: d["guarantee"].update(private="yes"),
    "a unit that is a number": lambda d: d["guarantee"].update(unit=5),
    "an unknown promise": lambda d: d["guarantee"].update(unheard_of=1),
    "a step that is a number": lambda d: d["provenance"].update(mechanisms=[5]),
    "a day that is a number": lambda d: d["provenance"].update(date=5),
    "a part of δ that is text": lambda d: d["guarantee"].update(
        delta_split={"selection": "1", "conversion": 0}
    ),
    "other parts of δ": lambda d: d["guarantee"].update(delta_split={"luck": 1e-7}),
    "a charge without an entry": lambda d: d["provenance"].update(ledger={"dataset": "x"}),
    "a charge of another kind": lambda d: d["provenance"].update(
        ledger={"dataset": "x", "reservation": "<b>"}
    ),
    "settings of another kind": lambda d: d["settings"].update(known_items=3, bound="x"),
    "a range of one day": lambda d: d["provenance"].update(asked={"between": ["2026-01-01"]}),
    "a condition that is a number": lambda d: d["provenance"].update(asked={"where": 1}),
    "a question that is a list": lambda d: d["provenance"].update(asked=["where"]),
    "days that are none": lambda d: (
        d["settings"].update(by={"period": "day", "column": "at", "timezone": None}),
        d["provenance"].update(asked={"between": ["2026-01-01", "soon"]}),
    ),
    "settings that are a list": lambda d: d.update(settings=[]),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_no_release_is_refused(tmp_path, broken):
    document = json.loads(render(films(3), "json"))
    BROKEN[broken](document)
    path = tmp_path / "counts.json"
    path.write_text(json.dumps(document))
    with pytest.raises(
        (SourceError, VerificationError), match="not a release that headcount wrote"
    ):
        Document.of_file(path)


def test_a_page_says_what_was_released_from_what_and_when():
    page = Page(page_of(films(5)))
    for words in (
        "Users per film",
        "5 noisy counts",
        "events.parquet",
        "one value of user_id",
        "17 November 2026, 20:05 UTC",
        "films , entry 7",
        "each with a 95 % interval.",
        "r 0.1 the target relative error of a count",
        "Each user. The promise compares what could be released from the data with and without all",
        "headcount verify release.json --ledger LEDGER",
        "rationed",
    ):
        assert words in page.text


def stating(release, **values):
    """Return the text of the page of a release whose file says this as well, without a ledger."""
    stated = replace(release.guarantee, **values)
    table = release.table.replace_schema_metadata(metadata_of(stated))
    return Page(page_of(Release(table, stated), Origin())).text


def test_a_page_says_of_the_ledger_what_its_file_says():
    charged = Provenance(ledger={"dataset": "films <b>", "reservation": 6})
    text = stating(films(3), provenance=charged)
    assert "Charged to films <b> , reserved by entry 6" in text
    assert "films <b> (reserved by entry 6) in its ledger" in text and "headcount verify" in text
    for release in (films(3), films(3, private=False)):
        text = Page(page_of(release, Origin())).text
        assert "It was not charged to a ledger" in text and "headcount verify" not in text
    text = Page(page_of(films(3), replace(ORIGIN, reservation=6))).text
    assert "films (entry 7, reserved by entry 6) in its ledger" in text
    old = stating(films(3), format=None)
    assert "older form" in old and "headcount verify" in old and "not charged" not in old


@pytest.mark.parametrize(
    ("public", "said"),
    [
        ((), "to have enough people"),
        ((LIST_OF_ITEMS,), "All of them are here, including items with no users."),
        ((RANGE_OF_DAYS,), "Every week of it is here, including those with no users."),
        ((LIST_OF_ITEMS, RANGE_OF_DAYS), "for every week of the range"),
    ],
)
def test_what_is_missing_follows_from_what_was_public(public, said):
    settings = {"known_items": 3, "bound": 3} if public else {}
    made = stating(weekly(), settings=settings, provenance=Provenance(public=public))
    missing = made.partition("What is not here, and why")[2].partition("How it was made")[0]
    assert said in missing
    assert ("public list" in missing) == (LIST_OF_ITEMS in public)


def test_a_single_count_is_not_spoken_of_as_several():
    page = Page(page_of(films(1)))
    assert "1 noisy count, with a 95 % interval." in page.text
    assert "The only one, with its 95 % interval." in page.text
    assert "All counts by rank" not in page.text  # the bars show them all
    assert "All counts by rank" in Page(page_of(films(21))).text


def test_an_empty_release_is_a_page_too(tmp_path):
    nothing = release_with(pa.table({"film": pa.array([], pa.string())}), np.array([]))
    assert "Nothing was released" in Page(page_of(nothing)).text
    path = tmp_path / "counts.json"
    path.write_bytes(render(nothing, "json"))
    assert len(Document.of_file(path)) == 0


def test_what_is_not_private_says_so_and_promises_nothing():
    page = Page(page_of(films(5, private=False)))
    assert "NOT PRIVATE" in page.text
    assert "The promise to each person" not in page.text
    assert "The promise to each person" in Page(page_of(films(5))).text


def test_periods_are_told_by_their_name_and_their_dates():
    assert Document.of_release(weekly()).period() == "week"
    texts = release_with(pa.table({"week": ["first", "2026-01-05"]}), np.array([5.0, 4.0]))
    assert Document.of_release(texts).period() is None
    assert Document.of_release(films(3)).period() is None
    assert "Users per query, by week" in Page(page_of(weekly())).text


def test_numbers_have_the_digits_that_their_standard_errors_leave():
    text = Page(page_of(rated())).text
    for words in (
        "2.9880 (2.9853 to 2.9907)",
        "3.0000 (2.9973 to 3.0027)",
        "98,765 (98,306 to 99,225)",
        "0.250 (0.074 to 0.426)",
    ):
        assert words in text
    table = text[text.index("The table") :]
    assert "98,765 234 98,306 99,225 2.9880 0.0014 2.9853 2.9907" in table


def test_the_terminal_and_the_page_write_numbers_alike():
    release = rated()
    lines = render(release, "table").decode().splitlines()[2:]
    document = Document.of_release(release)
    shown = [document.row_for_people(row) for row in document.rows]
    assert [line.split()[1:] for line in lines] == shown


def test_totals_are_near_the_top_with_their_intervals():
    totals = [Total("total", 12_345, 7.1), Total("other", -3, 7.1)]
    release = release_with(pa.table({"film": ["a"]}), np.array([300.0]), totals=totals)
    top = Page(page_of(release)).text.partition("The promise to each person")[0]
    assert "Users with an item 12,345 (12,331.1 to 12,358.9)" in top
    assert "Users with an item that is not listed 0 (0.0 to 13.9)" in top
    assert "Users with an item" not in Page(page_of(films(3))).text


def test_periods_alone_are_in_their_order_and_over_time_comes_first():
    release, text = daily(), page_of(daily())
    days = release.table["day"].to_pylist()
    assert days != sorted(days)  # the release itself has the highest counts first
    document = Document.of_release(release)
    assert [row[0] for row in document.rows_for_people()] == sorted(map(str, days))
    assert [row[0] for row in document.rows] == list(map(str, days))
    bars = [bar.label for bar in bars_of(document, document.measures()[0]).rows]
    assert bars == sorted(bars) and len(bars) == 20 and "2026-01-30" in bars
    assert text.index('id="time"') < text.index('id="bars-1"')
    table = Page(text).text.partition("The table")[2]
    assert table.index("2026-01-01") < table.index("2026-01-02") < table.index("2026-01-25")
    assert "How many distinct users there were on each day" in Page(text).text
    assert Page(text).data["items"][0]["day"] == str(days[0])


def test_periods_of_items_stay_in_the_order_of_their_counts():
    text, document = page_of(weekly()), Document.of_release(weekly())
    assert not document.is_series and document.rows_for_people() == document.rows
    assert text.index('id="bars-1"') < text.index('id="time"')
    assert "each value of query , by week" in Page(text).text


def test_sums_and_means_are_called_so():
    text = Page(page_of(rated())).text
    assert "Sum of amount" in text and "Mean of rating" in text
    assert (
        "with the sum of amount , the mean of rating and the sum of steps : 3 rows of noisy numbers"
        in text
    )
    assert "noisy counts" not in text and "highest values of" not in text
