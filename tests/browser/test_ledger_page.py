"""The page of a ledger in a browser: drawn, silent, and for everybody."""

from headcount.pages import ledger_page
from tests.browser.test_release_page import AXE, PHONE
from tests.pages.test_ledger_page import used_ledger


def test_the_headings_of_a_ledger_stay_whole_on_paper(opened, tmp_path):
    ledger, clock = used_ledger(tmp_path / "budget.db")
    path = tmp_path / "ledger.html"
    path.write_bytes(ledger_page(ledger.log(), clock()))
    paper = 794  # A4 at 96 dots per inch
    with opened(path.as_uri(), width=paper) as (page, _):
        page.emulate_media(media="print")
        lines = page.evaluate(
            "[...document.querySelectorAll('.log th')].map((head) => {"
            " const range = document.createRange(); range.selectNodeContents(head);"
            " return range.getClientRects().length; })"
        )
        assert set(lines) == {1}
        table = page.locator("table.log").bounding_box()
        assert table["x"] + table["width"] <= paper


def test_a_ledger_is_drawn_and_everybody_can_use_it(opened, tmp_path):
    from axe_playwright_python.sync_playwright import Axe

    ledger, clock = used_ledger(tmp_path / "budget.db")
    path = tmp_path / "ledger.html"
    path.write_bytes(ledger_page(ledger.log(), clock()))
    for width, scheme in ((PHONE, "dark"), (1280, "light")):
        with opened(path.as_uri(), width=width, color_scheme=scheme) as (page, noticed):
            assert page.locator("svg.plot").count() == 2
            assert page.locator("path.curve").first.bounding_box()["width"] > 100
            assert noticed.requests == [path.as_uri()] and noticed.messages == []
            sizes = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert sizes[0] <= sizes[1]
            found = Axe().run(page, options=AXE).response["violations"]
            assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
