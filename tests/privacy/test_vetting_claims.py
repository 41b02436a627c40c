"""The claims of vetting.md on small neighbours: exact laws of whole runs with secret state."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.conditioning import conditioned_total
from headcount.privacy.accounting.conversion import epsilon_of
from headcount.privacy.accounting.gaussian import reach_of_two
from headcount.privacy.mechanisms.pcr.vetting import Round
from tests.privacy.vetting_laws import (
    ORDERS,
    VALUES,
    Law,
    Policy,
    Side,
    discrete_gaussian,
    divergence,
    lemma,
    matched,
    real_law,
)

# δ is large here so that what it pays for is large too; ρ is small so that runs are short.
BUDGET = Budget(rho=1.5, delta=0.2)
TOTAL = conditioned_total(BUDGET)


def policy(rounds, **changes):
    given = {"epsilon": 0.7, "sigma": 0.9, "cutoff_sigma": 0.8, "nominations": 1}
    delta = BUDGET.delta_selection / rounds
    return Policy(**{**given, **changes}, delta=delta, rounds=rounds, total=TOTAL.rho)


POLICIES = {
    "two rounds": policy(2),
    "two nominations at once": policy(2, nominations=2, sigma=1.4),
    "three rounds with more noise": policy(3, sigma=1.2, cutoff_sigma=1.1),
}
# k̄, the counts, and the floor: ties at the edge, nothing at all, and a histogram that was cut.
DATA = {
    "empty": (2, {}, 0),
    "one above a tail": (2, {"a": 7, "b": 1, "c": 1}, 0),
    "ties at the edge": (2, {"a": 6, "b": 2, "c": 2, "d": 2}, 0),
    "fewer than k̄": (3, {"a": 8, "b": 3}, 0),
    "cut below three": (3, {"a": 8, "b": 3}, 2),
}


def neighbours(name):
    k_bar, counts, floor = DATA[name]
    domain = [*counts, "z"]
    users = max(counts.values(), default=0) + 1
    here = Side(counts, k_bar, users, floor)
    for size in range(1, len(domain) + 1):
        for items in itertools.combinations(domain, size):
            more = {**counts, **{item: counts.get(item, 0) + 1 for item in items}}
            # What a cut leaves out may have any count up to the floor.
            if floor and "z" in items:
                more["z"] = floor + 1
            yield here, Side(more, k_bar, users + 1, floor)


CASES = [(how, data) for how in POLICIES for data in DATA]


@pytest.mark.parametrize("data", DATA)
def test_candidates_match(data):
    """All coordinates and the cut-off move by 0 or 1, and no stranger is 2 above a cut-off."""
    strangers = 0
    for here, there in neighbours(data):
        assert there.cutoff - here.cutoff in (0, 1)
        for item, a, b in matched(here, there):
            assert b - a in (0, 1)
            if item is None:
                assert a <= here.cutoff + 1
                assert b <= there.cutoff + 1
                strangers += b == there.cutoff + 1
    assert strangers  # some are as high as they can be


@pytest.mark.parametrize(("how", "data"), CASES)
def test_a_whole_run(how, data):
    """Every neighbour, both directions: the transcript, the event, and what is published given it.

    Halving a charge lets more be bought, and the first of these exceeds its total; lowering the
    bound raises the chance of a stranger above δ.
    """
    closest = 0.0
    rho, delta = float(TOTAL.rho), float(BUDGET.delta_selection)
    for here, there in neighbours(data):
        law = Law(matched(here, there), here, there, POLICIES[how])
        total = sum(law.published.values())
        assert np.allclose(total, 1, atol=1e-9)
        used = divergence(law.moments)
        assert used.max() <= rho * (1 + 1e-9)
        closest = max(closest, used.max() / rho)

        good = {what: p for (what, fine), p in law.published.items() if fine}
        probability = sum(good.values())
        assert (1 - probability).max() <= delta
        for p, q in ((0, 1), (1, 0)):
            used = np.zeros(ORDERS.size)
            for (_, left), chances in good.items():
                one, two = chances[p] / probability[p], chances[q] / probability[q]
                if one and two:
                    gained = np.exp(ORDERS * (ORDERS - 1) * float(left))
                    used += one**ORDERS * two ** (1 - ORDERS) * gained
            used = np.log(used) / (ORDERS * (ORDERS - 1))
            assert (used <= lemma(rho, delta) * (1 + 1e-9)).all()
            assert used.max() <= BUDGET.rho * (1 + 1e-9)
    # If nothing came near the bound, forgetting a charge would go unnoticed.
    assert closest > 0.8


def test_a_transcript_comes_close_to_its_total():
    """Four equal items of which the user has two: nominations tell what they are charged for."""
    here = Side(dict.fromkeys("abcd", 4), 4, 5)
    there = Side({"a": 5, "b": 5, "c": 4, "d": 4}, 4, 6)
    how = policy(2, epsilon=0.5, sigma=1.6, cutoff_sigma=1.6)
    used = divergence(Law(matched(here, there), here, there, how).moments) / float(TOTAL.rho)
    assert 0.985 < used.max() <= 1 + 1e-9


@pytest.mark.parametrize("data", DATA)
def test_what_runs_really_publish(data):
    """By the names of items: at least as likely as given the event, and private as converted."""
    how, delta = POLICIES["two rounds"], float(BUDGET.delta_selection)
    for here, there in neighbours(data):
        laws = [real_law(side, how) for side in (here, there)]
        ideal = Law(matched(here, there), here, there, how).published
        for (what, fine), chances in ideal.items():
            if fine:
                for real, chance in zip(laws, chances, strict=True):
                    assert real[what] >= chance * (1 - 1e-9)
        for total in (delta * 1.2, delta + 0.2):
            epsilon = epsilon_of(BUDGET.rho, total, delta)
            for one, two in (laws, laws[::-1]):
                excess = sum(max(0.0, p - math.exp(epsilon) * two[t]) for t, p in one.items())
                assert excess <= total


def test_secrets_decide_what_is_done_later():
    """So that the cases above include it: rounds with retests, and more than one spend."""
    here, there = next(neighbours("one above a tail"))
    law = Law(matched(here, there), here, there, POLICIES["three rounds with more noise"])
    spends = {left for ((_, left), _) in law.published}
    assert len(spends) > 5
    how = POLICIES["two rounds"]
    assert how.round(1, 1, 0, False).cost.rho > how.round(1, 0, 0, False).cost.rho


@pytest.mark.parametrize("tests", [1, 7, 300])
@pytest.mark.parametrize("delta", [Fraction(1, 5), Fraction(1, 10**4), Fraction(1, 10**8)])
def test_a_stranger_passes_as_rarely_as_it_may(delta, tests):
    """Exactly, for noise of many scales; the bound is not wasteful where noise is large."""
    closest = 0.0
    for sigma, cutoff_sigma in [(0.5, 0.5), (0.6, 0.9), (1.3, 0.7), (2.2, 2.0), (4.0, 1.5)]:
        # Most of them may be tested again, and only one is new.
        planned = Round(1.0, 1, tests, sigma, cutoff_sigma, delta)
        passed = exceeds(2 * sigma, 2 * cutoff_sigma, planned.bound - 2)
        assert tests * passed <= delta
        closest = max(closest, tests * passed / float(delta))
    assert closest > 0.03


def exceeds(first, second, bound):
    """P[X + Y > bound] of two discrete Gaussians, exactly but for rounding."""
    reach = int(12 * max(first, second)) + 5
    values = np.arange(-reach, reach + 1)
    p, q = (np.exp(-(values**2) / (2 * s**2)) for s in (first, second))
    sums = np.convolve(p / p.sum(), q / q.sum())
    return math.fsum(sums[np.arange(-2 * reach, 2 * reach + 1) > bound])


def test_the_reach_of_two_needs_the_room_that_it_has():
    """Without the 2 of vetting.md it would be exceeded too often."""
    worst = 0.0
    for scale in np.linspace(0.3, 1.5, 25).tolist():
        for probability in (Fraction(1, 3), Fraction(1, 100), Fraction(1, 10**7)):
            bound = reach_of_two(scale, scale, probability)
            assert exceeds(scale, scale, bound) <= probability
            normal = math.sqrt(2) * scale * stats.norm.isf(float(probability))
            worst = max(worst, exceeds(scale, scale, math.floor(normal)) / float(probability))
    assert worst > 1


def test_the_window_holds_all_noise():
    """So that enumerated laws are exact."""
    assert discrete_gaussian(8, 4.0)[[0, -1]].max() < 1e-18
    assert discrete_gaussian(-8, 1.6).min() > 0
    assert VALUES.size == 91


# The lemma, and what a filter gets by it.


@pytest.mark.parametrize("rho", [1e-4, 0.05, 0.5, 1.0, 3.0, 50.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3, 0.1])
def test_the_filter_gets_what_the_lemma_leaves(rho, delta):
    budget = Budget(rho=rho, delta=delta)
    total, selection = conditioned_total(budget), float(budget.delta_selection)
    assert total.delta == budget.delta_selection
    assert total.rho < budget.rho_for_filter
    if not total.rho:
        assert selection > math.sqrt(rho) / 3
        return
    for excess in np.geomspace(1e-9, 1e4, 200).tolist():
        order, x = 1 + excess, (1 + excess) * excess
        t, a = x * float(total.rho), -order * math.log1p(-selection)
        # ln(1 + (e^t − 1)·e^a) without overflow.
        moment = math.log1p(math.expm1(t) * math.exp(a)) if t < 600 else t + a
        assert moment / x <= rho * (1 + 1e-12)
    assert float(total.rho) >= rho * (1 - 1.7 * selection * max(1, rho**-0.5)) * (1 - 1e-12)


@pytest.mark.parametrize("rho", [1e-290, 1e-30, 1e12])
def test_no_budget_is_too_extreme_for_it(rho):
    total = conditioned_total(Budget(rho=rho, delta=1e-6))
    assert 0 <= total.rho < rho


def test_the_factor_is_real():
    """Given an event, two laws may differ by more than they did: the lemma is not for nothing."""
    p, q, order = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.4, 0.2]), 2.0
    moment = (p**order * q ** (1 - order)).sum()
    one, two = p[:2] / 0.8, q[:2] / 0.8
    given = (one**order * two ** (1 - order)).sum()
    assert moment < given <= 1 + (moment - 1) * 0.8**-order
