"""Choosing between the two mechanisms: under one filter, from what was paid for."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.conditioning import conditioned_total
from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.mechanisms.auto import choice as choosing
from headcount.privacy.mechanisms.auto.choice import release_automatically
from headcount.privacy.mechanisms.pcr.settings import settings_for
from headcount.privacy.mechanisms.pcr.vetted_release import VettedCounts, vetted_release
from headcount.privacy.mechanisms.rationed.rationed_release import RationedCounts
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.population import PlainPopulation

BUDGET = Budget(rho=1.0)


def pairs(items_per_user):
    generator = np.random.default_rng(1)
    for user in range(6000 // items_per_user):
        for item in (40 * generator.random(items_per_user) ** 3).astype(int).tolist():
            yield user, item


@pytest.mark.parametrize("mechanism", [VettedCounts, RationedCounts])
def test_what_is_chosen_goes_on_with_the_filter_of_the_look(mechanism, monkeypatch):
    """The look is part of what was spent, and the whole is within the budget."""
    settings, filters = settings_for("pcr"), []

    def one_filter(total):
        filters.append(PrivacyFilter(total))
        return filters[-1]

    promised = 10**9 if mechanism is RationedCounts else -1
    monkeypatch.setattr(choosing, "rationed_items", lambda *given: promised)
    monkeypatch.setattr(choosing, "PrivacyFilter", one_filter)
    data = list(pairs(2))
    top = sorted(Counter(item for _, item in set(data)).values(), reverse=True)
    run = release_automatically(
        top[: settings.k_bar + 1], PlainPopulation(data), settings, BUDGET, SeededEntropy(1)
    )
    assert type(run) is mechanism
    assert run.positions.size > 0
    (privacy_filter,) = filters
    spent, left, total = privacy_filter.spent, privacy_filter.left, conditioned_total(BUDGET)
    assert Cost(spent.rho + left.rho, spent.delta + left.delta) == total
    assert spent.rho > total.rho * Fraction(9, 10)
    if mechanism is RationedCounts:
        assert run.spent == privacy_filter.spent
    else:  # whose promise is about the whole
        assert run.spent == Cost(Fraction(BUDGET.rho), BUDGET.delta_selection)


@pytest.mark.parametrize(("counts", "users"), [(10**6, 10**6), (10, 3), (10**6, 30)])
def test_the_choice_follows_from_noisy_answers_only(counts, users, monkeypatch):
    """The same noisy answers, whatever is true: the same method and the same k̄."""

    class Scripted(SeededEntropy):
        def discrete_gaussian(self, values, sigma):
            if len(values) == 1:  # how many users there are
                return [users]
            # Twice the counts at ranks, less that; then users by their number of items.
            ranks = [2 * (counts // 4**place) - users for place in range(6)]
            script = ranks if len(values) == 6 else [users] * 9
            return (script + [0] * len(values))[: len(values)]

    chosen = []
    for name in ("vetted_release", "rationed_release"):
        monkeypatch.setattr(
            choosing,
            name,
            lambda *given, name=name, look=None, **more: chosen.append((name, look and look.k_bar)),
        )
    settings = settings_for("pcr")
    truths = [([7] * 9, [(1, "a")]), ([10**5] * 40_000, list(pairs(2)))]
    for top, data in truths:
        release_automatically(top, PlainPopulation(data), settings, BUDGET, Scripted(1))
    assert chosen[0] == chosen[1]


@pytest.mark.parametrize("settings", [settings_for("pcr"), settings_for("pcr", k_bar=30)])
def test_an_empty_table_is_released_too(settings):
    run = release_automatically([], PlainPopulation([]), settings, BUDGET, SeededEntropy(1))
    assert run.positions.size == 0


def test_without_counts_at_ranks_it_is_a_vetted_release():
    """And nothing is spent on choosing."""
    data = list(pairs(1))
    top = sorted(Counter(item for _, item in set(data)).values(), reverse=True)
    settings = settings_for("pcr", k_bar=30)
    run = release_automatically(top[:31], PlainPopulation(data), settings, BUDGET, SeededEntropy(1))
    plain = vetted_release(top[:31], 0, 6000, settings, BUDGET, SeededEntropy(1))
    assert run.noisy.tolist() == plain.noisy.tolist() != []
