"""The state that all threads of a process share is left alone: headcount is a library too."""

import ast
import os
import signal
from pathlib import Path

import pytest

import headcount as hc
from headcount.engines.spark.start import _ChildOptions
from headcount.outputs import AtomicFile

SOURCE = Path(__file__).parents[1] / "src"
# The program's own handlers, and pyspark's taken back.
SETS_HANDLERS = {"headcount/cli/__init__.py", "headcount/engines/spark/start.py"}
CHANGES = {"umask", "chdir", "putenv", "unsetenv", "setlocale", "setdefaulttimeout", "nice"}
OF_ENVIRON = {"setdefault", "update", "pop", "popitem", "clear"}


def changes(tree):
    """Yield what a module changes for the whole process."""
    for node in ast.walk(tree):
        text = ast.unparse(node) if isinstance(node, ast.Subscript | ast.Attribute) else ""
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            if "environ" in ast.unparse(node.value):
                yield text
        elif isinstance(node, ast.Attribute):
            of_environ = node.attr in OF_ENVIRON and "environ" in ast.unparse(node.value)
            if of_environ or text in {f"os.{name}" for name in CHANGES} | {"signal.signal"}:
                yield text


def test_no_module_changes_what_all_threads_share():
    found = {
        path.relative_to(SOURCE).as_posix(): list(changes(ast.parse(path.read_text())))
        for path in SOURCE.rglob("*.py")
    }
    handlers = {path for path, what in found.items() if "signal.signal" in what}
    assert handlers == SETS_HANDLERS
    assert {path: what for path, what in found.items() if set(what) - {"signal.signal"}} == {}


@pytest.mark.parametrize(
    "line",
    [
        "os.umask(0)",
        "os.environ['A'] = 'b'",
        "del os.environ['A']",
        "os.environ.setdefault('A', 'b')",
        "signal.signal(2, f)",
    ],
)
def test_what_would_be_found(line):
    assert list(changes(ast.parse(line)))


def test_nothing_is_found_in_reading():
    assert not list(changes(ast.parse("os.environ.get('A'); os.environ['A']; {'A': 1}['A']")))


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_file_has_the_rights_that_the_umask_says_without_touching_it(
    tmp_path, monkeypatch, umask
):
    before = os.umask(umask)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(os, "umask", lambda mask: pytest.fail("the umask is everybody's"))
            with AtomicFile(tmp_path / "out.csv") as file:
                file.commit(b"content")
    finally:
        os.umask(before)
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_release_leaves_the_process_as_it_was(parquet):
    def state():
        return dict(os.environ), [signal.getsignal(n) for n in signal.valid_signals()], Path.cwd()

    before = state()
    hc.release(parquet, user="uid", item="item", budget=hc.Budget(rho=1))
    assert state() == before


def test_variables_for_java_go_to_java_only():
    options = _ChildOptions({"JAVA_HOME": "/java"}, stdout=None)
    options["env"] = {"PATH": "/bin"}
    options["stdin"] = 0
    started = (lambda **given: given)(**options)
    assert started == {
        "stdout": None,
        "stdin": 0,
        "env": {"PATH": "/bin", "JAVA_HOME": "/java"},
    }
    assert os.environ.get("JAVA_HOME") != "/java"
