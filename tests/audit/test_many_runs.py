"""Private Count Release, where one user may have everything: many runs with that user and without.

Canaries are of no use here: a run pays for each item as if one user had them all, so that a user
with a few of them has a small part of ρ only. `make audit` takes more runs, in the default settings
and through the call that users make.
"""

import itertools
import math
import os
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import headcount
from headcount.privacy import gate
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.sensitivity import EachByOne
from headcount.privacy.mechanisms.pcr import PCR
from headcount.privacy.mechanisms.pcr.schedule import Level, levels
from headcount.privacy.mechanisms.pcr.settings import Settings, settings_for
from headcount.privacy.randomness import OsEntropy, SeededEntropy
from headcount.views.histogram import TopCounts
from tests.audit.estimator import rho_at_least, said
from tests.privacy.audit import HalfTheNoise, gaussian_score

LARGE = "AUDIT_WHOLE_RUNS" in os.environ
RUNS = int(os.environ.get("AUDIT_WHOLE_RUNS", "300"))


class Whole:
    """Runs on items that all have the same count, or one more: the user has every one of them."""

    def __init__(self, rho, r, items, count):
        self.budget = headcount.Budget(rho=rho)
        self.r, self.items, self.count = r, items, count
        # A tenth of the levels, each with more picks: a run in a few milliseconds.
        quick = Settings(epsilon_star=0.02, growth=1.5, k_bar=items, r=r)
        self.settings = settings_for("pcr", r=r, k_bar=items) if LARGE else quick

    def run(self, count, entropy):
        """Return noisy counts, σ and the number of levels of one run."""
        if LARGE and entropy is None:
            release = headcount.release_counts(
                dict.fromkeys(range(self.items), count),
                budget=self.budget,
                method="pcr",
                relative_error=self.r,
                candidates=self.items,
                columns="all",
            )
            table = release.table.select(["noisy_count", "noisy_std_error"])
            noisy, sigmas = (column.to_numpy() for column in table)
            return noisy, sigmas, release.guarantee.settings["levels_run"]
        names = pa.table({"what": np.arange(self.items)})
        top = TopCounts(names, pa.chunked_array([np.full(self.items, count)]))
        method = PCR(self.settings, self.budget)
        whole = gate.Gate(self.budget.whole, entropy or OsEntropy())
        made = method.on_histogram(top, 0, whole, lambda step: None)
        return made.counts.noisy, made.counts.sigmas, made.settings["levels_run"]

    def scores(self, one_more, entropy):
        runs = (self.run(self.count + one_more, entropy) for _ in range(RUNS))
        return np.array([self.score(*run) for run in runs])

    def score(self, noisy, sigmas, levels_run):
        """ln of how much likelier the noisy counts are with the user."""
        return float(gaussian_score(noisy, self.count + 1, self.count, sigmas).sum())

    @property
    def claim(self):
        """ρ that can go into counts, not into picks: at the first level the share is largest."""
        first = next(levels(self.settings, self.budget, self.items))
        return self.budget.rho * float(first.measure / first.each)

    def at_least(self, what, entropy=None):
        scores = [self.scores(one_more, entropy) for one_more in (1, 0)]
        what = f"pcr, {RUNS} runs with and without, r = {self.r}, {what}"
        return said(what, rho_at_least(*scores, self.claim), self.claim)


class AllOfIt(Whole):
    """Scored by when items came out, too, and held to the whole of ρ."""

    def score(self, noisy, sigmas, levels_run):
        score, left = super().score(noisy, sigmas, levels_run), self.items
        every = levels(self.settings, self.budget, self.items)
        for level in itertools.islice(every, levels_run):
            sigma = level.with_noise(self.settings.factor(self.items - left)).sigma
            picked = int((sigmas == sigma).sum())
            score += race(level, self.count + 1, left, picked)
            score -= race(level, self.count, left, picked)
            left -= picked
        assert left == self.items - sigmas.size  # σ tells the level of every item
        return score

    @property
    def claim(self):
        return self.budget.rho


def race(level, count, left, picked):
    """ln of the probability that so many of the items left, all equal, come before ⊥."""
    weight = math.exp(level.epsilon * (count - 1) - level.log_ratio)
    against = np.arange(left, left - picked - 1, -1) * weight
    return np.log(against[:-1]).sum() - np.log1p(against).sum()


# A small target error makes counts cost most of the budget, a large one makes picks.
COUNTS = AllOfIt(rho=2, r=0.03, items=150, count=140)
# With many levels more items can be paid for; there must be some left that cannot.
PICKS = Whole(rho=10, r=0.3, items=200, count=14 if LARGE else 36)


@pytest.mark.parametrize("runs", [COUNTS, PICKS], ids=["counts", "picks"])
def test_whole_runs(runs):
    bound = runs.at_least("as it is")
    assert 0 < bound <= runs.claim


def test_half_the_noise():
    assert COUNTS.at_least("half the noise", HalfTheNoise(1)) > COUNTS.claim


def test_counts_are_not_charged(monkeypatch):
    monkeypatch.setattr(EachByOne, "cost", lambda self, sigma: Fraction(0))
    assert COUNTS.at_least("counts not charged", SeededEntropy(1)) > COUNTS.claim


def test_picks_are_not_charged(monkeypatch):
    monkeypatch.setattr(gate, "pick_cost", lambda epsilon: Fraction(0))
    monkeypatch.setattr(Level, "picks", lambda self, number: Cost(delta=self.delta(number)))
    assert PICKS.at_least("picks not charged", SeededEntropy(1)) > PICKS.claim
