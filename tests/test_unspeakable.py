"""Names that no engine can be told, with a NUL or a lone surrogate: refused, with nothing spent."""

import sqlite3
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc

BAD = ["a\0b", "a\ud800b", "\udcff"]
ROWS = {"u": range(100), "i": ["a"] * 100, "n": [1] * 100}


@pytest.fixture(params=["parquet", "polars", "arrow", "duckdb", "sqlite", "postgres"])
def call(request, tmp_path):
    table = pa.table(ROWS)
    match request.param:
        case "arrow":
            source = {"source": table}
        case "duckdb":
            source = {"source": tmp_path / "e.duckdb", "table": "e"}
            with duckdb.connect(str(source["source"])) as connection:
                connection.register("given", table)
                connection.execute("CREATE TABLE e AS SELECT * FROM given")
        case "sqlite":
            source = {"source": tmp_path / "e.sqlite", "table": "e"}
            with sqlite3.connect(source["source"]) as connection:
                connection.execute("CREATE TABLE e (u INTEGER, i TEXT, n INTEGER)")
                connection.executemany("INSERT INTO e VALUES (?, 'a', 1)", [(n,) for n in range(9)])
            connection.close()
        case "postgres":
            url = request.getfixturevalue("postgres_url")
            source = {"source": url, "sql": "SELECT oid::int AS u, relname AS i FROM pg_class"}
        case _:
            pq.write_table(table, tmp_path / "e.parquet")
            source = {"source": tmp_path / "e.parquet"}
            source |= {"engine": "polars"} if request.param == "polars" else {}
    return {**source, "user": "u", "item": "i", "rho": 1}


GIVEN = {
    "user": lambda bad: {"user": bad},
    "item": lambda bad: {"item": bad},
    "per": lambda bad: {"per": bad},
    "sum": lambda bad: {"sum": bad},
    "by": lambda bad: {"by": ("day", bad)},
    "a condition": lambda bad: {"where": f"i = '{bad}'"},
    "a name in a condition": lambda bad: {"where": f"\"{bad}\" = 'a'"},
    "SQL": lambda bad: {"sql": f"SELECT u, i FROM e WHERE i <> '{bad}'", "table": None},
    "a table": lambda bad: {"table": bad, "sql": None},
    "a source": lambda bad: {"source": bad},
    "a list of items": lambda bad: {"items_from": f"{bad}.csv"},
    "a dataset": lambda bad: {"dataset": bad},
}


def test_no_name_is_more_than_an_error(call, tmp_path):
    ledger = hc.Ledger(tmp_path / "ledger.db")
    ledger.init("shop", budget=hc.Budget(rho=2, delta=1e-4))
    whole = ledger.books().left("shop")
    call |= {"ledger": ledger, "dataset": "shop"}
    for what, change in GIVEN.items():
        for bad in BAD:
            with pytest.raises(hc.HeadcountError) as caught:
                hc.release(**{**call, **change(bad)})
            said = str(caught.value)
            assert "engine failed" not in said and "expected form" not in said, what
            assert ledger.books().left("shop") == whole, what


def test_items_that_only_some_engines_have_are_counted_or_refused(call, tmp_path):
    """Text in DuckDB and SQLite may have a NUL, in PostgreSQL it may not."""
    for bad in BAD:
        try:
            made = hc.release(**call, items_from=["b", bad])
        except hc.InputError:
            continue
        assert "\0" in bad
        assert sorted(made.table["i"].to_pylist()) == sorted(["b", bad])


@pytest.mark.parametrize("bad", BAD[:2], ids=ascii)
def test_nor_is_a_path_or_a_word_to_a_ledger(bad, tmp_path):
    made = hc.release_counts({"tea": 5000}, rho=1)
    budget = hc.Budget(rho=2, delta=1e-4)
    ledger = hc.Ledger(tmp_path / "ledger.db")
    ledger.init("shop", budget=budget, group="all")
    for action in (
        lambda: made.write(tmp_path / f"{bad}.csv"),
        lambda: made.write(f"{tmp_path}/{bad}.html", force=True),
        lambda: hc.Ledger(tmp_path / bad).init("shop", budget=budget),
        lambda: hc.Ledger(f"postgres://host/{bad}").init("shop", budget=budget),
        lambda: ledger.init(bad, budget=budget),
        lambda: ledger.init("bar", budget=budget, group=bad),
        lambda: ledger.init("bar", budget=budget, user=bad),
        lambda: ledger.extend("shop", rho=1, reason=bad),
        lambda: ledger.cap("shop", bad, rho=1),
        lambda: ledger.find(Path(f"{bad}.json")),
        lambda: hc.release_counts(f"{bad}.parquet", rho=1),
    ):
        with pytest.raises(hc.HeadcountError):
            action()
