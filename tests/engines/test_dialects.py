"""Ibis loads the dialect that is used, and is whole for anybody who asks for more."""

import subprocess
import sys

LOADED = """
import sys
import headcount
import ibis
from headcount.engines import Session
from headcount.engines.duckdb.count import connect

with Session() as session:
    backend = connect(session)
    assert backend.compile(ibis.literal(1)).startswith("SELECT")
print(*sorted(name for name in sys.modules if name.startswith("ibis.backends.sql.compilers.")))
"""
WHOLE = """
from ibis.backends.sql.compilers import *
import ibis.backends.sql.compilers as compilers
assert AthenaCompiler is compilers.athena.AthenaCompiler
assert DuckDBCompiler is compilers.DuckDBCompiler is type(backend.compiler)
assert not hasattr(compilers, "no_such_database")
"""


def output(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_connection_loads_no_other_dialect():
    loaded = output(LOADED)
    assert "compilers.duckdb" in loaded
    assert "athena" not in loaded
    assert "snowflake" not in loaded


def test_other_users_of_ibis_find_all_of_it():
    output(LOADED + WHOLE)


def test_an_ibis_that_has_loaded_its_dialects_stays_as_it_is():
    output("import ibis.backends.sql.compilers as before\n" + LOADED + WHOLE + "before.athena")
