"""Whose privacy a guarantee is about: tables, views, queries and Ibis expressions."""

import sqlite3

import ibis
import pandas as pd
import pytest

import headcount as hc
from headcount.inputs.unit import Unit
from headcount.results.notices import ABOUT_UNITS
from tests.inputs.units import EVERY, unit


@pytest.mark.parametrize("dialect", EVERY)
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT u AS id, i FROM t", Unit.USER),
        ("SELECT u AS id, i FROM t LIMIT 3", Unit.QUERY),
        ("SELECT u || '-' || i AS id, i FROM t", Unit.COMPUTED),
        ("SELECT id, i FROM (SELECT u AS id, i FROM v) AS x", Unit.QUERY),
    ],
)
def test_the_guarantee_says_so(source, dialect, sql, expected):
    release = hc.release(source(dialect), sql=sql, user="id", item="i", budget=hc.Budget(rho=1))
    assert release.guarantee.unit == expected.value
    shown = [notice for notice in release.notices() if notice in ABOUT_UNITS.values()]
    assert shown == ([] if expected == Unit.USER else [ABOUT_UNITS[expected]])
    assert all(str(notice) in release.summary() for notice in shown)


@pytest.mark.parametrize(
    ("dialect", "table", "expected"),
    [
        *((dialect, "t", Unit.USER) for dialect in EVERY),
        *((dialect, "v", Unit.VIEW) for dialect in EVERY),
        ("postgres", "units.t", Unit.USER),
        ("postgres", "units.v", Unit.VIEW),
        ("postgres", "parts", Unit.USER),
        ("postgres", "m", Unit.VIEW),
        ("postgres", "secured", Unit.VIEW),
    ],
)
def test_views(source, dialect, table, expected):
    assert unit(source(dialect), table=table) == expected


def test_a_virtual_table_of_sqlite(tmp_path):
    connection = sqlite3.connect(tmp_path / "e.sqlite")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(u, i)")
    connection.close()
    assert unit(tmp_path / "e.sqlite", sql="SELECT u, i FROM t") == Unit.QUERY


def test_ibis_tables_and_expressions():
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE t AS SELECT 1 AS u, 'a' AS i")
    table = connection.table("t")
    assert unit(table) == Unit.USER
    assert unit(ibis.memtable(pd.DataFrame({"u": [1], "i": ["a"]}))) == Unit.USER
    for expression in (table.limit(3), table.mutate(u=table.i), table.distinct()):
        assert unit(expression) == Unit.EXPRESSION


@pytest.mark.parametrize(("name", "expected"), [("t", Unit.USER), ("v", Unit.VIEW)])
def test_an_ibis_table_is_told_from_a_view(files, name, expected):
    for connect in (
        lambda: ibis.duckdb.connect(files["duckdb"], read_only=True),
        lambda: ibis.sqlite.connect(files["sqlite"]),
    ):
        connection = connect()
        assert unit(connection.table(name)) == expected
        assert unit(connection.table(name).limit(5)) == Unit.EXPRESSION
        connection.disconnect()
