"""What is installed is what is here: nothing of the package is ignored, and so left out of it."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_nothing_of_the_package_is_ignored():
    """What git ignores, the build of a wheel leaves out, also if it was committed."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout of the repository")
    paths = [str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.*")]
    kept = [path for path in paths if "__pycache__" not in path and ".egg-info" not in path]
    ignored = subprocess.run(
        ["git", "check-ignore", "--no-index", *kept],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ignored.stdout == ""
