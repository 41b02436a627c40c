"""Pages of published files: what they say, and files that are none."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from headcount.errors import SourceError, VerificationError
from headcount.outputs import render
from headcount.pages import Document, Origin, release_page
from tests.pages.made import films, page_of, release_with, weekly
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
    "settings of another kind": lambda d: d["settings"].update(known_items=3, bound="x"),
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
        "headcount verify release.json --ledger LEDGER",
        "rationed",
    ):
        assert words in page.text


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
