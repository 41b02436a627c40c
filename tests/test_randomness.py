"""Randomness enters the package in one module, in whatever way it could be asked for."""

import ast
from pathlib import Path

import pytest

import headcount

PACKAGE = Path(headcount.__file__).parent
#: The one module; and simulations with a seed, of which nothing can become a release.
ALLOWED = ("privacy/randomness.py", "evaluation/")
SOURCES = {
    "np.random",
    "numpy.random",
    "os.urandom",
    "os.getrandom",
    "random.random",
    "ssl.RAND_bytes",
}


def asked_for(source: str) -> set[str]:
    """Return the sources of randomness that a module names, as attributes or in imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                found.add(f"{owner}.{name}")
            case ast.ImportFrom(module=str(module), names=names):
                found |= {module, *(f"{module}.{alias.name}" for alias in names)}
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
    return found & SOURCES


def modules():
    paths = (path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
    return [path for path in paths if not path.startswith(ALLOWED)]


@pytest.mark.parametrize("path", modules())
def test_no_other_module_asks_for_randomness(path):
    assert not asked_for((PACKAGE / path).read_text("utf-8"))


def test_what_is_looked_for_is_found():
    assert asked_for((PACKAGE / "privacy/randomness.py").read_text("utf-8"))
    for source in (
        "import numpy.random",
        "from os import urandom",
        "import numpy as np; np.random",
    ):
        assert asked_for(source)
