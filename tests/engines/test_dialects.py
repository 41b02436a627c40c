"""Ibis loads the dialects that are used, and still finds the others."""

import subprocess
import sys

RELEASED = """
import sys
import pyarrow as pa
import headcount

table = pa.table({"who": range(60), "what": ["tea"] * 60})
headcount.release(table, user="who", item="what", budget=headcount.Budget(rho=9))
loaded = {name.rpartition(".")[2] for name in sys.modules if ".sql.compilers." in name}
assert "duckdb" in loaded, loaded
assert not loaded & {"bigquery", "snowflake", "trino"}, loaded

import ibis
import ibis.backends.sql.compilers as sc
assert "SELECT" in ibis.to_sql(ibis.table({"a": "int64"}, name="t"), dialect="mysql")
assert sc.trino.compiler is not None
from ibis.backends.sql.compilers import SnowflakeCompiler
assert sc.SnowflakeCompiler is SnowflakeCompiler
assert not hasattr(sc, "nothing_of_that_name")
"""


def test_a_release_loads_one_dialect_and_the_others_are_found_when_asked_for():
    subprocess.run([sys.executable, "-c", RELEASED], check=True)
