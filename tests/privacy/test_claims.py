"""The claims of race.md and pcr.md on all small neighbours, by exact enumeration."""

import itertools
import math

import pytest

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.conversion import epsilon_of
from headcount.privacy.mechanisms.pcr.schedule import levels
from headcount.privacy.mechanisms.pcr.settings import Charging, Settings
from tests.privacy.laws import (
    BOTTOM,
    candidates_of,
    measurement_cost,
    race_law,
    run_law,
    weights_of,
)

# δ is large here so that what it pays for is large too; ρ is small so that runs are short.
BUDGETS = [Budget(rho=0.6, delta=0.2), Budget(rho=1.5, delta=0.05)]


class NoisierSoon(Settings):
    """Noise that grows with the first items already, so that a cut level is not the last."""

    def factor(self, released):
        return 1.0 + 2 * released


SETTINGS = [
    NoisierSoon(epsilon_star=0.7, growth=1.3, k_bar=2, r=0.35),
    Settings(epsilon_star=0.8, growth=1.6, k_bar=2, r=0.9),
    Settings(epsilon_star=1.1, growth=1.3, k_bar=1, r=0.9),
    Settings(epsilon_star=0.9, growth=1.5, k_bar=3, r=0.9),
    Settings(
        epsilon_star=0.9, growth=1.5, k_bar=2, r=0.9, delta_star=0.01, charging=Charging.PAPER
    ),
]
HISTOGRAMS = [
    {},
    {"a": 1},
    {"a": 1, "b": 1},
    {"a": 3, "b": 3, "c": 3},
    {"a": 5, "b": 2, "c": 1},
    {"a": 9, "b": 6, "c": 2, "d": 2},
]
ORDERS = [1.01, 1.5, 2.0, 4.0, 16.0, 64.0]


def neighbours(h):
    """Each dataset with one more user, who has any set of items, new ones included."""
    domain = [*h, "new", "z"][:4]
    for size in range(1, len(domain) + 1):
        for items in itertools.combinations(domain, size):
            yield {**h, **{item: h.get(item, 0) + 1 for item in items}}


def pairs():
    for h in HISTOGRAMS:
        for other in neighbours(h):
            yield h, other
            yield other, h


def log_sum_exp(terms):
    top = max(terms)
    return top + math.log(math.fsum(math.exp(term - top) for term in terms))


CASES = [(s, b) for s in SETTINGS for b in BUDGETS]


@pytest.mark.parametrize(("settings", "budget"), CASES)
def test_items_of_one_side_weigh_at_most_delta_star_of_bottom(settings, budget):
    """Pointwise: what only one neighbour has weighs at most δ* times ⊥."""
    level = next(levels(settings, budget))
    star = settings.k_bar * math.exp(-level.log_ratio)
    tightest = 0.0
    for h, other in pairs():
        mine, cutoff = candidates_of(h, settings.k_bar)
        theirs, _ = candidates_of(other, settings.k_bar)
        weights = weights_of(level, mine, cutoff)
        alone = math.fsum(weight for item, weight in weights.items() if item not in theirs)
        assert alone <= star * (1 + 1e-12)
        tightest = max(tightest, alone / star)
    assert tightest > 0.99 / settings.k_bar  # the bound is one that data comes close to


@pytest.mark.parametrize(("settings", "budget"), CASES)
def test_a_level_turns_bad_with_probability_delta_star_over_one_plus_delta_star(settings, budget):
    level = next(levels(settings, budget))
    star = settings.k_bar * math.exp(-level.log_ratio)
    for h in HISTOGRAMS:
        counts, cutoff = candidates_of(h, settings.k_bar)
        law = dict(race_law(weights_of(level, counts, cutoff), at_most=99, bad=star))
        bad = math.fsum(p for entries, p in law.items() if entries[-1] != BOTTOM)
        assert math.isclose(bad, star / (1 + star), rel_tol=1e-9)


@pytest.mark.parametrize(("settings", "budget"), CASES)
def test_a_run_is_approximate_cdp_with_what_was_promised(settings, budget):
    """Domination, P(BAD) = δ exactly, and the Rényi bound, for every pair of neighbours."""
    rho, delta = float(budget.rho_for_filter), float(budget.delta_selection)
    closest = 0.0
    for h, other in pairs():
        common = set(candidates_of(h, settings.k_bar)[0]) & set(
            candidates_of(other, settings.k_bar)[0]
        )
        real = run_law(h, settings, budget)
        here, there = (run_law(side, settings, budget, common) for side in (h, other))
        assert math.isclose(math.fsum(real.transcripts.values()), 1, rel_tol=1e-9)
        assert math.isclose(here.bad, delta, rel_tol=1e-6)
        assert math.isclose(there.bad, delta, rel_tol=1e-6)
        for transcript, p in here.transcripts.items():
            assert real.transcripts[transcript] >= p * (1 - 1e-9)
        for order in ORDERS:
            terms = [
                order * math.log(p)
                + (1 - order) * math.log(there.transcripts[t])
                + order * (order - 1) * measurement_cost(here.measured[t], h, other)
                for t, p in here.transcripts.items()
            ]
            divergence = log_sum_exp([*terms, math.log(delta)]) / (order - 1)
            assert divergence <= order * rho * (1 + 1e-9)
            closest = max(closest, divergence / (order * rho))
    # If nothing came near the bound, forgetting a charge would go unnoticed.
    assert closest > 0.3


@pytest.mark.parametrize(("settings", "budget"), CASES)
def test_a_run_is_differentially_private_as_converted(settings, budget):
    """Hockey-stick divergence of the whole order of items, at several ε."""
    delta = float(budget.delta_selection)
    for h, other in pairs():
        here, there = (run_law(side, settings, budget).transcripts for side in (h, other))
        for total in (delta * 1.5, delta + 0.3):
            epsilon = epsilon_of(budget.rho, total, delta)
            excess = math.fsum(
                max(0.0, p - math.exp(epsilon) * there.get(t, 0.0)) for t, p in here.items()
            )
            assert excess <= total * (1 + 1e-9)


def test_a_level_may_follow_one_that_was_cut():
    """So that the cases above include it."""
    law = run_law({"a": 9, "b": 6}, SETTINGS[0], BUDGETS[0]).transcripts
    assert any(entries[-1] != BOTTOM for t in law for entries in t[:-1])


def test_the_number_of_levels_does_not_tell_an_empty_table_from_one_user():
    settings, budget = SETTINGS[0], BUDGETS[0]
    empty = run_law({}, settings, budget).transcripts
    assert list(empty.values()) == [1.0]
    (only,) = empty
    assert run_law({"a": 1}, settings, budget).transcripts[only] > 0.5
