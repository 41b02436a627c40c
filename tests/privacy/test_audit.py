"""An audit: no two neighbours are told apart better than is claimed, and are if noise is halved.

Each run is scored by how much likelier it is on one neighbour than on the other, which is the best
that anybody can do. `make audit` does this with ten times as many runs.
"""

import math
import os
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.sensitivity import Together
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr import private_count_release as pcr
from headcount.privacy.mechanisms.pcr.look import counts_at_ranks
from headcount.privacy.mechanisms.pcr.settings import Settings
from headcount.privacy.mechanisms.rationed import prices
from headcount.privacy.mechanisms.rationed import queries as rationed
from headcount.privacy.mechanisms.rationed.losses import Losers
from headcount.privacy.mechanisms.rationed.queries import UNIT, PaidQueries
from headcount.privacy.mechanisms.rationed.sizes import Sizes
from headcount.privacy.questions import GRID
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.audit import (
    HalfTheNoise,
    epsilon_at_least,
    gaussian_score,
    transcript_scores,
)
from tests.privacy.laws import candidates_of, run_law
from tests.privacy.population import PlainPopulation, by_item

RUNS = int(os.environ.get("AUDIT_RUNS", "10000"))
# Where runs are made one by one.
SINGLE_RUNS = RUNS // 2
# A δ that runs can tell from 0, and an ε that so many of them can exceed.
BUDGET = Budget(epsilon=1.5, delta=0.1)
RHO, DELTA = BUDGET.rho_for_filter, BUDGET.delta_selection


def told_apart(runs, here, there, score, noise=SeededEntropy):
    """What ε is at least, in both directions, from `runs(side, entropy)` and its scores."""
    one, two = runs(here, noise(1)), runs(there, noise(2))
    return max(
        epsilon_at_least(score(one, here, there), score(two, here, there), BUDGET.delta),
        epsilon_at_least(score(two, there, here), score(one, there, here), BUDGET.delta),
    )


# Private Count Release: whole runs.

SETTINGS = Settings(epsilon_star=0.8, growth=3.0, k_bar=2, r=0.33)
HISTOGRAMS = {
    "the user has all items": ({"a": 20, "b": 19}, {"a": 21, "b": 20}),
    "the user has an item of their own": ({}, {"z": 1}),
    "the user's item is at the edge of k̄": (
        {"a": 20, "b": 9, "c": 9},
        {"a": 21, "b": 9, "c": 10},
    ),
}


def whole_runs(h, entropy):
    names, counts = list(candidates_of(h, len(h))[0]), sorted(h.values(), reverse=True)
    for _ in range(SINGLE_RUNS):
        gate = Gate(BUDGET.for_filter, entropy)
        run = pcr.private_count_release(counts, 0, SETTINGS, BUDGET, gate)
        steps = sorted(set(run.thresholds.tolist()), reverse=True)
        items = [names[place] for place in run.positions]
        levels = [
            tuple(i for i, t in zip(items, run.thresholds, strict=True) if t == step)
            for step in steps
        ]
        yield tuple(levels) or ((),), dict(zip(items, run.counts.tolist(), strict=True)), run.sigmas


def score_of_runs(runs, here, there):
    transcripts = transcript_scores(*(run_law(side, SETTINGS, BUDGET) for side in (here, there)))
    scores = []
    for levels, noisy, sigmas in runs:
        measured = sum(
            gaussian_score(count, here.get(item, 0), there.get(item, 0), sigma)
            for (item, count), sigma in zip(noisy.items(), sigmas, strict=True)
        )
        # What is impossible here, but not there, speaks for the other side.
        scores.append(transcripts.get(levels, -math.inf) + measured)
    return np.array(scores)


def pcr_told_apart(case, noise=SeededEntropy):
    return told_apart(
        lambda side, entropy: list(whole_runs(side, entropy)),
        *HISTOGRAMS[case],
        score_of_runs,
        noise,
    )


@pytest.mark.parametrize("case", HISTOGRAMS)
def test_runs_of_private_count_release(case):
    assert sum(1 for _ in pcr.levels(SETTINGS, BUDGET)) == 1  # as `whole_runs` takes it
    assert pcr_told_apart(case) <= BUDGET.epsilon


def test_half_the_noise_is_found_in_private_count_release():
    assert pcr_told_apart("the user has all items", HalfTheNoise) > BUDGET.epsilon


def test_a_lower_threshold_is_found_in_private_count_release(monkeypatch):
    def lower(*arguments):
        yield from (replace(x, log_ratio=x.log_ratio - 3) for x in all_levels(*arguments))

    all_levels = pcr.levels
    monkeypatch.setattr(pcr, "levels", lower)
    assert pcr_told_apart("the user has an item of their own") > BUDGET.epsilon


# Counts at ranks.


def ranks_told_apart(noise=SeededEntropy):
    # The share that it may use is all of the budget here: only then is there something to find.
    settings = Settings(k_bar=3, ranks=(1, 2, 3))
    whole = SimpleNamespace(rho_for_filter=RHO * 100)

    def runs(top, entropy):
        for _ in range(SINGLE_RUNS):
            gate = Gate(Cost(RHO * 101 / 100), entropy)
            yield list(counts_at_ranks(top, 0, settings, whole, gate).values())

    def score(seen, here, there):
        sigma = math.sqrt(3 / (2 * RHO))
        return gaussian_score(np.array(seen), np.array(here), np.array(there), sigma).sum(axis=1)

    return told_apart(lambda *a: list(runs(*a)), [9, 5, 5], [10, 6, 6], score, noise)


def test_counts_at_ranks():
    assert ranks_told_apart() <= BUDGET.epsilon
    assert ranks_told_apart(HalfTheNoise) > BUDGET.epsilon


# The rationed release: its steps, each on many copies of a small population at once.


class Copies:
    """A population many times over. The noise of each is its own, so each is one run."""

    def __init__(self, crowd, found=()):
        self.one = PlainPopulation((user, item) for user, items in crowd.items() for item in items)
        self.one.names = list(found)

    def weights(self, *arguments):
        self.answer = self.one.weights(*arguments)
        return replace(self.answer, values=np.tile(self.answer.values, RUNS))

    def found(self, weights, places):
        self.places = np.array(places, dtype=np.int64)

    def clipped_sums(self, costs, base):
        sums = self.one.clipped_sums(costs[: len(self.one.names)], base)
        return replace(sums, items=np.tile(sums.items, RUNS))


def asking(population, entropy):
    return PaidQueries(population, Gate(Cost(RHO, DELTA), entropy))


CROWD = {**{f"{item}{n}": [item] for n in range(40) for item in "abcd"}, "all": "abcd"}
NEARLY = {f"e{n}": "e" for n in range(6)}
# Sixty-four items that are looked at only if one more user has them.
UNSEEN = {f"part{n}": range(16 * n, 16 * n + 16) for n in range(4)}
CROWDS = {
    "the user has all items": (CROWD, {**CROWD, "u": "abcd"}),
    "the user has one item": (CROWD, {**CROWD, "u": "a"}),
    "the user has an item of their own": (CROWD, {**CROWD, "u": "z"}),
    "only the user makes many items looked at": (UNSEEN, {**UNSEEN, "u": range(64)}),
    "the user's item is at the threshold": ({**CROWD, **NEARLY}, {**CROWD, **NEARLY, "u": "e"}),
}


# From these follows that users with at most 90 items take part.
SIZES = Sizes([1000 if bound == 64 else 0 for bound in Sizes.BOUNDS], sigma=1.0)
TAKE_PART = 90


def discoveries(crowd, entropy):
    """In each copy: which items were found, and their noisy weights (none: NaN)."""
    population = Copies(crowd)
    weights, sigma = asking(population, entropy).discover(RHO, DELTA, SIZES)
    items = population.answer.items
    noisy = np.full(RUNS * len(items), np.nan)
    noisy[population.places] = weights
    return dict(zip(items, noisy.reshape(RUNS, -1).T, strict=True)), sigma


def score_of_discoveries(outcome, here, there):
    found, sigma = outcome
    looked_at = max(1, math.floor(rationed.LOOKED_AT * round(sigma * UNIT)))
    bound = BOUND(round(sigma * UNIT), looked_at, DELTA)[TAKE_PART] / UNIT
    mine, theirs = (true_weights(side, looked_at) for side in (here, there))
    scores = np.zeros(RUNS)
    for item, noisy in found.items():
        out = ~np.isnan(noisy)
        if item in mine and item in theirs:
            one, two = mine[item], theirs[item]
            hidden = stats.norm.logcdf((bound - one) / sigma) - stats.norm.logcdf(
                (bound - two) / sigma
            )
            scores += np.where(out, gaussian_score(noisy, one, two, sigma), hidden)
        else:
            scores[out] += math.inf if item in mine else -math.inf
    return scores


BOUND = rationed.thresholds


def true_weights(crowd, looked_at):
    population = Copies(crowd).one
    weights = by_item(population.weights(UNIT, TAKE_PART, looked_at))
    return {item: weight / UNIT for item, weight in weights.items()}


def discovery_told_apart(case, noise=SeededEntropy):
    return told_apart(discoveries, *CROWDS[case], score_of_discoveries, noise)


@pytest.mark.parametrize("case", CROWDS)
def test_discovery(case):
    assert discovery_told_apart(case) <= BUDGET.epsilon


@pytest.mark.parametrize("case", ["the user has all items", "the user has one item"])
def test_half_the_noise_is_found_in_discovery(case):
    assert discovery_told_apart(case, HalfTheNoise) > BUDGET.epsilon


@pytest.mark.parametrize(
    ("case", "share"),
    [
        ("the user has an item of their own", 0.35),
        ("only the user makes many items looked at", 0.6),
    ],
)
def test_a_lower_threshold_is_found_in_discovery(case, share, monkeypatch):
    monkeypatch.setattr(
        rationed,
        "thresholds",
        lambda *given: {most: int(bound * share) for most, bound in BOUND(*given).items()},
    )
    assert discovery_told_apart(case) > BUDGET.epsilon


# The noise of an item that takes a whole ration, and of four that take one together.
LEAST = float(2 * RHO) ** -0.5 * (1 + 1e-9)
SIGMAS = LEAST * np.sqrt([2.0, 4.0, 8.0, 8.0])
RATIONS = {
    "exactly the ration": ("abcd", SIGMAS),
    "four times the ration": ("abcd", np.full(4, LEAST)),
    "one item that takes it all": ("a", np.full(4, LEAST)),
}


def counts_told_apart(case, noise=SeededEntropy):
    items, sigmas = RATIONS[case]

    def runs(crowd, entropy):
        noisy = asking(Copies(crowd, "abcd"), entropy).counts(np.tile(sigmas, RUNS), RHO)
        return noisy.reshape(RUNS, 4)

    def score(noisy, here, there):
        one, two = (
            Copies(side, "abcd").one.clipped_sums(prices.costs_of(sigmas, RHO)).items / GRID
            for side in (here, there)
        )
        return gaussian_score(noisy, one, two, sigmas).sum(axis=1)

    return told_apart(runs, CROWD, {**CROWD, "u": items}, score, noise)


@pytest.mark.parametrize("case", RATIONS)
def test_counts_within_rations(case):
    assert counts_told_apart(case) <= BUDGET.epsilon
    assert counts_told_apart(case, HalfTheNoise) > BUDGET.epsilon


def test_a_ration_of_four_times_as_much_is_found(monkeypatch):
    true_costs = prices.costs_of
    monkeypatch.setattr(prices, "costs_of", lambda *given: true_costs(*given) // 4)
    monkeypatch.setattr(rationed, "clipped_sums", lambda *given: Together(0))  # or it is refused
    assert counts_told_apart("four times the ration") > BUDGET.epsilon


# The questions that are answered by one number per run.

FOURS = {**CROWD, **{f"four{n}": "abcd" for n in range(40)}}


def sizes_told_apart(noise=SeededEntropy):
    place = rationed.Sizes.BOUNDS.index(4)

    def runs(crowd, entropy):
        population = Copies(crowd).one
        answer = population.sizes(rationed.Sizes.BOUNDS)
        population.sizes = lambda bounds: answer
        sizes = [asking(population, entropy).sizes(RHO) for _ in range(RUNS)]
        return np.array([answer.users[place] for answer in sizes])

    def score(noisy, here, there):
        one, two = (Counter(map(len, side.values()))[4] for side in (here, there))
        return gaussian_score(noisy, one, two, math.sqrt(1 / (2 * RHO)))

    return told_apart(runs, FOURS, {**FOURS, "u": "abcd"}, score, noise)


def test_sizes():
    assert sizes_told_apart() <= BUDGET.epsilon
    assert sizes_told_apart(HalfTheNoise) > BUDGET.epsilon


class Remembering(PlainPopulation):
    """Works out once who loses how much."""

    answer = None

    def losers(self, *asked):
        self.answer = self.answer or super().losers(*asked)
        return self.answer


def exceeded():
    """Neighbours: one more user who exceeds the ration, and what items then cost."""
    for crowd in (CROWD, {**CROWD, "u": "abcd"}):
        side = Remembering((user, item) for user, items in crowd.items() for item in items)
        side.names = list("abcd")
        yield side


COSTS = prices.Prices.of(np.full(4, LEAST), RHO)


def losers_told_apart(noise=SeededEntropy):
    def runs(population, entropy):
        asked = [asking(population, entropy) for _ in range(SINGLE_RUNS)]
        weights = np.ones(4, dtype=np.int64)
        return np.array([each.losers(COSTS, weights, 1.0, 1.0, RHO).noisy for each in asked])

    def score(users, here, there):
        one, two = (-np.diff([*side.answer, 0]) for side in (here, there))
        assert np.abs(one - two).sum() == 1
        return gaussian_score(users, one, two, math.sqrt(1 / (2 * RHO))).sum(axis=1)

    return told_apart(runs, *exceeded(), score, noise)


def test_losers():
    assert len(Losers.BOUNDS) > 30
    assert losers_told_apart() <= BUDGET.epsilon
    assert losers_told_apart(HalfTheNoise) > BUDGET.epsilon
