"""Bounds of dependencies: both are stated, and the lower ones are those that are tested."""

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIRED = [Requirement(line) for line in sum(EXTRAS.values(), PROJECT["dependencies"])]
#: What decides what is counted, what is drawn, and what a query means.
PRIVACY_RESTS_ON = (
    *("duckdb", "ibis-framework", "numpy", "polars", "psycopg", "pyarrow", "pyspark"),
    *("sqlalchemy", "sqlglot"),
)


def bounds() -> dict[str, SpecifierSet]:
    """Return what each package is bound to; Ibis is named in several places, once with bounds."""
    found: dict[str, SpecifierSet] = {}
    for required in REQUIRED:
        found[required.name] = found.get(required.name, SpecifierSet()) & required.specifier
    return found


def oldest() -> dict[str, Version]:
    lines = (ROOT / "tests" / "oldest.txt").read_text().splitlines()
    pins = (line.split("==") for line in lines if not line.startswith("#"))
    return {name: Version(number) for name, number in pins}


def lowest(allowed: SpecifierSet) -> Version:
    return max(Version(bound.version) for bound in allowed if bound.operator in (">=", "~=", "=="))


def test_the_oldest_versions_are_the_lower_bounds():
    pinned = oldest()
    assert pinned.pop("psycopg-binary") == pinned["psycopg"]  # which is released with it
    assert pinned == {name: lowest(allowed) for name, allowed in bounds().items()}


@pytest.mark.parametrize("name", PRIVACY_RESTS_ON)
def test_what_privacy_rests_on_has_an_upper_bound(name):
    assert any(bound.operator in ("<", "<=", "~=", "==") for bound in bounds()[name])


@pytest.mark.parametrize("name", bounds())
def test_what_is_installed_is_allowed(name):
    installed = Version(version(name))
    assert installed in bounds()[name]
    if Path(sys.prefix).name == ".venv-oldest":
        assert installed == oldest()[name]


def test_the_oldest_are_tested_with_privacy_and_engines():
    rule = re.search(r"^OLDEST := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"tests/privacy", "tests/engines", "tests/inputs"} <= set(rule[1].split())
    assert all((ROOT / name).exists() for name in rule[1].split())
    assert "make test-oldest" in (ROOT / ".ci" / "run").read_text().splitlines()
