"""A question about a stated version of the data is answered again at no cost; others never are.

Whether a question is answered before it is charged can be seen, so it must not depend on the data.
"""

import os
import re
import shutil
from dataclasses import fields

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.ledger.stored_releases import known_by
from tests.ledger.conftest import ask, kinds


def test_the_same_question_about_the_same_version_is_answered_at_no_cost(opened, parquet_of):
    told = []
    ledger = opened(tell=told.append)
    path = parquet_of()
    first = ask(ledger, path, data_version="May")
    other = hc.Ledger(ledger._where, actor="ann", tell=told.append)
    second = ask(other, str(path), data_version="May")
    assert second.table.equals(first.table, check_metadata=True)
    assert second.guarantee == first.guarantee
    assert kinds(ledger) == ["open", "reserve", "settle"]
    assert told[0].startswith("Charged to 'shop'")
    assert "entry 3 of the ledger), at no cost" in told[1]
    third = ask(ledger, path, data_version="May", again=True)
    assert kinds(ledger)[3:] == ["reserve", "settle"]
    assert ask(ledger, path, data_version="May").table.equals(third.table)


def test_without_a_version_every_question_is_charged(opened, parquet_of):
    ledger = opened()
    path = parquet_of()
    ask(ledger, path)
    ask(ledger, path)
    assert kinds(ledger).count("settle") == 2


def test_another_question_is_charged(opened, parquet_of):
    ledger = opened()
    path = parquet_of()
    for question in ({}, {"where": "u > 0"}, {"data_version": "June"}):
        ask(ledger, path, **{"data_version": "May", **question})
    assert kinds(ledger).count("settle") == 3


WEEKS, ROWS = {"by": ("week", "t")}, {"count": "rows"}
#: Of each part of a question what it goes with, if anything, and values that ask for another thing.
PARTS = {
    "source": ({}, "a.csv", "b.csv", "a.parquet"),
    "user": ({}, "u", "v", "U"),
    "budget": ({}, hc.Budget(rho=1), hc.Budget(rho=2), hc.Budget(epsilon=1), hc.Budget(epsilon=2),
               hc.Budget(rho=1, delta=1e-7)),
    "item": ({}, "q", "p", ["q", "p"], ["p", "q"]),
    "per": ({}, (), "p", "r"),
    "table": ({"source": "a.db"}, "t", "s"),
    "sql": ({}, None, "SELECT u, q FROM events", "SELECT u, q FROM events WHERE x"),
    "where": ({}, None, "x = 1", "x = 2"),
    "items_from": ({}, None, ["tea"], ["milk"], ["tea", "milk"]),
    "input_format": ({}, None, "csv", "tsv"),
    "delimiter": ({}, None, ";", ","),
    "engine": ({"source": "a.parquet"}, "duckdb", "polars", "spark"),
    "spark_conf": ({"source": "a.parquet", "engine": "spark"}, {}, {"a": "1"}, {"a": "2"}),
    "method": ({}, "auto", "pcr", "pcr-paper", "rationed"),
    "relative_error": ({}, 0.1, 0.2),
    "candidates": ({"method": "pcr"}, None, 20, 30),
    "max_items_per_user": ({"method": "threshold"}, 3, 4),
    "min_users": ({}, None, 5, 6),
    "top": ({}, None, 5, 6),
    "by": ({}, None, ("week", "t"), ("day", "t"), ("week", "s")),
    "timezone": (WEEKS, None, "Europe/Paris", "Asia/Tokyo"),
    "between": (WEEKS, None, ("2026-01-01", "2026-02-01"), ("2026-01-01", "2026-02-02")),
    "protect": (WEEKS, "user", "user-week"),
    "columns": ({}, "standard", "all"),
    "data_version": ({}, "May", "June"),
    "total": ({}, False, True),
    "other": ({}, False, True),
    "count": ({}, None, "rows"),
    "sum": ({}, (), "x", "y", ["x", "y"]),
    "mean": ({}, (), "x", "y"),
    "bounds": ({"sum": "x"}, {}, {"x": (0, 1)}, {"x": (0, 2)}),
    "max_rows_per_user_item": (ROWS, None, 2, 3),
}  # fmt: skip


def test_every_part_of_a_question_is_part_of_what_it_is_known_by():
    assert PARTS.keys() == {field.name for field in fields(hc.Question)}
    base = {name: PARTS[name][1] for name in ("source", "user", "item", "budget", "data_version")}
    assert known_by("shop", hc.Question(**base)) != known_by("likes", hc.Question(**base))
    for name, (goes_with, *values) in PARTS.items():
        asked = [hc.Question(**{**base, **goes_with, name: value}) for value in values]
        known = {known_by("shop", question) for question in asked}
        assert len(known - {None}) == len(values), name


def copied(tmp_path, users, name):
    """Return a file of so many users, padded so that all such files have one size and one time."""
    path = tmp_path / name
    rows = [(n % users, "tea") for n in range(3001)]
    table = pa.table({"u": [user for user, _ in rows], "q": [item for _, item in rows]})
    pq.write_table(table, path, use_dictionary=False, compression="none")
    os.utime(path, ns=(0, 0))
    return path


@pytest.mark.parametrize("version", [None, "May"])
@pytest.mark.parametrize("same_time", [True, False])
def test_whether_a_question_is_answered_does_not_depend_on_the_file(
    tmp_path, where, opened, same_time, version
):
    """One more user in a file that was put in its place, with its time kept or not, as by cp -p."""
    ledger = opened()
    path = copied(tmp_path, 3000, "events.parquet")
    ask(ledger, path, data_version=version)
    shutil.copy2(copied(tmp_path, 3001, "changed.parquet"), path)
    if not same_time:
        os.utime(path, ns=(10**9, 10**9))
    ask(ledger, path, data_version=version)
    assert kinds(ledger).count("settle") == (2 if version is None else 1)


def test_a_file_is_not_needed_for_an_answer(opened, parquet_of):
    ledger = opened()
    path = parquet_of()
    first = ask(ledger, path, data_version="May")
    path.unlink()
    assert ask(ledger, path, data_version="May").table.equals(first.table)


def test_nothing_of_the_data_is_in_the_entries(opened, parquet_of):
    ledger = opened()
    path = parquet_of(users=3137)
    ask(ledger, path, data_version="May")
    bodies = "".join(entry.body() for entry in ledger.log())
    bodies = re.sub("[0-9a-f]{64}", "", bodies)  # a hash has any digits by chance
    assert "tea" not in bodies
    assert "3137" not in bodies
    assert str(path.stat().st_size) not in bodies


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"again": True}, "--again .* has no effect"),
        ({"data_version": " "}, "a text of your choice"),
        ({"data_version": 3}, "a text of your choice"),
    ],
)
def test_versions_that_cannot_be(opened, parquet_of, options, says):
    ledger = opened()
    with pytest.raises(hc.SettingsError, match=says):
        ask(ledger, parquet_of(), **options)
    assert kinds(ledger) == ["open"]


def test_a_version_goes_with_a_ledger(parquet_of):
    with pytest.raises(hc.SettingsError, match="needs a ledger"):
        hc.release(parquet_of(), user="u", item="q", budget=hc.Budget(rho=0.1), data_version="May")


def test_what_was_released_can_be_had_again(opened, parquet_of):
    ledger = opened()
    first = ask(ledger, parquet_of())
    assert ledger.released(3).table.equals(first.table, check_metadata=True)
    for number in (0, 1, 2, 4):
        with pytest.raises(hc.LedgerError, match="is not a release"):
            ledger.released(number)
