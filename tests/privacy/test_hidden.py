"""Heavy users too few to be seen: what a rationed release says of its errors allows for them.

Whole runs are seeded. Before these users were allowed for, 17 to 32 % of the intervals held the
truth with thirty of them. An interval that is right fails in 5 % of all cases; what is asked is far
from both.
"""

import numpy as np
import pytest
from experiments.shapes import few_heavy_users, few_uneven_users

from headcount.evaluation.dataset_population import DatasetPopulation
from headcount.evaluation.methods import Target
from headcount.evaluation.release import ReleaseMethod
from headcount.evaluation.trials import run_trial
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.rationed import rationed_release as rationed
from headcount.privacy.mechanisms.rationed.hidden import HiddenLosers, HiddenUsers
from headcount.privacy.mechanisms.rationed.losses import FINE, ONE, Losers
from headcount.privacy.mechanisms.rationed.rationed_release import rationed_release
from headcount.privacy.mechanisms.rationed.sizes import Sizes
from headcount.privacy.questions import GRID
from headcount.privacy.randomness import SeededEntropy

BINS = len(Losers.BOUNDS)


def histogram(users, last=ONE + 6):
    """Noisy numbers of users in bins, in σ, where nobody can be beyond the last."""
    bins = np.zeros(BINS)
    for place, number in users.items():
        bins[place] = number
    return Losers(bins, 1.0, mass=1000.0 * FINE, most=1.5 * 2.0**last)


def lost(number, place):
    """Return the share that so many users lose in a bin."""
    return number * 2.0**place / np.log(2) / (GRID * FINE * 1000)


def losses(histograms, part=1.0):
    """Return what hidden users lose where a user with everything loses this part of the first."""
    first = histograms[0]
    ((mean,), (error,)) = HiddenLosers(histograms).losses(
        np.array([part * 2.0**first.last / np.log(2) / first.unit])
    )
    return mean, error


def test_several_histograms_show_what_one_does_not():
    seen = histogram({ONE: 100, ONE + 6: 2.5})
    one, four = losses([seen]), losses([seen] * 4)
    assert four[0] == pytest.approx(lost(2.5, ONE + 6), rel=0.1)
    assert one[0] < 0.75 * four[0]


def test_where_nothing_is_seen_little_is_taken_to_hide():
    mean, error = losses([histogram({ONE: 100})] * 4)
    assert 0 < mean < lost(0.25, ONE + 6)
    assert error < lost(0.75, ONE + 6)


def test_nobody_hides_beyond_what_a_user_with_everything_loses():
    assert losses([histogram({ONE: 100, ONE + 9: 4}, last=ONE)] * 4) == (0.0, 0.0)


def test_the_same_users_are_expected_where_less_is_asked_of_them():
    """As far from the most that anybody can lose, also at points that nobody asked about."""
    much = [histogram({ONE + 6: 4})] * 3
    whole, part = losses(much), losses(much, part=1 / 8)
    assert part == pytest.approx([each / 8 for each in whole])


def test_a_tail_is_seen_as_well_as_a_group():
    tail = histogram({ONE + 3: 2, ONE + 4: 2, ONE + 5: 2, ONE + 6: 2})
    mean, _ = losses([tail] * 3)
    assert mean == pytest.approx(sum(lost(2, ONE + k) for k in (3, 4, 5, 6)), rel=0.35)


def test_a_few_users_by_themselves_are_a_group_however_clear_they_are():
    """What they lose grows otherwise than what all others do."""
    assert histogram({ONE: 100, ONE + 6: 9}).top == ONE
    assert histogram({ONE: 100, ONE + 5: 9, ONE + 6: 9}).top == ONE + 6


def test_cases_are_all_there_is():
    sizes = Sizes([1000] + [0] * (len(Sizes.BOUNDS) - 1), 10.0)
    (nobody, none), *others = HiddenUsers([sizes]).cases()
    assert sum(chance for chance, _ in others) == pytest.approx(1 - nobody)
    assert 0.8 < nobody < 1
    assert not none.any()
    assert all(users[0] == 0 and users.sum() > 0 for _, users in others)


def test_a_group_that_is_seen_is_in_every_likely_case():
    noisy = [1000] + [0] * (len(Sizes.BOUNDS) - 1)
    noisy[16] = 70
    nobody, *others = HiddenUsers([Sizes(noisy, 10.0)]).cases()
    assert nobody[0] < 1e-3
    assert sum(chance * users[16] for chance, users in others) == pytest.approx(70, rel=0.1)


@pytest.mark.parametrize(
    ("made", "rho"),
    [(lambda: few_heavy_users(30), 1.0), (few_uneven_users, 0.5)],
)
def test_intervals_hold_with_a_few_heavy_users(made, rho):
    dataset = made()
    target = Target(rho, 1e-6, 0.1)
    runs = [
        outcome
        for seed in range(6)
        for outcome in run_trial(dataset, [ReleaseMethod("rationed")], target, seed)
    ]
    assert all(run.released >= 20 for run in runs)
    # Of a group that noise hides altogether no run can know.
    assert sum(run.covered > 0.85 * run.released for run in runs) >= 5
    assert sum(run.within > 0.85 * run.released for run in runs) >= 5


class Asked(DatasetPopulation):
    """A population that remembers the costs it was asked about."""

    def __init__(self, dataset):
        super().__init__(dataset)
        self.costs = {"losers": [], "clipped_sums": []}

    def losers(self, costs, *more):
        self.costs["losers"].append(costs)
        return super().losers(costs, *more)

    def clipped_sums(self, costs, base):
        self.costs["clipped_sums"].append(costs)
        return super().clipped_sums(costs, base)


def asked_of(dataset, seed, rho=0.5):
    population = Asked(dataset)
    budget = Budget(rho=rho)
    rationed_release(population, 0.1, budget, Gate(budget.for_filter, SeededEntropy(seed)))
    return population.costs


def test_nothing_is_asked_about_losses_where_nobody_can_lose():
    """Thirty users with everything are seen at once, and all of them are within their rations."""
    dataset = few_heavy_users(30)
    for seed in range(3):
        assert len(asked_of(dataset, seed, 1.0)["losers"]) == 1


def test_the_counts_lose_what_was_asked_about_however_much_was_asked(monkeypatch):
    """Costs are the same parts of a ration, of whatever is left; here one question was asked."""
    monkeypatch.setattr(rationed, "best", lambda points, *more: len(points) // 2)
    monkeypatch.setattr(rationed._Search, "_nobody_loses", lambda self, place: bool(self.asked))
    costs = asked_of(few_heavy_users(10), 16)
    (last,), final = costs["losers"], costs["clipped_sums"][-1]
    assert 20 < (final > 0).sum() == (last > 0).sum()
    assert np.abs(final - last).max() <= 1e-9 * last.max()
