"""The page of a release in a browser: drawn, searched, sorted, saved, and silent."""

import csv
import io
import json
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pyarrow as pa
import pytest

from headcount.outputs import render
from headcount.results.canonical import fingerprint, fingerprint_of_document
from tests.pages.made import NASTY, daily, films, page_of, rated, release_with, weekly

ROWS = 25
PHONE = 375
AXE = {"resultTypes": ["violations"]}  # nothing else is reported, which takes a third of the time


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write the page of a release; return its address."""
    folder = tmp_path_factory.mktemp("pages")

    def write(release, name="page"):
        path = folder / f"{name}.html"
        path.write_text(page_of(release), encoding="utf-8")
        return path.as_uri()

    return write


@pytest.fixture(scope="module")
def large(written):
    return written(films(2000), "large")


def column(page, number):
    cells = page.locator(f"#rows tbody tr td:nth-child({number})")
    return cells.all_inner_texts()


def test_a_page_is_drawn_and_does_nothing_else(opened, large, written):
    address = written(weekly(), "weekly")
    for target, pictures in ((large, {"bar": 20, "plot": 1}), (address, {"bar": 11, "panel": 2})):
        with opened(target) as (page, noticed):
            for kind, number in pictures.items():
                drawn = page.locator(f"svg.{kind}")
                assert drawn.count() == number
                box = drawn.first.bounding_box()
                assert box["width"] > 100 and box["height"] > 10
            assert page.locator("path.curve").first.bounding_box()["width"] > 100
            filled = "getComputedStyle(document.querySelector('.fill')).fill"
            assert page.evaluate(filled) == "rgb(44, 98, 184)"  # the style sheet is applied
            assert noticed.requests == [target]
            assert noticed.messages == []


def test_searching_sorting_and_turning_pages(opened, large):
    with opened(large) as (page, noticed):
        assert column(page, 1) == [f"film {n}" for n in range(ROWS)]
        assert page.inner_text("#status") == "1 to 25 of 2,000"
        page.click("#next")
        assert column(page, 1) == [f"film {n}" for n in range(ROWS, 2 * ROWS)]
        page.click("#previous")
        assert page.is_disabled("#previous")

        page.fill("#search", "FILM 19")
        assert page.inner_text("#status") == "1 to 25 of 111"
        assert column(page, 1)[:2] == ["film 19", "film 190"]
        page.fill("#search", "nothing like it")
        assert page.inner_text("#status") == "No row matches"
        page.fill("#search", "")

        count = page.get_by_role("button", name="count")
        count.click()
        assert page.get_attribute("th:nth-child(2)", "aria-sort") == "descending"
        assert column(page, 1)[0] == "film 0"
        count.click()
        assert page.get_attribute("th:nth-child(2)", "aria-sort") == "ascending"
        assert column(page, 1)[0] == "film 1999"
        page.get_by_role("button", name="film").click()
        assert column(page, 1)[:3] == ["film 0", "film 1", "film 2"]
        assert page.get_attribute("th:nth-child(2)", "aria-sort") is None
        assert noticed.messages == [] and len(noticed.requests) == 1


def saved(page, button):
    with page.expect_download() as download:
        page.click(button)
    return download.value.path().read_bytes()


ODD = pa.table(
    {
        "name": [*NASTY, None],
        "number": [2**60 + 1, *range(len(NASTY))],
        "share": [float(n) for n in range(len(NASTY) + 1)],
        "flag": [n % 2 == 0 for n in range(len(NASTY) + 1)],
    }
)


@pytest.mark.parametrize("private", [True, False])
def test_what_is_saved_is_the_release(opened, written, private):
    release = release_with(ODD, np.arange(len(ODD)) + 0.25, private=private)
    with opened(written(release, "odd")) as (page, noticed):
        as_json, as_csv = saved(page, "#save-json"), saved(page, "#save-csv")
        assert noticed.messages == []
    assert fingerprint_of_document(json.loads(as_json)) == fingerprint(release.table)
    assert rows_of_csv(as_csv) == rows_of_csv(render(release, "csv"))


def rows_of_csv(content):
    """Return rows with numbers as numbers: 2 and 2.0 are the same in CSV."""
    rows = csv.reader(io.StringIO(content.decode(), newline=""))
    return [[plain(cell) for cell in row] for row in rows]


def plain(cell):
    try:
        return float(cell)
    except ValueError:
        return {"true": "True", "false": "False", "None": ""}.get(cell, cell)


def test_names_are_inert_and_shown_alike_with_and_without_scripts(opened, written):
    address = written(release_with(ODD, np.arange(len(ODD)) + 100.25), "nasty")
    shown = []
    for scripts in (True, False):
        with opened(address, java_script_enabled=scripts) as (page, noticed):
            shown.append(page.locator("#rows tbody td").all_inner_texts())
            if scripts:
                page.fill("#search", "script")
                assert page.locator("#rows tbody tr").count() == 4
                assert page.evaluate("window.pwned") is None
            assert page.locator("img, iframe, object, embed, link").count() == 0
            assert noticed.messages == [] and len(noticed.requests) == 1
    assert shown[0] == shown[1]
    assert str(2**60 + 1) in shown[0]


def test_periods_alone_are_in_their_order_with_and_without_scripts(opened, written):
    address = written(daily(), "daily")
    for scripts in (True, False):
        with opened(address, java_script_enabled=scripts) as (page, _):
            assert column(page, 1) == [f"2026-01-{n:02}" for n in range(1, ROWS + 1)]
            if scripts:
                assert page.get_attribute("th:nth-child(1)", "aria-sort") == "ascending"
                assert rows_of_csv(saved(page, "#save-csv")) == rows_of_csv(render(daily(), "csv"))


def test_numbers_have_the_same_digits_with_and_without_scripts(opened, written):
    address, shown = written(rated(), "rated"), []
    for scripts in (True, False):
        with opened(address, java_script_enabled=scripts) as (page, _):
            shown.append(page.locator("#rows tbody td").all_inner_texts())
    assert shown[0] == shown[1]
    assert {"2.9880", "0.0014", "98,765"} < set(shown[0])
    assert {"-7.6061e+22", "1.2346e-7", "1.5000e-9", "0.0000e+0"} < set(shown[0])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it_on_a_phone_and_at_a_desk(opened, written, scheme):
    from axe_playwright_python.sync_playwright import Axe

    width = PHONE if scheme == "light" else 1280
    names = {"usual": films(12, names=NASTY), "weekly, seeded": weekly(3, private=False)}
    for name, release in names.items():
        with opened(written(release, "axe"), width=width, color_scheme=scheme) as (page, _):
            page.click("summary")
            sizes = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert sizes[0] <= sizes[1], name
            found = Axe().run(page, options=AXE).response["violations"]
            serious = [v["id"] for v in found if v["impact"] in ("serious", "critical")]
            assert serious == [], name


def test_a_long_name_leaves_room_for_its_count_on_a_phone(opened, written):
    address = written(films(2, names=["x" * 10_000]), "long")
    with opened(address, width=PHONE) as (page, _):
        count = page.locator("#rows tbody tr td:nth-child(2)").first.bounding_box()
        assert count["x"] + count["width"] < PHONE


def test_a_wide_table_fits_on_paper(opened, written):
    paper = 794  # A4 at 96 dots per inch
    with opened(written(rated(), "wide"), width=paper) as (page, _):
        page.emulate_media(media="print")
        table = page.locator("#rows").bounding_box()
        assert table["x"] + table["width"] <= paper


def test_a_table_that_scrolls_says_so(opened, written, large):
    for address, width, says in ((large, 1280, False), (large, PHONE, True)):
        with opened(address, width=width) as (page, _):
            assert page.is_visible(".sideways") is says
            inner, outer = page.evaluate(
                "(({scrollWidth, clientWidth}) => [scrollWidth, clientWidth])"
                "(document.querySelector('.scroll'))"
            )
            assert (inner > outer) is says
            page.emulate_media(media="print")
            assert page.is_hidden(".sideways")
    with opened(written(rated(), "sums"), width=1280) as (page, _):
        assert page.is_visible(".sideways")


def test_paper_says_which_rows_it_has(opened, written, large):
    said = "Printed here: rows {} of the {}. The HTML file of this page has all 2,000 rows."
    with opened(large) as (page, _):
        assert page.is_hidden("#printed")
        page.emulate_media(media="print")
        assert page.inner_text("#printed") == said.format("1 to 25", "2,000")
        page.emulate_media(media="screen")
        page.fill("#search", "film 19")
        page.click("#next")
        page.emulate_media(media="print")
        found = "111 that match the search"
        assert page.inner_text("#printed") == said.format("26 to 50", found)
    with opened(large, java_script_enabled=False) as (page, _):
        page.emulate_media(media="print")
        assert "rows 1 to 25 of 2,000" in page.inner_text("#printed")
    with opened(written(films(9), "short")) as (page, _):
        page.emulate_media(media="print")
        assert page.is_hidden("#printed")


def test_commands_wrap_on_a_phone_and_charts_stay_whole_on_paper(opened, large):
    with opened(large, width=PHONE) as (page, _):
        command = "(({scrollWidth, clientWidth}) => scrollWidth <= clientWidth)"
        assert page.evaluate(f"{command}(document.querySelector('pre'))")
        page.emulate_media(media="print")
        for chart in (".bars", ".plot"):
            style = f"getComputedStyle(document.querySelector('{chart}')).breakInside"
            assert page.evaluate(style) == "avoid"


def test_columns_look_as_if_they_can_be_sorted(opened, large):
    mark = "getComputedStyle(document.querySelector('th button'), '::after').content"
    with opened(large) as (page, _):
        assert "↕" in page.evaluate(mark)


def test_it_is_dark_in_the_dark_and_light_on_paper(opened, large):
    colour = "getComputedStyle(document.body).backgroundColor"
    with opened(large, color_scheme="dark") as (page, _):
        assert page.evaluate(colour) == "rgb(20, 23, 27)"
        page.emulate_media(media="print")
        assert page.evaluate(colour) == "rgb(255, 255, 255)"
        assert page.is_hidden("#search") and page.is_visible("svg.plot")
    with opened(large, color_scheme="light") as (page, _):
        assert page.evaluate(colour) == "rgb(255, 255, 255)"


def test_what_is_folded_away_is_on_paper(opened, large):
    with opened(large) as (page, _):
        assert page.is_hidden("table.settings")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.is_visible("table.settings")


class Recording(BaseHTTPRequestHandler):
    """Serves one page at every address, and writes down what was asked for."""

    def __init__(self, asked, content, *args):
        self.asked, self.content = asked, content
        super().__init__(*args)

    def do_GET(self):
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *args):
        pass


def test_no_request_leaves_the_page_even_if_something_asks_for_one(opened):
    asked, content = [], page_of(films(3)).encode()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Recording, asked, content)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            here = f"http://127.0.0.1:{server.server_port}"
            with opened(f"{here}/page") as (page, _):
                tried = page.evaluate(
                    """async (here) => {
                        const image = new Image();
                        const failed = new Promise((done) => { image.onerror = done; });
                        image.src = `${here}/image`;
                        await failed;
                        return fetch(`${here}/fetch`).then(() => "fetched", () => "refused");
                    }""",
                    here,
                )
        finally:
            server.shutdown()
            thread.join()
    assert tried == "refused"
    assert asked == ["/page"]
