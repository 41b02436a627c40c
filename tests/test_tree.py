"""Files stay small, so that each can be read in one go."""

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
