"""Public lists of items: what is one, and what is refused before anything is spent."""

import datetime
import os

import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.inputs.known import read_known_items
from tests.ledger.conftest import kinds

BUDGET = hc.Budget(rho=1)
EVENTS = pa.table(
    {
        "u": list(range(300)),
        "c": ["DE"] * 200 + ["FR"] * 100,
        "n": [1] * 200 + [2] * 100,
        "d": [datetime.date(2024, 1, 1)] * 300,
        "x": [0.0] * 300,
        "ts": [datetime.datetime(2024, 1, 1)] * 300,
    }
)


def released(items_from, item="c", source=EVENTS, **options):
    given = {"user": "u", "item": item, "budget": BUDGET, "items_from": items_from, **options}
    return hc.release(source, **given)


def counts(release):
    names = [release.table[name].to_pylist() for name in release.item_columns]
    return dict(zip(zip(*names, strict=True), release.table["count"].to_pylist(), strict=True))


def close(release, expected):
    found = counts(release)
    assert set(found) == set(expected)
    return all(abs(found[key] - expected[key]) < 30 for key in expected)


@pytest.fixture
def events_file(tmp_path):
    pq.write_table(EVENTS, tmp_path / "events.parquet")
    return tmp_path / "events.parquet"


def test_exactly_the_listed_items_come_out_also_those_that_nobody_has(tmp_path):
    file = tmp_path / "list.csv"
    file.write_text("code,c\n1,DE\n2,IT\n")
    pq.write_table(pa.table({"c": ["DE", "IT"]}), tmp_path / "list.parquet")
    for given in (
        file,
        str(file),
        tmp_path / "list.parquet",
        ["DE", "IT"],
        ("DE", "IT"),
        pa.table({"c": ["DE", "IT"]}),
        pd.DataFrame({"c": ["DE", "IT"]}),
        pl.DataFrame({"c": ["DE", "IT"]}),
        pa.table({"c": pa.array(["DE", "IT"]).dictionary_encode()}),
    ):
        assert close(released(given), {("DE",): 200, ("IT",): 0})


@pytest.mark.parametrize(
    ("item", "values"),
    [
        ("n", [1, 3]),
        ("x", [-0.0, 1.5]),
        ("d", [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]),
        ("ts", [datetime.datetime(2024, 1, 1), datetime.datetime(2025, 1, 1)]),
    ],
)
def test_lists_of_every_type(item, values):
    there = 200 if item == "n" else 300
    assert close(released(values, item), {(values[0],): there, (values[1],): 0})


def test_several_columns_make_tuples(tmp_path):
    expected = {("DE", 1): 200, ("FR", 1): 0}
    assert close(released([("DE", 1), ("FR", 1)], ["c", "n"]), expected)
    (tmp_path / "list.csv").write_text("n,c\n1,DE\n1,FR\n")
    assert close(released(tmp_path / "list.csv", ["c", "n"]), expected)


def test_text_of_a_csv_file_is_read_as_the_type_of_the_events(tmp_path):
    (tmp_path / "days.csv").write_text("d,n\n2024-01-01,2\n")
    assert close(released(tmp_path / "days.csv", ["d", "n"]), {(datetime.date(2024, 1, 1), 2): 100})


def test_what_is_said(tmp_path):
    release = released(["DE", "IT"])
    assert release.spent["delta"] == 0
    assert "from 1-zCDP" in str(release.guarantee)
    assert "known-items" in [notice.code for notice in release.notices()]
    assert release.guarantee.delta == 1e-6
    assert release.settings["known_items"] == 2
    bounded = released(["DE", "IT"], max_items_per_user=1)
    assert bounded.settings["hidden_users"] == 0
    assert bounded.table["std_error"][0].as_py() == 0.708  # √½, to three digits and rounded up


WRONG = {
    "is empty": [[], pa.table({"c": pa.array([], pa.string())})],
    "appears twice": [["DE", "DE"], pa.table({"c": ["a", "b", "a"]})],
    "empty value": [["DE", None], pa.table({"c": pa.array([None], pa.string())})],
    "no column 'c'": [pa.table({"country": ["DE"]})],
    "values of one type": [["DE", 5]],
    "is of type": [[5], [b"DE"], [1.5], [True], [datetime.date(2024, 1, 1)]],
    "lists or structs": [pa.table({"c": [["DE"]]})],
    "a list of known items is": [5, object(), {"DE"}, {"DE": 1}, "list.txt", "-", "list.duckdb"],
    "there is no file": ["nowhere.csv", "lists/*.csv", "none.parquet"],
}


@pytest.mark.parametrize(
    ("says", "given"), [(says, given) for says, all_ in WRONG.items() for given in all_]
)
def test_what_is_no_list(says, given, tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=5))
    with pytest.raises(hc.SourceError, match=says):
        released(given, ledger=ledger, dataset="shop")
    assert "settle" not in kinds(ledger)
    assert kinds(ledger) in (["open"], ["open", "reserve", "return"])


@pytest.mark.parametrize(
    ("item", "text", "says"),
    [
        ("n", "n\nx\n", "is of type int64"),
        ("n", "n\n1\n01\n", "appears twice"),
        ("d", "d\nMay\n", "is of type date"),
        ("c", "c\nDE\n\n", None),
        ("c", "c,k\nDE,1\n,2\n", "empty value"),
        ("c", "c\n", "is empty"),
        ("c", "", "cannot be read"),
        ("c", "k\nDE\n", "has no column 'c'; it has: 'k'$"),
        ("c", "k,C\n1,DE\n", r"has no column 'c'; it has: 'k', 'C'\. Did you mean 'C'\?"),
        ("c", "c,k\nDE\n", "cannot be read"),
        ("x", "x\nnan\n", "NaN"),
        ("x", "x\n0.0\n-0.0\n", "appears twice"),
    ],
)
def test_files_that_are_no_list(tmp_path, item, text, says):
    (tmp_path / "list.csv").write_text(text)
    if says is None:
        assert len(released(tmp_path / "list.csv", item)) == 1
        return
    with pytest.raises(hc.SourceError, match=says):
        released(tmp_path / "list.csv", item)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "pcr"},
        {"method": "threshold", "max_items_per_user": 2},
        {"relative_error": 0.1},
        {"candidates": 5},
        {"max_items_per_user": 0},
        {"max_items_per_user": True},
    ],
)
def test_options_that_do_not_go_with_a_list(options):
    with pytest.raises(hc.SettingsError):
        released(["DE"], **options)


# --- a list is public: it does not come from the events -------------------------------------------


def test_the_events_are_no_list(events_file, tmp_path, monkeypatch):
    """By whatever name: what is in them would be told without noise, and for nothing."""
    os.link(events_file, tmp_path / "hard.parquet")
    (tmp_path / "soft.parquet").symlink_to(events_file)
    monkeypatch.chdir(tmp_path)
    names = ["events.parquet", "./events.parquet", "hard.parquet", "soft.parquet", events_file]
    names.append(f"../{tmp_path.name}/events.parquet")
    for name in names:
        for source in (events_file, str(tmp_path / "*.parquet"), "events.parquet"):
            with pytest.raises(hc.SourceError, match="has to be public"):
                released(name, source=source)


def test_a_table_in_memory_is_no_list_of_its_own_items():
    frame = pl.from_arrow(EVENTS)
    for source, given in [
        (EVENTS, EVENTS),
        (EVENTS, EVENTS.select(["c"])),
        (EVENTS, EVENTS.rename_columns(["c", "k", "n", "d", "x", "ts"])),
        (frame, frame),
        (pd.DataFrame({"u": [1], "c": ["DE"]}),) * 2,
    ]:
        with pytest.raises(hc.SourceError, match="has to be public"):
            released(given, source=source)


def test_a_query_is_no_list():
    table = ibis.memtable({"c": ["DE"]})
    for given in (table, table["c"], pl.LazyFrame({"c": ["DE"]}), "postgres://host/db"):
        with pytest.raises(hc.SourceError, match="a list of known items is"):
            released(given)


def test_errors_about_types_say_nothing_of_rows(events_file):
    with pytest.raises(hc.SourceError) as raised:
        released([5], source=events_file)
    assert "DE" not in str(raised.value)


# --- questions and ledgers ------------------------------------------------------------------------


def test_a_question_with_a_file_can_be_written_down(tmp_path):
    (tmp_path / "list.csv").write_text("c\nDE\n")
    path = tmp_path / "list.csv"
    asked = hc.Question(source="e.parquet", user="u", item="c", budget=BUDGET, items_from=path)
    again = hc.Question.from_json(asked.to_json())
    assert again.items_from == str(path)
    assert again.mechanism == asked.mechanism
    in_memory = hc.Question(source="e.csv", user="u", item="c", budget=BUDGET, items_from=["DE"])
    with pytest.raises(hc.SourceError, match="in memory"):
        in_memory.to_json()


def test_the_contents_of_a_list_are_part_of_the_question(events_file, tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=10, delta=1e-5))
    options = {"source": events_file, "ledger": ledger, "dataset": "shop", "data_version": "May"}
    first = released(["DE", "IT"], **options)
    (tmp_path / "list.parquet").unlink(missing_ok=True)
    pq.write_table(pa.table({"c": ["DE", "IT"]}), tmp_path / "list.parquet")
    again = released(tmp_path / "list.parquet", **options)
    assert again.table.equals(first.table)  # the same list from somewhere else
    for other in (["DE", "FR"], ["DE"], ["IT", "DE"], None):
        released(other, **options)
    assert kinds(ledger).count("settle") == 5
    entry = next(entry for entry in ledger.log() if str(entry.kind) == "reserve")
    written = entry.facts["asked"]["items_from"]
    assert set(written) == {"items", "sha256"}


def test_no_delta_is_charged(events_file, tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=10, delta=1e-5))
    released(["DE"], source=events_file, ledger=ledger, dataset="shop")
    settled = next(entry for entry in ledger.log() if str(entry.kind) == "settle")
    assert settled.facts["delta"] == "0"


def test_the_reader_reads_a_list_once():
    listed = read_known_items(["DE"], ["c"], EVENTS)
    assert read_known_items(listed, ["c"], EVENTS) is listed
    assert len(listed.sha256) == 64
