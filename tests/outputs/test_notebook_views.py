"""A release as a notebook shows, draws and writes it: item names are anybody's text."""

import json
import re
import sys
from html.parser import HTMLParser

import matplotlib as mpl
import matplotlib.pyplot as plt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headcount as hc
from headcount.outputs.notebook import ROWS
from tests.outputs.releases import release_of

mpl.use("Agg")

NASTY = ["<script>alert(1)</script>", "javascript:alert(1)", '" onload="x', "\u202eright", "&amp;"]
ALLOWED = {"div", "table", "tr", "th", "td", "p", "strong"}


class Seen(HTMLParser):
    """The tags, attributes and text of a piece of HTML, as a browser reads them."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.texts.append(data)


def test_a_notebook_shows_the_top_and_how_many_more():
    release = release_of({"city": [f"city {n}" for n in range(25)]})
    seen = Seen(release._repr_html_())
    assert [f"city {24 - n}" in seen.texts for n in range(ROWS + 1)] == [True] * ROWS + [False]
    assert "… and 15 more." in seen.texts
    assert str(release.guarantee) in "".join(seen.texts)
    assert seen.texts.count("95 % interval") == 1
    assert "119 to 129" in seen.texts  # 124 ± 1.96 · 2.5


def test_bars_are_as_long_as_the_counts():
    html = release_of({"city": ["a", "b"]})._repr_html_()
    assert re.findall(r"width:([\d.]+)%", html) == ["100.0", f"{100 * 100 / 101:.1f}"]


@given(st.lists(st.one_of(st.text(), st.sampled_from(NASTY)), min_size=1, max_size=3, unique=True))
def test_names_are_text_and_nothing_else(names):
    seen = Seen(release_of({"<b>item": pa.array(names)})._repr_html_())
    assert set(seen.tags) <= ALLOWED
    assert set(seen.attributes) <= {"style", "scope"}


def test_long_names_are_cut_and_controls_shown():
    html = release_of({"item": ["x" * 10_000, "\u202eright"]})._repr_html_()
    assert len(html) < 4000
    assert "\\u202eright" in html


def test_a_seeded_run_and_an_empty_one_say_so():
    assert "<strong>NOT PRIVATE" in release_of({"item": ["a"]}, private=False)._repr_html_()
    assert "Nothing was released." in release_of({"item": pa.array([], pa.string())})._repr_html_()


def test_a_plot_has_a_bar_for_each_of_the_highest(tmp_path):
    names = [*NASTY, "$\\frac$", "漢", "x" * 500]
    axes = release_of({"item": names, "n": range(len(names))}).plot(top=7)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[1:] == ["漢, 6", "$\\frac$, 5", "&amp;, 4", "\\u202eright, 3", '" onload="x, 2',
                          "javascript:alert(1), 1"]  # fmt: skip
    assert len(labels[0]) == 40
    assert [bar.get_width() for bar in axes.patches] == [107 - n for n in range(7)]
    assert "the 7 highest of 8 counts" in axes.get_title()
    axes.figure.savefig(tmp_path / "plot.svg")  # formulas are looked for only now
    plt.close(axes.figure)


def test_a_plot_on_given_axes_and_of_nothing():
    figure, axes = plt.subplots()
    empty = release_of({"item": pa.array([], pa.string())}, private=False)
    assert empty.plot(ax=axes) is axes
    assert axes.get_title().startswith("NOT PRIVATE")
    plt.close(figure)


@pytest.mark.parametrize("top", [0, -1, 1.5, True, "3"])
def test_a_plot_of_no_items_is_refused(top):
    with pytest.raises(hc.SettingsError, match="top"):
        release_of({"item": ["a"]}).plot(top=top)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(hc.MissingExtraError, match=r"headcount\[plot\]"):
        release_of({"item": ["a"]}).plot()


def test_a_release_writes_itself_with_its_guarantee(tmp_path):
    release = release_of({"item": ["a", "b"]})
    for name in ("c.parquet", "c.json", "c.csv", "c.html"):
        release.write(str(tmp_path / name))
        with pytest.raises(hc.OutputError, match="force=True"):
            release.write(tmp_path / name)
        release.write(tmp_path / name, force=True)
    carried = pq.read_table(tmp_path / "c.parquet").schema.metadata[b"headcount"]
    assert json.loads(carried) == release.guarantee.to_dict()
    assert json.loads((tmp_path / "c.json").read_text())["guarantee"]["rho"] == 1
    assert (tmp_path / "c.csv").read_text().startswith('"item","count"')
    page = (tmp_path / "c.html").read_text()
    assert page.startswith("<!doctype html>") and str(release.guarantee.unit) in page


@pytest.mark.parametrize("name", ["c", "c.xlsx", "missing/c.csv"])
def test_where_it_cannot_be_written_nothing_is(tmp_path, name):
    with pytest.raises(hc.OutputError):
        release_of({"item": ["a"]}).write(tmp_path / name)
    assert not list(tmp_path.iterdir())
