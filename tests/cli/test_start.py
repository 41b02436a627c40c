"""What a short command imports: most of its time is imports, so none is there without need."""

import json
import subprocess
import sys

import pytest

#: Libraries and modules that a release of a file to a file does without, and all below them.
NOT_NEEDED = {
    *("jinja2", "markupsafe", "matplotlib", "pandas", "polars", "psycopg", "pyspark", "scipy"),
    *("numpy.ma", "numpy.random", "pyarrow.compute", "pyarrow.dataset", "pyarrow.pandas_compat"),
    *("rich.console", "rich.progress", "sqlalchemy", "asyncio", "unittest"),
    *("headcount.api", "headcount.demo", "headcount.evaluation", "headcount.pages"),
    *("headcount.planning", "headcount.outputs.registry", "headcount.engines.spark.count"),
    *(f"headcount.cli.{command}" for command in ("compare", "demo", "ledger", "plan", "verify")),
}
#: Ibis has twenty dialects.
DIALECTS = "ibis.backends.sql.compilers."

RUN = """
import json, sys
from headcount import cli

def leave(code):
    print(json.dumps([code, sorted(sys.modules)]))
    raise SystemExit

cli._leave = leave
cli.main()
"""


def modules_of(program, *arguments):
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return json.loads(done.stdout)


def unneeded(modules):
    return [
        name
        for name in modules
        if any(name == other or name.startswith(f"{other}.") for other in NOT_NEEDED)
    ]


@pytest.fixture
def released(parquet, tmp_path):
    asked = ["--user", "uid", "--item", "item", "--rho", "1", "--method", "rationed"]
    output = str(tmp_path / "counts.csv")
    return modules_of(RUN, "release", str(parquet), *asked, "--output", output)


def test_a_release_imports_what_it_needs(released):
    code, modules = released
    assert code == 0
    assert {"duckdb", "ibis", "numpy", "pyarrow"} <= set(modules)
    assert unneeded(modules) == []
    compilers = {name.removeprefix(DIALECTS) for name in modules if name.startswith(DIALECTS)}
    assert {name for name in compilers if not name.startswith("_")} == {"base", "duckdb"}


def test_importing_headcount_imports_nothing_else():
    program = "import json, sys; before = set(sys.modules); import headcount; "
    program += "print(json.dumps(sorted(set(sys.modules) - before)))"
    found = modules_of(program)
    assert [name for name in found if name.partition(".")[0] not in sys.stdlib_module_names] == [
        "headcount"
    ]


def test_what_is_not_needed_would_be_noticed():
    assert unneeded(["pandas", "pandas.core", "pandas2", "numpy"]) == ["pandas", "pandas.core"]
