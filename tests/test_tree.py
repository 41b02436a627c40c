"""Files stay small, so that each can be read in one go, and CONTRIBUTING says where they are."""

import re
import statistics
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES = 400
MEDIAN = 150


def lengths():
    files = [*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")]
    return {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in files
    }


def test_no_file_is_long():
    assert {path: n for path, n in lengths().items() if n > MOST_LINES} == {}


def test_most_files_are_short():
    written = [n for n in lengths().values() if n]  # not the empty __init__.py of tests
    assert statistics.median(written) < MEDIAN


def test_contributing_names_every_folder_and_module_of_the_package():
    """Folders, and the modules beside them; those within a folder are its own affair."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = "\n".join(re.findall(r"^\| .*src/headcount/.* \|$", text, flags=re.M))
    package = ROOT / "src" / "headcount"
    folders = {path.parent for path in package.rglob("*/__init__.py")}
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py"}
    names = modules | {folder.name for folder in folders}
    assert [name for name in names if not re.search(rf"\b{re.escape(name)}\b", tree)] == []


def test_what_contributing_names_is_there():
    tree = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(src/headcount/[^|]*)\|([^|]*)\|$", tree, flags=re.M)
    for where, what in rows:
        first, *more = re.findall(r"[\w./]+(?:/|\.py)", where)
        base = ROOT / first if first.endswith("/") else (ROOT / first).parent
        near = base if base.name == "headcount" or not more else base.parent
        for name in (first, *(str((near / one).relative_to(ROOT)) for one in more)):
            assert (ROOT / name).exists(), name
        for name in re.findall(r"`(\w+\.py)`", what):
            assert list(base.rglob(name)) or list(base.parent.rglob(name)), name


def test_what_a_quick_check_runs_is_there():
    files = (ROOT / "tests" / "fast.txt").read_text(encoding="utf-8").split()
    assert files == sorted(set(files))
    assert [name for name in files if not (ROOT / name).is_file()] == []
