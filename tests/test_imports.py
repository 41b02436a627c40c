"""What is imported is there; and what is not there is noticed."""

import subprocess
import sys

import pytest

from tests import imports


def test_everything_that_is_imported_is_there():
    assert imports.missing() == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("from tests.sources import x", "no module tests.sources"),
        ("import headcount.absent", "no module headcount.absent"),
        ("def f():\n    from tests.conftest import absent", "tests.conftest has no absent"),
        ("from headcount.engines import absent", "headcount.engines has no absent"),
        ("from headcount.engines import duckdb, Reader; import numpy.absent", None),
    ],
)
def test_what_is_not_there_is_noticed(tmp_path, monkeypatch, line, says):
    monkeypatch.setattr(imports, "ROOT", tmp_path)
    (tmp_path / "x.py").write_text(line)
    found = list(imports.missing_from(tmp_path / "x.py"))
    assert [says in one for one in found] == ([True] if says else [])


def test_every_module_can_be_imported_first():
    """The package imports none of them itself, so nothing hides one that waits for another."""
    source = imports.PACKAGES["headcount"]
    files = [path.relative_to(source) for path in sorted((source / "headcount").rglob("*.py"))]
    modules = [
        ".".join(file.with_suffix("").parts).removesuffix(".__init__")
        for file in files
        if file.name != "__main__.py"
    ]
    program = """
import importlib, sys
for module in sys.argv[1:]:
    for name in [name for name in sys.modules if name.split(".")[0] == "headcount"]:
        del sys.modules[name]
    importlib.import_module(module)
"""
    assert len(modules) > 200
    subprocess.run([sys.executable, "-c", program, *modules], check=True)
