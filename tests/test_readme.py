"""README as a package index shows it."""

import ast
import re

import pytest

from tests.markdown import ROOT


@pytest.fixture
def for_index():
    """The function alone: Hatchling, which the file imports, is there while a package is built."""
    tree = ast.parse((ROOT / "hatch_build.py").read_text(encoding="utf-8"))
    wanted = [
        node
        for node in tree.body
        if isinstance(node, ast.Assign) or getattr(node, "name", "") == "for_index"
    ]
    names = {"re": re}
    exec(compile(ast.Module(wanted, []), "hatch_build.py", "exec"), names)
    return names["for_index"]


LINK = re.compile(r"\]\(([^)]*)\)")


def test_links_are_completed_where_an_address_is_known(for_index):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    made = for_index(text, "https://example.org/headcount/")
    links = LINK.findall(made)
    assert len(links) == len(LINK.findall(text))
    assert all(re.match(r"https?://|#", link) for link in links)
    assert "](https://example.org/headcount/docs/images/demo.svg)" in made


def test_links_are_text_where_none_is_known(for_index):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    made = for_index(text, None)
    assert all(re.match(r"https?://|#", link) for link in LINK.findall(made))
    assert "![" not in made
    assert "choose a budget" in made  # what a link says stays
    assert for_index("a [b](c.md) d [e](https://f) [g](#h)", None) == (
        "a b d [e](https://f) [g](#h)"
    )
