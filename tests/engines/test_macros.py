"""A macro of a DuckDB database is never called in place of a function that headcount calls."""

import duckdb
import ibis
import pytest

import headcount as hc

BUDGET = hc.Budget(rho=1)
# Each of them is called in what headcount asks, or would hide the others.
MACROS = [
    "divide(a, b) AS a",
    "HASH(x) AS 1",
    "lower(x) AS CAST(random() AS VARCHAR)",
    "isnan(x) AS true",
    "sqrt(x) AS 1000000.0",
    '"||"(a, b) AS a',
    "current_database() AS 'other'",
    "duckdb_functions() AS TABLE SELECT 'x' AS function_name, true AS internal",
]


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS who, 'tea' AS what FROM range(500)")
        connection.execute("CREATE MACRO net(x) AS x / 1.19")
    return path


def ways(path):
    """Every way to a table of the file."""
    ask = {"user": "who", "item": "what", "budget": BUDGET}
    yield lambda: hc.release(path, table="t", **ask)
    yield lambda: hc.release(path, sql="SELECT who, what FROM t", **ask)
    yield lambda: hc.release(ibis.duckdb.connect(path, read_only=True).table("t"), **ask)


def test_a_macro_of_another_name_is_no_obstacle(shop):
    for release in ways(shop):
        assert len(release()) == 1


@pytest.mark.parametrize("macro", MACROS)
def test_a_macro_by_the_name_of_a_function_is_refused(shop, macro):
    with duckdb.connect(str(shop)) as connection:
        connection.execute(f"CREATE MACRO {macro}")
    for release in ways(shop):
        # To DuckDB 1 a macro by the name of its own list of functions hides the tables too.
        with pytest.raises(hc.SourceError, match=r"macro|tables of the database cannot be listed"):
            release()
