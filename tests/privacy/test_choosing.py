"""Choosing between the two mechanisms: under one filter, from what was paid for."""

from collections import Counter

import numpy as np
import pytest

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import PrivacyFilter
from headcount.privacy.mechanisms.auto import choice as choosing
from headcount.privacy.mechanisms.auto.choice import release_automatically
from headcount.privacy.mechanisms.pcr.private_count_release import (
    ReleasedCounts,
    private_count_release,
)
from headcount.privacy.mechanisms.pcr.settings import settings_for
from headcount.privacy.mechanisms.rationed.rationed_release import RationedCounts
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.population import PlainPopulation

BUDGET = Budget(rho=1.0)


def pairs(items_per_user):
    generator = np.random.default_rng(1)
    for user in range(6000 // items_per_user):
        for item in (40 * generator.random(items_per_user) ** 3).astype(int).tolist():
            yield user, item


@pytest.mark.parametrize("mechanism", [ReleasedCounts, RationedCounts])
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
    assert run.spent == privacy_filter.spent
    assert run.spent.fits(BUDGET.for_filter)


@pytest.mark.parametrize(("counts", "users"), [(10**6, 10**6), (10, 3), (10**6, 30)])
def test_the_choice_follows_from_noisy_answers_only(counts, users, monkeypatch):
    """The same noisy answers, whatever is true: the same method and the same k̄."""

    class Scripted(SeededEntropy):
        def discrete_gaussian(self, values, sigma):
            script = [counts // 4**place for place in range(6)] if len(values) == 6 else [users] * 9
            return (script + [0] * len(values))[: len(values)]

    chosen = []
    for name in ("private_count_release", "rationed_release"):
        monkeypatch.setattr(
            choosing,
            name,
            lambda *given, name=name, **more: chosen.append((name, more.get("k_bar"))),
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


def test_without_counts_at_ranks_it_is_private_count_release():
    """And nothing is spent on choosing."""
    data = list(pairs(1))
    top = sorted(Counter(item for _, item in set(data)).values(), reverse=True)
    settings = settings_for("pcr", k_bar=30)
    run = release_automatically(top[:31], PlainPopulation(data), settings, BUDGET, SeededEntropy(1))
    plain = private_count_release(top[:31], 0, settings, BUDGET, SeededEntropy(1))
    assert run.spent == plain.spent
