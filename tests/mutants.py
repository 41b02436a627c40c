"""Break the code on purpose, one way at a time, and see that a test turns red.

    python -m tests.mutants [WORD…]

Each mutation of `mutants.toml` (or each whose name contains one of the words) is made in a copy of
`src`, and the one test that it names is run on that copy. Exit code 1 if a mutation survived, or if
it could not be judged.
"""

import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: How many at a time, and for how many seconds each; all tests without a mutation may take longer.
AT_ONCE, PATIENCE, PATIENCE_FOR_ALL = 2, 300, 1800
#: What pytest returns.
PASSED, FAILED = 0, 1

# Runs pytest on a given copy of the package, and on no other: an editable install must not win.
# Property tests try the same examples each time, and are content with the first that fails.
_ON_THE_COPY = """
import sys, pytest, headcount
from hypothesis import Phase, settings
settings.register_profile(
    "mutants", derandomize=True, database=None, deadline=None,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("mutants")
if not headcount.__file__.startswith(sys.argv[1]):
    sys.exit(f"{headcount.__file__} was imported, not what is in {sys.argv[1]}")
sys.exit(pytest.main(sys.argv[2:]))
"""


@dataclass(frozen=True)
class Mutant:
    """One way to break the code.

    Attributes:
        name: what is wrong then, in words.
        file: which file is changed, below ``src/headcount``.
        old: a text that occurs in it exactly once.
        new: what stands in its place.
        test: the test that turns red, below ``tests``.
    """

    name: str
    file: str
    old: str
    new: str
    test: str

    def applied(self, text: str) -> str:
        """Return the text of the file with the mutation, which must fit in exactly one place."""
        if text.count(self.old) != 1 or self.old == self.new:
            raise ValueError(f"{self.name}: what is to be changed is there {text.count(self.old)}×")
        return text.replace(self.old, self.new)


def read_mutants(words: list[str]) -> list[Mutant]:
    table = tomllib.loads((ROOT / "tests/mutants.toml").read_text("utf-8"))
    mutants = [Mutant(**row) for row in table["mutant"]]
    return [m for m in mutants if not words or any(word in m.name for word in words)]


def pytest_on(source: Path, patience: int, *args: str) -> tuple[int | None, str]:
    """Run pytest with the package of a folder; return its exit code, or None, and its output."""
    environment = {**os.environ, "PYTHONPATH": str(source), "CI": "1"}  # nothing is skipped
    # A folder of its own: pytest takes the rights of others away from the one that runs share, and
    # a PostgreSQL server that another test has started is another user.
    options = ["-q", "-x", "-p", "no:cacheprovider", "--tb=short"]
    options += [f"--basetemp={source.parent / 'pytest'}"]
    process = subprocess.Popen(
        [sys.executable, "-c", _ON_THE_COPY, str(source), *options, *args],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]
    return process.returncode, output


@contextmanager
def copied() -> Iterator[Path]:
    """Copy the source into a folder that goes away again."""
    with tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True) as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        yield source


def judged(mutant: Mutant) -> tuple[bool, str]:
    """Return whether a mutation was noticed, and how."""
    with copied() as source:
        path = source / "headcount" / mutant.file
        try:
            path.write_text(mutant.applied(path.read_text("utf-8")), "utf-8")
        except (OSError, ValueError) as error:
            return False, f"COULD NOT BE MADE: {error}"
        code, output = pytest_on(source, PATIENCE, f"tests/{mutant.test}")
    # What fails before a test has begun is the fault of something else.
    if code == FAILED and f"\nFAILED tests/{mutant.test}" in output:
        errors = [line for line in output.splitlines() if line.startswith("E  ")]
        return True, f"{mutant.test}: {errors[0][1:].strip() if errors else ''}"[:150]
    if code == PASSED:
        return False, f"SURVIVED {mutant.test}"
    return False, f"COULD NOT BE JUDGED (pytest: {code or 'too slow'}) {mutant.test}\n{output}"


def unchanged(tests: list[str]) -> tuple[bool, str]:
    """Return whether tests pass on the code as it is, and what they say."""
    with copied() as source:
        code, output = pytest_on(source, PATIENCE_FOR_ALL, *tests)
    return code == PASSED, output


def main(words: list[str]) -> int:
    mutants = read_mutants(words)
    if not mutants:
        print("no mutation has a name that contains what was given")
        return 1
    tests = sorted({f"tests/{mutant.test}" for mutant in mutants})
    size = math.ceil(len(tests) / AT_ONCE)
    parts = [tests[start : start + size] for start in range(0, len(tests), size)]
    noticed = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for passed, output in pool.map(unchanged, parts):
            if not passed:
                print(output)
                print("this is without a mutation: a test that fails then says nothing about any")
                return 1
        for mutant, (killed, how) in zip(mutants, pool.map(judged, mutants), strict=True):
            noticed += killed
            print(f"{'killed' if killed else 'ALIVE '} | {mutant.name} | {how}", flush=True)
    print(f"{noticed} of {len(mutants)} mutations were noticed")
    return int(noticed < len(mutants))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
