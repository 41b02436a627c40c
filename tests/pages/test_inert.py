"""Whatever items, columns, files and titles are called, a page has it as text and no more."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.outputs.escapes import steers, visible
from headcount.pages import Origin
from headcount.pages.html import unbroken
from headcount.results.canonical import document_of
from headcount.results.provenance import LONGEST, shortened
from tests.pages.made import NASTY, page_of, release_with
from tests.pages.parsed import Page

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40) | st.sampled_from(NASTY)
TAGS = st.text(st.sampled_from("<>/!-scriptSCRIPT \"'=&;{}%\\u0"), max_size=30)


def made(name, column, title, source):
    release = release_with(pa.table({column: [name, name + "2"]}), np.array([20.0, 10.0]))
    return release, Page(page_of(release, Origin(source, title, None, 3, source), title=title))


_, PLAIN = made("x", "x", "x", "x")


@given(TEXTS | TAGS, TEXTS | TAGS, TEXTS | TAGS, TEXTS | TAGS)
def test_any_name_leaves_the_structure_of_the_page_as_it_is(name, column, title, source):
    column = column if column not in ("count", "std_error", "lower", "upper") else "x"
    release, page = made(name, column, title or "x", source)
    assert page.elements == PLAIN.elements
    assert page.addresses == PLAIN.addresses == ["#content"]
    assert page.scripts[2:] == PLAIN.scripts[2:]
    assert page.data == document_of(release.table)


@given(TEXTS)
def test_nothing_on_a_page_steers_how_it_is_shown(name):
    _, page = made(name, "x", "x", "x")
    assert all(not steers(char) or char == "\n" for char in "".join(page.words))


@pytest.mark.parametrize("name", NASTY)
def test_a_name_can_be_read(name):
    _, page = made(name, "x", "x", "x")
    assert visible(shortened(name if name.strip() else f'"{name}"')) in page.words


def test_no_tag_begins_in_the_data():
    text = page_of(release_with(pa.table({"x": NASTY}), np.arange(len(NASTY))))
    data = re.search(r'id="data">(.*?)</script>', text, flags=re.S)[1]
    assert "<" not in data
    assert [item["x"] for item in json.loads(data)["items"]] == NASTY[::-1]


def test_what_is_long_is_cut_where_it_is_shown():
    assert shortened("A" * LONGEST) == "A" * LONGEST
    assert shortened("A" * 10_000) == "A" * (LONGEST - 1) + "… (10,000 characters)"
    release = release_with(pa.table({"x": ["A" * 10_000]}), np.array([5.0]))
    assert page_of(release).count("A" * 10_000) == 1  # in the data, whole
    assert all("A" * LONGEST not in words for words in Page(page_of(release)).words)


def test_numbers_stay_whole_in_text_that_is_escaped():
    assert unbroken("<b> 1.5e-6 & \u202e") == (
        '&lt;b&gt; <span class="whole">1.5e-6</span> &amp; \\u202e'
    )


def test_the_policy_lets_nothing_out_and_runs_one_program():
    policy = re.search(
        r'http-equiv="Content-Security-Policy" content="([^"]*)"',
        page_of(release_with(pa.table({"x": ["a"]}), np.array([5.0]))),
    )[1]
    parts = dict(part.split(" ", 1) for part in policy.split("; "))
    assert parts["default-src"] == parts["base-uri"] == parts["form-action"] == "'none'"
    for name in ("script-src", "style-src"):
        assert re.fullmatch(r"'sha256-[A-Za-z0-9+/=]{44}'", parts.pop(name))
    assert set(parts) == {"default-src", "base-uri", "form-action"}
