"""Plume, thresholding and PCR on cases worked by hand, and the results of a seed."""

import math

import numpy as np
import pyarrow as pa
import pytest

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.methods import Released, Target
from headcount.evaluation.plume import Plume, WithThreshold
from headcount.evaluation.release import ReleaseMethod
from headcount.evaluation.summary import shown, summarise
from headcount.evaluation.thresholding import ThresholdingMethod
from headcount.evaluation.trials import TrialOutcome, run_trial, standard_methods

NO_NOISE = Target(rho=1e12, delta=1e-6, r=0.1)


def by_hand():
    """950 users have A; 50 have A, B, C and D. So m is 1 at the 95th percentile, 4 at the 99th."""
    users = np.concatenate([np.arange(950), np.repeat(np.arange(950, 1000), 4)])
    items = np.concatenate([np.zeros(950, dtype=int), np.tile(np.arange(4), 50)])
    return Dataset.of(users, items)


def test_plumes_bias_has_the_right_size():
    """The 50 keep one of four: A has 950 + 12.5 users of 1,000, the others 12.5 of 50."""
    data, runs = by_hand(), 200
    counts = np.mean(
        [Plume(95).run(data, NO_NOISE, np.random.default_rng(n)).counts for n in range(runs)],
        axis=0,
    )
    within = 4.9 * (50 * 0.25 * 0.75 / runs) ** 0.5  # fails by chance once in 10⁶
    assert counts == pytest.approx([962.5, 12.5, 12.5, 12.5], abs=within)
    (outcome,) = run_trial(data, [Plume(95)], NO_NOISE, seed=1)
    assert outcome.bias == pytest.approx((-0.0375 - 3 * 0.75) / 4, abs=0.03)
    assert (outcome.released, outcome.within) == (4, 1)


def test_plume_has_no_bias_when_its_bound_cuts_nothing():
    released = Plume(99).run(by_hand(), NO_NOISE, np.random.default_rng(1))
    assert released.counts == pytest.approx([1000, 50, 50, 50], abs=0.01)


@pytest.mark.parametrize(("literal", "sensitivity"), [(False, 2.0), (True, 4.0)])
def test_plumes_noise_is_what_half_of_rho_pays_for(literal, sensitivity):
    """2,000 users with the same 4 items: m' = 4, σ = √4/√(2·ρ/2)."""
    data = Dataset.of(np.repeat(np.arange(2000), 4), np.tile(np.arange(4), 2000))
    target, runs = Target(rho=0.04, delta=1e-6, r=0.1), 500
    sigma = sensitivity / math.sqrt(0.04)
    plume = Plume(95, literal=literal)
    noise = []
    for n in range(runs):
        released = plume.run(data, target, np.random.default_rng(n))
        assert released.sigma == pytest.approx(sigma)
        noise += (released.counts - 2000).tolist()
    assert np.std(noise) == pytest.approx(sigma, rel=4.9 / math.sqrt(2 * len(noise)))


def test_the_threshold_is_the_papers():
    target = Target(rho=1, delta=1e-6, r=0.1)
    released = Released(np.arange(3), np.array([209.9, 210.0, 500.0]), sigma=10.0)
    kept = WithThreshold(Plume(95)).cut(released, target)
    assert kept.items.tolist() == [1, 2]
    assert pytest.approx(1 + target.r) == (210 + 10) / (210 - 10)


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_thresholding_releases_counts_with_its_noise(noise):
    users = np.arange(300_000)
    data = Dataset.of(users, users % 1000)
    target = Target(rho=0.5, delta=1e-6, r=0.1)
    released = ThresholdingMethod(1, noise).run(data, target, np.random.default_rng(1))
    assert released.items.size == 1000
    assert released.sigma == pytest.approx({"gaussian": 1, "laplace": 2**0.5}[noise])
    # The fourth moment of Laplace's noise makes its variance less certain: 20 % is 1e-6.
    assert np.std(released.counts - 300) == pytest.approx(released.sigma, rel=0.2)


def test_thresholding_bounds_what_exceeds_its_bound():
    released = ThresholdingMethod(1).run(by_hand(), NO_NOISE, np.random.default_rng(1))
    assert released.counts.sum() == pytest.approx(1000, abs=0.01)


def test_thresholding_is_compared_where_the_bound_is_small():
    names = [method.name for method in standard_methods(8)]
    assert "gaussian-threshold" in names
    assert "gaussian-threshold" not in [method.name for method in standard_methods(9)]


def made_up():
    rng = np.random.default_rng(7)
    users = np.repeat(np.arange(5000), rng.integers(1, 40, 5000))
    return Dataset.of(users, (rng.random(users.size) ** 3 * 2000).astype(int))


def test_results_of_a_seed_are_pinned():
    data = made_up()
    outcomes = list(
        run_trial(data, standard_methods(data.max_items_per_user), Target(1.0, 1e-6, 0.1), seed=3)
    )
    assert [(o.method, o.released, o.within, round(o.bias, 4)) for o in outcomes] == PINNED


PINNED = [
    ("pcr-paper", 95, 89, -0.0035),
    ("pcr", 206, 192, -0.0081),
    ("rationed", 519, 493, 0.0086),
    ("auto", 586, 553, -0.0013),
    ("plume-95", 1109, 649, -0.0118),
    ("plume-95-threshold", 113, 113, -0.0038),
    ("plume-99", 1103, 640, 0.0033),
    ("plume-99-threshold", 116, 113, 0.0083),
]


def test_an_outcome_does_not_depend_on_which_other_methods_run():
    data, target = made_up(), Target(0.5, 1e-6, 0.1)
    methods = standard_methods(data.max_items_per_user)
    together = list(run_trial(data, methods, target, seed=1))
    alone = [next(iter(run_trial(data, [method], target, seed=1))) for method in methods]
    assert together == alone


def test_pcr_is_the_one_of_releases():
    import headcount

    data, target = made_up(), Target(1.0, 1e-6, 0.1)
    rng = np.random.default_rng(5)
    seed = int(np.random.default_rng(5).integers(2**63))
    released = ReleaseMethod("pcr").run(data, target, rng)
    counts = dict(enumerate(data.counts.tolist()))
    made = headcount.release_counts(
        counts,
        budget=headcount.Budget(rho=1),
        users=data.number_of_users,
        method="pcr",
        unsafe_seed=seed,
    )
    rounded = np.rint(released.counts).astype(int)
    assert sorted(rounded.tolist()) == sorted(made.table["count"].to_pylist())


@pytest.mark.parametrize("method", ["rationed", "auto"])
def test_a_population_in_memory_is_that_of_an_engine(method):
    """Arrays and DuckDB answer alike: with one seed both find as many items, as large."""
    import headcount

    data, target = made_up(), Target(1.0, 1e-6, 0.1)
    seed = int(np.random.default_rng(5).integers(2**63))
    released = ReleaseMethod(method).run(data, target, np.random.default_rng(5))
    events = pa.table({"user": data.users, "item": data.items})
    made = headcount.release(
        events,
        user="user",
        item="item",
        budget=headcount.Budget(rho=1),
        method=method,
        unsafe_seed=seed,
    )
    assert len(made) == pytest.approx(released.items.size, rel=0.2)
    truth = data.counts[made.table["item"].to_numpy()]
    assert np.abs(made.table["count"].to_numpy() / truth - 1).mean() < 0.1


def test_no_data_gives_nothing():
    nothing = Dataset.of(np.array([], dtype=int), np.array([], dtype=int))
    outcomes = run_trial(nothing, standard_methods(0), Target(1.0, 1e-6, 0.1), seed=1)
    assert [outcome.released for outcome in outcomes] == [0] * 8


def test_a_summary_by_hand():
    outcomes = [
        TrialOutcome("a", 1.0, 0, released=10, within=9, covered=9, bias=0.1),
        TrialOutcome("a", 1.0, 1, released=20, within=14, covered=19, bias=0.3),
        TrialOutcome("a", 1.0, 2, released=0, within=0, covered=0, bias=0.0),
        TrialOutcome("b", 1.0, 0, released=0, within=0, covered=0, bias=0.0),
    ]
    first, second = summarise(outcomes)
    assert (first.trials, first.released, first.released_spread) == (3, 10, 10)
    assert first.within == pytest.approx(23 / 3)
    assert first.beyond == pytest.approx((0.1 + 0.3) / 2)
    assert first.bias == pytest.approx(0.2)
    assert (second.released, second.beyond, second.bias) == (0, None, None)
    assert shown(second)[-2:] == ["–", "–"]
