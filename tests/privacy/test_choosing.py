"""Choosing between the two mechanisms: through one gate, from what was paid for."""

from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.conditioning import conditioned_total
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.auto import Auto
from headcount.privacy.mechanisms.auto import choice as choosing
from headcount.privacy.mechanisms.auto.choice import Promises, release_automatically
from headcount.privacy.mechanisms.auto.tuning import TUNING
from headcount.privacy.mechanisms.base import Options
from headcount.privacy.mechanisms.pcr.settings import settings_for
from headcount.privacy.mechanisms.pcr.vetted_release import VettedCounts, vetted_release
from headcount.privacy.mechanisms.rationed.queries import PaidQueries
from headcount.privacy.mechanisms.rationed.rationed_release import RationedCounts
from headcount.privacy.mechanisms.rationed.sizes import Sizes
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.population import PlainPopulation

BUDGET = Budget(rho=1.0)


def certainly(rationed, vetted):
    """What both mechanisms promise, with nobody hidden."""
    return Promises(np.ones(1), np.array([float(rationed)]), vetted)


def pairs(items_per_user):
    generator = np.random.default_rng(1)
    for user in range(6000 // items_per_user):
        for item in (40 * generator.random(items_per_user) ** 3).astype(int).tolist():
            yield user, item


def new_gate(entropy=None):
    return Gate(conditioned_total(BUDGET), entropy or SeededEntropy(1))


def histogram(data):
    return sorted(Counter(item for _, item in set(data)).values(), reverse=True)


@pytest.mark.parametrize("mechanism", [VettedCounts, RationedCounts])
def test_what_is_chosen_goes_on_with_the_gate_of_the_look(mechanism, monkeypatch):
    """The look is part of what was spent, and the whole is within the budget."""
    settings, gate, data = settings_for("pcr"), new_gate(), list(pairs(2))
    promised = 10**9 if mechanism is RationedCounts else 0
    monkeypatch.setattr(choosing, "promises", lambda *given: certainly(promised, 10))
    run = release_automatically(histogram(data), PlainPopulation(data), settings, BUDGET, gate)
    assert type(run) is mechanism
    assert run.positions.size > 0
    assert gate.left.rho < conditioned_total(BUDGET).rho / 10
    if mechanism is RationedCounts:
        assert run.spent == gate.spent
    else:  # whose promise is about the whole
        assert run.spent == Cost(Fraction(BUDGET.rho), BUDGET.delta_selection)


def test_a_choice_gets_what_the_lemma_leaves():
    gate, data = Gate(BUDGET.whole, SeededEntropy(1)), PlainPopulation(pairs(2))
    data.several_passes, data.pairs = True, lambda: data
    top = SimpleNamespace(values=np.array(histogram(pairs(2))), named=list)
    data.highest_counts, data.found_named = lambda limit: top, list
    auto = Auto.of(Options(), BUDGET)
    auto.prepare(data, gate, lambda said: None)()
    assert gate.spent == conditioned_total(BUDGET)


@pytest.mark.parametrize("promised", [0, 10**9])
def test_all_that_the_choice_draws_is_charged_and_neither_method_is_announced(
    promised, monkeypatch
):
    drawn, said = [], []

    class Weighed(SeededEntropy):
        def discrete_gaussian(self, values, sigma):
            # Of a histogram of users, one bin moves by one.
            moved = 1 if len(values) == len(Sizes.BOUNDS) else len(values)
            drawn.append(Fraction(moved) / (2 * Fraction(sigma) ** 2))
            return super().discrete_gaussian(values, sigma)

    monkeypatch.setattr(choosing, "promises", lambda *given: certainly(promised, 10))
    chosen = "rationed_release" if promised else "vetted_release"
    whole = getattr(choosing, chosen)
    data = list(pairs(2))
    asked = (histogram(data), PlainPopulation(data), settings_for("pcr"), BUDGET)
    release_automatically(*asked, new_gate(), progress=said.append)
    assert said == ["finding and counting items"]
    monkeypatch.setattr(choosing, chosen, lambda *given, **more: whole)
    gate = new_gate(Weighed(1))
    release_automatically(*asked, gate)
    assert len(drawn) == 3  # users, counts at ranks, users by the number of their items
    assert sum(drawn) <= gate.spent.rho < sum(drawn) * Fraction(101, 100)


@pytest.mark.parametrize("mechanism", [VettedCounts, RationedCounts])
@pytest.mark.parametrize(
    ("unsure", "looks"), [(0, 1), (TUNING.closer[0] / 2, 1), (1, 1 + len(TUNING.closer))]
)
def test_a_closer_look_is_bought_where_it_is_worth_more_than_it_costs(
    unsure, looks, mechanism, monkeypatch
):
    """Through the same gate, and each as a step of its own."""
    data, settings, gate, asked = list(pairs(2)), settings_for("pcr"), new_gate(), []

    def paid_sizes(self, rho, sizes=PaidQueries.sizes):
        before = gate.spent.rho
        answer = sizes(self, rho)
        asked.append((gate.spent.rho - before) / conditioned_total(BUDGET).rho)
        return answer

    # Either way, with a chance of a half, by a factor that makes the other choice gain this much.
    factor = float(np.exp(2 * float(unsure)))
    better = 1e6 if mechanism is RationedCounts else 0.0
    promised = np.array([factor * 10 - 1 if not better else 10 / factor - 1, better])
    ambiguous = Promises(np.array([0.5, 0.5]), promised, 9.0)
    assert ambiguous.worth_knowing == pytest.approx(float(unsure))
    monkeypatch.setattr(choosing, "promises", lambda *given: ambiguous)
    monkeypatch.setattr(PaidQueries, "sizes", paid_sizes)
    for name in ("vetted_release", "rationed_release"):
        monkeypatch.setattr(choosing, name, lambda *given, name=name, **more: name)
    chosen = release_automatically(histogram(data), PlainPopulation(data), settings, BUDGET, gate)
    assert chosen == ("rationed_release" if mechanism is RationedCounts else "vetted_release")
    shares = [TUNING.sizes, *TUNING.closer][:looks]
    assert [float(share) for share in asked] == pytest.approx([float(s) for s in shares], rel=1e-3)


def test_two_histograms_say_more_than_one():
    some, more = Sizes([100] * 40, 30.0), Sizes([60] * 40, 10.0)
    both = some.combined(more)
    assert both.noisy == pytest.approx(64.0)  # nine times the weight of the other
    assert both.sigma == pytest.approx(90**0.5)


@pytest.mark.parametrize(("counts", "users"), [(10**6, 10**6), (10, 3), (10**6, 30)])
def test_the_choice_follows_from_noisy_answers_only(counts, users, monkeypatch):
    """The same noisy answers, whatever is true: the same method and the same k̄."""

    class Scripted(SeededEntropy):
        def discrete_gaussian(self, values, sigma):
            if len(values) == 1:  # how many users there are
                return [users]
            # Twice the counts at ranks, less that; then users by their number of items.
            ranks = [2 * (counts // 4**place) - users for place in range(7)]
            script = ranks if len(values) == 7 else [users] * 9
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
        release_automatically(top, PlainPopulation(data), settings, BUDGET, new_gate(Scripted(1)))
    assert chosen[0] == chosen[1]


@pytest.mark.parametrize("settings", [settings_for("pcr"), settings_for("pcr", k_bar=30)])
def test_an_empty_table_is_released_too(settings):
    run = release_automatically([], PlainPopulation([]), settings, BUDGET, new_gate())
    assert run.positions.size == 0


def test_without_counts_at_ranks_it_is_a_vetted_release():
    """And nothing is spent on choosing."""
    data = list(pairs(1))
    top, settings = histogram(data)[:31], settings_for("pcr", k_bar=30)
    run = release_automatically(top, PlainPopulation(data), settings, BUDGET, new_gate())
    plain = vetted_release(top, 0, 6000, settings, BUDGET, new_gate())
    assert run.noisy.tolist() == plain.noisy.tolist() != []
