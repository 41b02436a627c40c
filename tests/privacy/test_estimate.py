"""Estimates from all that was released: near the noisy counts, nearer to the true ones."""

import numpy as np
import pytest

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.estimate import smoothed
from headcount.privacy.mechanisms.pcr.private_count_release import private_count_release
from headcount.privacy.mechanisms.pcr.settings import settings_for
from headcount.privacy.randomness import SeededEntropy

RANK = np.arange(1, 20_001)
SHAPES = {
    "a power of the rank": 200_000 / RANK**0.7,
    "a steeper power": 3_000_000 / RANK**1.1,
    "exponential": 50_000 * np.exp(-RANK / 800),
    "log-normal": np.exp(np.random.default_rng(3).normal(6, 1.5, RANK.size)),
    "many alike": np.repeat([30_000.0, 9000.0, 4000.0, 100.0], RANK.size // 4),
}


def runs(shape, number=4):
    counts = np.sort(SHAPES[shape].astype(np.int64))[::-1]
    counts, budget = counts[counts > 0], Budget(rho=1.0)
    for seed in range(number):
        gate = Gate(budget.for_filter, SeededEntropy(seed))
        run = private_count_release(counts, 0, settings_for("pcr"), budget, gate)
        yield counts[run.positions], run


@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_cover_and_estimates_are_nearer_than_noisy_counts(shape):
    inside, off, plain = [], [], []
    for true, run in runs(shape):
        estimates, errors = smoothed(run.thresholds, run.counts.astype(float), run.sigmas)
        assert true.size > 100
        inside += (np.abs(estimates - true) <= 1.96 * errors).tolist()
        off += ((estimates / true - 1) ** 2).tolist()
        plain += ((run.counts / true - 1) ** 2).tolist()
    assert np.mean(inside) >= 0.93
    assert np.mean(off) < 0.6 * np.mean(plain)


def test_one_item_alone_is_its_noisy_count():
    estimates, errors = smoothed(np.array([100.0]), np.array([130.0]), np.array([10.0]))
    assert estimates.tolist() == pytest.approx([130.0])
    assert errors[0] >= 10.0


def test_nothing_gives_nothing():
    estimates, errors = smoothed(np.zeros(0), np.zeros(0), np.zeros(0))
    assert estimates.size == errors.size == 0
