"""`mutants.toml` fits the code and the tests of today; `make mutants` tries what it says."""

import subprocess
import sys
from dataclasses import replace

import pytest

from tests.mutants import ROOT, Mutant, judged, read_mutants

MUTANTS = read_mutants([])


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutation_can_be_made(mutant):
    path = ROOT / "src/headcount" / mutant.file
    changed = mutant.applied(path.read_text("utf-8"))
    compile(changed, str(path), "exec")


def test_names_are_different():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_the_tests_that_are_to_turn_red_exist():
    tests = sorted({f"tests/{mutant.test}" for mutant in MUTANTS})
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr


def test_a_mutation_is_noticed_or_not():
    """On a change that a test sees, one that nobody can, one that is none, and one without a test.

    The copy is what is tested, whatever is installed: the code here has no such fault.
    """
    costs = "privacy/test_filter.py::test_a_cost_is_not_negative"
    condition = "if self.rho.numerator < 0 or self.delta.numerator < 0:"
    real = Mutant("a negative cost", "privacy/accounting/filter.py", condition, "if False:", costs)
    killed, how = judged(real)
    assert killed
    assert how.startswith(costs)
    assert judged(replace(real, new=f"{condition}  # still")) == (False, f"SURVIVED {costs}")
    killed, how = judged(replace(real, old="not there"))
    assert (killed, how[:17]) == (False, "COULD NOT BE MADE")
    killed, how = judged(replace(real, test="privacy/test_filter.py::no_test"))
    assert (killed, how[:19]) == (False, "COULD NOT BE JUDGED")
