"""What `make yield` says: rivals in hindsight, means of trials, and bars that can be missed."""

import math
from dataclasses import replace

import numpy as np
import pytest
from experiments.bars import bars
from experiments.cells import Cell
from experiments.hindsight import BestThreshold, Oracle
from experiments.yields import METHODS, table

from experiments import run
from headcount.evaluation.dataset import Dataset
from headcount.evaluation.methods import Target
from headcount.evaluation.trials import TrialOutcome


def dataset(users, items_per_user):
    """Everybody has the same items."""
    codes = np.arange(users * items_per_user)
    return Dataset.of(codes // items_per_user, codes % items_per_user)


def test_the_oracle_measures_what_a_ration_is_enough_for():
    """1,000 users with the same 50 items: σ = 60, 1/(2·60²) each; centred, a quarter of that."""
    one = 1 / (2 * 60**2)
    data = dataset(1000, 50)
    for rho, number in [(3.01 * one / 4, 3), (20.01 * one / 4, 20), (1000 * one, 50)]:
        released = Oracle().run(data, Target(rho, 1e-6, 0.1), np.random.default_rng(1))
        assert released.items.tolist() == list(range(number))
        assert released.errors == pytest.approx(np.full(number, 60))


def test_the_oracle_gives_each_user_a_ration_of_their_own():
    """50 items with 1,000 users each who have nothing else: one is as cheap as all."""
    users = np.arange(50_000)
    data = Dataset.of(users, users // 1000)
    target = Target(1.01 / (2 * 60**2), 1e-6, 0.1)
    assert Oracle().run(data, target, np.random.default_rng(1)).items.size == 50
    # With half of that, shares of 0.7 would lose far more than may be lost.
    half = replace(target, rho=target.rho / 2)
    assert Oracle().run(data, half, np.random.default_rng(1)).items.size == 2


def test_threshold_in_hindsight_takes_the_bound_that_fits():
    data = dataset(2000, 16)
    released = BestThreshold().run(data, Target(0.5, 1e-6, 0.1), np.random.default_rng(1))
    assert released.items.size == 16
    assert released.sigma == pytest.approx(math.sqrt(16 / (2 * 0.5)), rel=0.01)


def outcome(seed, released, within, bias=0.0):
    return TrialOutcome("auto", 1.0, seed, released, within, within, bias, bias, -bias)


def test_a_cell_is_a_mean_over_trials():
    cell = Cell.of([outcome(0, 90, 90, 0.02), outcome(1, 110, 55, -0.04)])
    assert (cell.released, cell.accurate, cell.within) == (100, 72.5, 0.75)
    assert (cell.off, cell.light, cell.spread) == pytest.approx((0.03, -0.01, 0.1))
    assert str(cell) == "100 · 75 · 75 % · -1.0 +1.0"
    assert str(Cell.of([outcome(0, 0, 0)])) == "0"


GOOD = Cell(100, 92, 0.92, 0.96, 0.01, 0.01, -0.01, 0.05)


def lines(auto, rho=1.0):
    found = {
        ("s", rho, "pcr-paper"): replace(GOOD, accurate=20),
        ("s", rho, "pcr"): replace(GOOD, accurate=92),
        ("s", rho, "auto"): auto,
        ("s", rho, "oracle"): replace(GOOD, released=120, accurate=110),
    }
    return bars(found, "oracle", "pcr-paper", ["auto"], "auto")


def test_what_clears_every_bar_misses_none():
    assert not [line for line in lines(GOOD) if "missed" in line]
    assert "auto against pcr-paper, accurate items: geometric mean 4.60 (at least 4.2)" in lines(
        GOOD
    )


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"within": 0.90}, "within"),
        ({"covered": 0.93}, "coverage"),
        ({"covered": 0.995}, "coverage"),
        ({"heavy": -0.04}, "fifths"),
        ({"off": 0.02}, "together"),
        ({"spread": 0.2}, "spread"),
        ({"accurate": 80.0}, "the best method"),
        ({"accurate": 60.0}, "the oracle"),
    ],
)
def test_a_missed_bar_is_named(change, named):
    missed = [line for line in lines(replace(GOOD, **change)) if "; missed in 1 of 1: s" in line]
    assert any(named in line for line in missed)


def test_the_table_has_a_line_for_each_budget():
    found = {("s", rho, method.name): GOOD for rho in run.RHOS for method in METHODS}
    assert len(table(["s"], found).splitlines()) == 2 + len(run.RHOS)
