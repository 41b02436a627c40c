"""Whether a glob would find an output is said as glob itself will find it."""

import glob
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headcount.errors import OutputError
from headcount.outputs.overlap import check_apart

FOLDERS = ["", "a", "a/b", "ab", ".hidden", "a/.hidden"]
names = st.text("ab.", min_size=1, max_size=3).filter(lambda name: name.strip("."))
parts = st.one_of(
    st.sampled_from(["a", "b", "ab", "*", "**", "?", "a*", "[ab]", "[!b]", ".*", ".", "*b"]),
    names,
)


@settings(deadline=None)  # the disk decides
@given(st.lists(parts, min_size=1, max_size=4), st.booleans(), st.sampled_from(FOLDERS), names)
@example(["**"], False, "", "a")
@example(["**", "*"], False, "a/b", "a")
@example(["**", "*"], True, "a/.hidden", "a")
@example(["a", "**"], False, "a/b", "b")
@example(["..", "*", "*"], False, "a", "b")
@example(["a", "a", "."], False, "a", "a")
def test_an_output_is_refused_if_the_glob_then_finds_it(pattern, absolute, folder, name):
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as top:
        root = Path(top) / "root"
        for below in FOLDERS:
            (root / below).mkdir(parents=True, exist_ok=True)
        output = root / folder / name
        if output.exists():
            return
        os.chdir(root)
        try:
            source = "/".join([str(root), *pattern] if absolute else pattern)
            if Path(source).exists():
                return  # it is a name then
            refused = False
            try:
                check_apart(output, source, None)
            except OutputError:
                refused = True
            output.touch()
            found = map(Path, glob.glob(source, recursive=True))  # noqa: PTH207
            there = any(path.samefile(output) for path in found if path.exists())
            # "a/." names a folder, so that no file is found by it; to refuse that is safe.
            assert refused is there or (refused and pattern[-1] == ".")
        finally:
            os.chdir(before)


@pytest.mark.parametrize("source", ["postgres://h/d", "s3a://lake/x", "spark://m:1", "missing.csv"])
def test_sources_elsewhere_have_no_files_here(tmp_path, source):
    check_apart(tmp_path / "o.csv", source, "postgres://h/d")


def test_a_way_through_a_folder_does_not_lie_in_it(tmp_path):
    (tmp_path / "lake").mkdir()
    check_apart(tmp_path / "lake" / ".." / "o.csv", str(tmp_path / "lake"), None)
    with pytest.raises(OutputError, match="a folder that is read"):
        check_apart(tmp_path / "lake" / ".." / "lake" / "o.csv", str(tmp_path / "lake"), None)
