"""The documentation site: it builds without a warning, and asks nothing of any other host."""

import json
import os
import re
import subprocess
import sys

import pytest
from website import charts

import headcount
from tests.markdown import PAGES, ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    assert done.returncode == 0, done.stderr  # a link or an anchor that leads nowhere, too
    return folder


def test_every_page_is_in_the_site_and_is_found_by_search(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    for page in PAGES[1:]:
        path = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        path = re.sub(r"README\.html$", "index.html", path)
        assert (site / path).is_file(), path
        assert path in found or re.sub(r"index\.html$", "", path) in found, path


def test_nothing_is_asked_of_another_host(site):
    loads = re.compile(
        r"<(?:script|img|iframe|source|video|audio)\b[^>]*\ssrc=\"?(?:https?:)?//"
        r"|<link\b(?![^>]*rel=\"?(?:canonical|next|prev))[^>]*\shref=\"?(?:https?:)?//"
        r"|url\(\s*['\"]?(?:https?:)?//|@import\s+['\"]?(?:https?:)?//"
    )
    for path in (*site.rglob("*.html"), *site.rglob("*.css")):
        found = loads.search(path.read_text(encoding="utf-8"))
        assert found is None, f"{path.relative_to(site)}: {found}"


def test_the_python_pages_are_generated_and_proofs_are_there(site):
    text = (site / "reference" / "api.html").read_text(encoding="utf-8")
    for name in headcount.__all__:
        if not name.startswith("_"):
            assert f"headcount.{name}" in text
    assert "max_items_per_user" in text  # a parameter, with what its docstring says
    assert (site / "proofs" / "vetting.html").is_file()
    assert "data-md-color-scheme=slate" in (site / "index.html").read_text().replace('"', "")


@pytest.mark.parametrize("name", charts.CHARTS)
def test_a_chart_is_drawn_from_its_table(name):
    _, known_by = charts.table_of(name)
    drawn = (charts.IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    assert f"drawn from {known_by}" in drawn, "run: python -m website.charts --draw"
    assert "<script" not in drawn and "http" not in re.sub(r'(xmlns\S*|"http\S*")', "", drawn)


def test_readme_says_what_the_charts_show():
    rows, _ = charts.table_of("accurate")
    shown = {
        row["method"]: int(row["accurate"]) for row in rows if row["data"] == "the demo, ρ = 1"
    }
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{shown['auto']:,} with headcount's default and {shown['pcr-paper']:,}" in text
