"""Which rows and items were asked for is said wherever the numbers are."""

import datetime as dt
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from matplotlib.figure import Figure

import headcount as hc
from headcount.errors import SourceError
from headcount.outputs.escapes import visible
from headcount.results.provenance import LONGEST_ASKED, Asked
from tests.pages.parsed import Page

USERS = 4000
#: Text that would be markup, a link, a control character or an instruction to a terminal.
NASTY = "item <> '<script>[x](http://e) | www.e.de \x1b[31m\u202e, =1+1'"
LINES = "SELECT *\n  FROM events\n  WHERE country = 'DE'"
LONG = f"item <> '{'x' * 5000}'"
COMMENT = "SELECT * FROM events -- all\nWHERE country = 'DE'"
PERIOD = "2026-01-05 to 2026-01-12"
#: The options of a question, what is said of it, and what is stored.
ASKED = {
    "where": (["--where", "country = 'DE'"], "Rows counted: country = 'DE'", "country = 'DE'"),
    "sql": (["--sql", LINES], f"Rows counted: the result of {' '.join(LINES.split())}", LINES),
    "both": (
        ["--where", "country = 'DE'", "--sql", "SELECT * FROM events"],
        "Rows counted: country = 'DE' in the result of SELECT * FROM events",
        "SELECT * FROM events",
    ),
    "comment": (["--sql", COMMENT], visible(f"Rows counted: the result of {COMMENT}"), COMMENT),
    "between": (
        ["--by", "week", "day", "--between", *PERIOD.split(" to ")],
        f"Period: {PERIOD}",
        PERIOD.split(" to ")[0],
    ),
    "items": (["--items-from", "list.csv"], "Items: a given list of 2", 2),
    "nasty": (["--where", NASTY], f"Rows counted: {visible(NASTY)}", NASTY),
    "long": (["--where", LONG], "Rows counted: item <> 'xxx", LONG),
}
PLACES = [
    "terminal", "terminal, answered", "terminal, fetched", "summary", "notebook", "page",
    "page, answered", "page of the file", "page of the fetched", "datasheet", "registry entry",
    "plot",
]  # fmt: skip
#: What a program reads; whoever shows it makes it harmless.
AS_DATA = ("summary", "registry entry")


@pytest.fixture
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    events = {
        "user": list(range(USERS)) * 2,
        "item": ["tea"] * USERS + ["milk"] * USERS,
        "country": ["DE", "FR"] * USERS,
        "day": [dt.date(2026, 1, 5), dt.date(2026, 1, 12)] * USERS,
    }
    pq.write_table(pa.table(events), "events.parquet")
    (tmp_path / "list.csv").write_text("item\ntea\ncola\n")
    hc.Ledger("budget.db").init("shop", budget=hc.Budget(rho=90, delta=1e-3))
    return tmp_path


@pytest.fixture
def said(headcount, there):
    """Return a function that asks a question and returns what each place says, as people see it."""

    def run(*args):
        ran = headcount(*args)
        assert ran.code == 0, ran.err
        return ran

    def ask(options):
        command = ["release", "events.parquet", "-u", "user", "-i", "item", "--rho", "1", *options]
        command += ["--ledger", "budget.db", "--dataset", "shop", "--data-version", "May"]
        first = run(*command, "-o", "first.parquet", "--report", "first.html")
        again = run(*command, "-o", "again.json", "--report", "again.html")
        fetched = run("ledger", "fetch", "budget.db", "3", "-o", "fetched.json")
        for name in ("first.parquet", "fetched.json"):
            run("report", name, "-o", f"{name}.html")
        release = hc.Ledger("budget.db").released(3)
        pages = ("first.html", "again.html", "first.parquet.html", "fetched.json.html")
        entry = run("describe", "fetched.json", "--format", "yaml").out
        texts = (
            *(ran.err for ran in (first, again, fetched)),
            "\n".join(release.summary()),
            *(Page(text).text for text in (release._repr_html_(), *_read(there, *pages))),
            run("describe", "first.parquet").out,
            yaml.safe_load(entry)["deployment"]["basic"]["description"],
            release.plot(ax=Figure().subplots()).get_title(),
        )
        return dict(zip(PLACES, texts, strict=True))

    return ask


def _read(folder, *names):
    return [(folder / name).read_text(encoding="utf-8") for name in names]


@pytest.mark.parametrize("kind", ASKED)
def test_what_was_asked_is_said_wherever_the_numbers_are(said, there, kind):
    options, words, stored = ASKED[kind]
    for place, text in said(options).items():
        assert words in _as_read(place, text), (place, text)
        if place not in AS_DATA:
            assert "\x1b" not in text and "\u202e" not in text, place
    text = (there / "first.html").read_text()
    assert "<script>[" not in text
    for path in ("again.json", "fetched.json"):
        assert stored in _values(json.loads((there / path).read_text())["provenance"]["asked"])
    account = json.loads(pq.read_schema(there / "first.parquet").metadata[b"headcount"])
    assert stored in _values(account["provenance"]["asked"])


def _as_read(place, text):
    """Return what a person reads in a place, in the form of a line of the terminal."""
    if place in AS_DATA:
        return "".join(char if char == "\n" else visible(char) for char in text).replace(
            "all\nWHERE", "all\\nWHERE"
        )
    if place == "datasheet":
        assert not re.search(r"(?<!\\)[<\[`]|(?<!\\)//|www\.", text)
        return re.sub(r"\\(\W)", r"\1", text.replace(" | ", ": "))
    return re.sub("(Rows counted|Period|Items) ", r"\1: ", text) if "page" in place else text


def _values(node):
    return [
        inner
        for value in (node if isinstance(node, list) else node.values())
        for inner in (_values(value) if isinstance(value, list | dict) else [value])
    ]


def test_where_nothing_was_left_out_nothing_is_said(said, there):
    for place, text in said([]).items():
        assert "Rows counted" not in text, place
        assert "Items:" not in text and "Items |" not in text, place
        assert "Period" not in text.replace("| Period | not stated |", ""), place
    document = json.loads((there / "again.json").read_text())
    assert "asked" not in document["provenance"] and document["provenance"]["period"] is None


def test_what_is_long_is_cut_where_people_read_it_and_not_in_files(said, there):
    texts = said(ASKED["long"][0])
    cut = f"… ({len(LONG):,} characters)"
    for place in ("terminal", "summary", "notebook", "page"):
        assert cut in texts[place]
        assert LONG not in texts[place]
    assert f"Rows counted: {LONG[: LONGEST_ASKED - 1]}… (" in texts["terminal"]


def test_pages_of_filtered_and_unfiltered_releases_differ(headcount, there):
    asked = ["release", "events.parquet", "-u", "user", "-i", "item", "--rho", "9"]
    for name, more in {"all": [], "some": ["--where", "country = 'DE'"]}.items():
        assert headcount(*asked, *more, "-o", f"{name}.json", "--report", f"{name}.html").code == 0
    heads = [re.search("(?s)<header>.*</header>", text)[0] for text in
             _read(there, "all.html", "some.html")]  # fmt: skip
    assert ["country = " in head for head in heads] == [False, True]


def test_python_says_the_same(there):
    events = pq.read_table("events.parquet")
    asked = {"user": "user", "item": "item", "rho": 9}
    made = hc.release(events, **asked, where="country = 'DE'", items_from=["tea", "cola"])
    assert made.summary()[1:3] == ["Rows counted: country = 'DE'", "Items: a given list of 2"]
    public = made.guarantee.provenance.public
    assert public[-2:] == ("the choice of rows", "the list of items")
    made = hc.release("events.parquet", **asked, sql="SELECT * FROM events")
    assert made.summary()[1] == "Rows counted: the result of SELECT * FROM events"
    days = (dt.date(2026, 1, 5), "2026-01-12")
    made = hc.release(events, **asked, by=("week", "day"), between=days)
    assert made.guarantee.provenance.to_dict()["period"] == PERIOD
    histogram = {"tea": 4000, "milk": 4000}
    made = hc.release_counts(histogram, rho=9, minimum=20)
    assert made.summary()[1] == "Items: only those of at least 20 users were given"
    assert made.guarantee.provenance.asked.to_dict() == {"minimum": 20}
    assert hc.release_counts(histogram, rho=9).guarantee.provenance.asked == Asked()


def test_a_list_is_stored_with_what_identifies_it_and_not_where_it_was(there):
    made = hc.release("events.parquet", user="user", item="item", rho=9, items_from="list.csv")
    stated = made.guarantee.to_dict()
    assert set(stated["provenance"]["asked"]["items_from"]) == {"items", "sha256"}
    assert "list.csv" not in json.dumps(stated) and "events.parquet" not in json.dumps(stated)


@pytest.mark.parametrize("option", ["where", "sql"])
def test_text_that_no_file_can_hold_is_refused_before_anything_is_spent(there, option):
    text = {"where": "item <> 'a' /* \udce9 */", "sql": "SELECT * FROM events -- \ud800"}[option]
    ledger = hc.Ledger("budget.db")
    with pytest.raises(SourceError, match="half of a character"):
        hc.release("events.parquet", user="user", item="item", rho=1, ledger=ledger,
                   dataset="shop", **{option: text})  # fmt: skip
    assert len(ledger.log()) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"where": 1}, {"sql": []}, {"between": ["2026-01-01"]}, {"between": [1, 2]},
        {"items_from": 3}, {"items_from": {"items": "<b>"}}, {"minimum": "2"}, {"other": "x"},
    ],
)  # fmt: skip
def test_values_of_other_types_are_refused(wrong):
    with pytest.raises((KeyError, TypeError, ValueError)):
        Asked(**wrong)
