"""One release, thousands of canaries: none is told apart better than was claimed.

And they are if the noise is halved, a ration is doubled or a charge is forgotten.
docs/explanation/audits.md explains the method and has the figures. `make audit` plants more
canaries, and has Spark count them too.
"""

import os

import pytest

import headcount
from headcount import pipeline
from headcount.privacy.accounting.filter import PrivacyFilter
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from headcount.privacy.questions import RATION
from headcount.privacy.randomness import SeededEntropy
from headcount.views import array_population, engine_view
from headcount.views.bounded import bounded_counts
from tests.audit.canaries import Canaries, overheard, published, scores_of_all
from tests.audit.estimator import rho_at_least, rho_at_least_in_one_run, said
from tests.privacy.audit import HalfTheNoise

NUMBER = int(os.environ.get("AUDIT_CANARIES", "3000"))
# Spark takes half a minute for the many passes of a rationed release.
ENGINES = ["duckdb", "polars", "sqlite", "postgres"]
ENGINES += ["spark"] if "AUDIT_CANARIES" in os.environ else []

#: Of runs that are broken on purpose. With one seed what finds them out is not luck; that it does
#: with others too is for `make audit`.
on_seeds = pytest.mark.parametrize("seed", range(int(os.environ.get("AUDIT_SEEDS", "1"))))


class OneValue(SeededEntropy):
    """The right noise for each value, but the same for all of one call."""

    def discrete_gaussian(self, values, sigma):
        (noise,) = super().discrete_gaussian([0], sigma)
        return [value + noise for value in values]


@pytest.fixture
def half_the_noise(monkeypatch):
    monkeypatch.setattr(pipeline, "SeededEntropy", HalfTheNoise)


def released(call, **how):
    return headcount.release(**call, user="who", item="what", columns="all", **how)


# Rationed releases. Each of a canary's items takes about 4/5 of a ration, so that who has all three
# counts for 0.65 in each and has used up one ration, but would use up two.
BUDGET = headcount.Budget(rho=1.7)
CANARIES = Canaries(NUMBER, each=3, others=12)
# Where it takes more of them to tell.
MORE = Canaries(2 * NUMBER, each=3, others=12)
MANY = Canaries(8 * NUMBER, each=3, others=12)
# The most of ρ that can be left for the counts: nothing was spent on a second round.
CLAIM = BUDGET.rho * float(1 - TUNING.first_round - TUNING.fixed)


def scores_of_counts(call, method, canaries=CANARIES, **seed):
    """Score canaries by the published counts alone."""
    # Counts this small are below the noise of what `auto` chooses by, and once in a while it takes
    # the other method. The noise that is audited is drawn after that.
    for _ in range(20):
        release = released(call, budget=BUDGET, method=method, **seed)
        if release.guarantee.settings.get("chosen", "rationed") == "rationed":
            break
    else:
        raise AssertionError("no release was rationed")
    items, noisy, sigmas = published(release)
    shifts = canaries.clipped(items, sigmas, CLAIM)
    return canaries.parted(canaries.scores(items, noisy, sigmas, shifts))


@pytest.mark.parametrize(
    ("method", "engine"), [*(("rationed", engine) for engine in ENGINES), ("auto", "duckdb")]
)
def test_counts_within_rations(method, engine, on_engine):
    call = on_engine(engine, CANARIES.events())
    for _ in range(5):
        scores = scores_of_counts(call, method)
        bound = said(f"{method} on {engine}", rho_at_least(*scores, CLAIM), CLAIM)
        assert bound <= CLAIM
        # Canaries come out, or nothing is audited. Once in a while few of them do.
        if bound > CLAIM / 4:
            break
    assert bound > CLAIM / 4
    bound = said("and by one run", rho_at_least_in_one_run(*scores, CLAIM), CLAIM)
    assert 0 < bound <= CLAIM


@on_seeds
@pytest.mark.parametrize("method", ["rationed", "auto"])
def test_half_the_noise_in_counts(method, seed, on_engine, half_the_noise):
    call = on_engine("duckdb", MANY.events())
    scores = scores_of_counts(call, method, MANY, unsafe_seed=seed)
    bound = said(f"{method}, half the noise", rho_at_least(*scores, CLAIM), CLAIM)
    assert bound > CLAIM
    bound = said("and by one run", rho_at_least_in_one_run(*scores, CLAIM), CLAIM)
    assert bound > CLAIM


@on_seeds
@pytest.mark.parametrize("method", ["rationed", "auto"])
def test_twice_the_ration(method, seed, on_engine, monkeypatch):
    monkeypatch.setattr(array_population, "RATION", 2 * RATION)
    scores = scores_of_counts(on_engine("duckdb", MORE.events()), method, MORE, unsafe_seed=seed)
    assert said(f"{method}, twice the ration", rho_at_least(*scores, CLAIM), CLAIM) > CLAIM


@on_seeds
def test_nothing_is_charged_before_the_counts(seed, on_engine, monkeypatch):
    """Then these have all of ρ, which is 1.24 times as much."""
    settle = PrivacyFilter.settle
    monkeypatch.setattr(PrivacyFilter, "settle", lambda self, cost: settle(self, cost * 0))
    scores = scores_of_counts(
        on_engine("duckdb", MANY.events()), "rationed", MANY, unsafe_seed=seed
    )
    assert said("rationed, nothing charged", rho_at_least(*scores, CLAIM), CLAIM) > CLAIM


# All that a rationed release may publish: noisy weights of items found, coarse counts, counts.


def scores_of_everything(call, monkeypatch, **seed):
    steps = overheard(monkeypatch)
    released(call, budget=BUDGET, method="rationed", **seed)
    # One round of discovery or two, then coarse counts and counts.
    assert [step.ration is None for step in steps][-3:] == [True, False, False]
    return CANARIES.parted(scores_of_all(CANARIES, steps))


def test_everything_that_a_rationed_release_says(on_engine, monkeypatch):
    scores = scores_of_everything(on_engine("duckdb", CANARIES.events()), monkeypatch)
    bound = said("rationed, all steps", rho_at_least(*scores, BUDGET.rho), BUDGET.rho)
    assert CLAIM / 4 < bound <= BUDGET.rho


@on_seeds
def test_half_the_noise_in_everything(seed, on_engine, monkeypatch, half_the_noise):
    scores = scores_of_everything(
        on_engine("duckdb", CANARIES.events()), monkeypatch, unsafe_seed=seed
    )
    bound = rho_at_least(*scores, BUDGET.rho)
    assert said("rationed, all steps, half the noise", bound, BUDGET.rho) > BUDGET.rho


# Noise and a threshold. All of ρ is in the counts.

MOST = 2
WHOLE = headcount.Budget(rho=1)
FITTING = Canaries(NUMBER, each=MOST, others=15)
MORE_FITTING = Canaries(2 * NUMBER, each=MOST, others=15)
# With twice as many items as count. Which of them do is not asked, so that half of ρ can be seen.
EXCEEDING = Canaries(NUMBER, each=2 * MOST, others=15)


def scores_of_threshold(call, canaries, **seed):
    # A large target error leaves the threshold far below the counts: all of them come out.
    how = {"method": "threshold", "max_items_per_user": MOST, "relative_error": 0.3}
    release = released(call, budget=WHOLE, **how, **seed)
    items, noisy, sigmas = published(release)
    if canaries.each == MOST:
        # Half of the canaries are in, so that noise which all counts share shows in their mean.
        noisy = noisy - (noisy.mean() - canaries.others - 1 / 2)
    return canaries.parted(canaries.scores(items, noisy, sigmas, 1.0))


@pytest.mark.parametrize("engine", ENGINES)
def test_threshold(engine, on_engine):
    scores = scores_of_threshold(on_engine(engine, FITTING.events()), FITTING)
    bound = said(f"threshold on {engine}", rho_at_least(*scores, WHOLE.rho), WHOLE.rho)
    assert WHOLE.rho / 4 < bound <= WHOLE.rho
    bound = said("and by one run", rho_at_least_in_one_run(*scores, WHOLE.rho), WHOLE.rho)
    assert 0 < bound <= WHOLE.rho


@pytest.mark.parametrize("engine", ENGINES)
def test_more_items_than_count(engine, on_engine):
    scores = scores_of_threshold(on_engine(engine, EXCEEDING.events()), EXCEEDING)
    bound = said(f"twice M items, on {engine}", rho_at_least(*scores, WHOLE.rho), WHOLE.rho)
    assert 0 < bound <= WHOLE.rho


@on_seeds
def test_half_the_noise_in_threshold(seed, on_engine, half_the_noise):
    call = on_engine("duckdb", MORE_FITTING.events())
    scores = scores_of_threshold(call, MORE_FITTING, unsafe_seed=seed)
    bound = said("threshold, half the noise", rho_at_least(*scores, WHOLE.rho), WHOLE.rho)
    assert bound > WHOLE.rho
    bound = said("and by one run", rho_at_least_in_one_run(*scores, WHOLE.rho), WHOLE.rho)
    assert bound > WHOLE.rho


@on_seeds
def test_one_noise_value_for_all_counts(seed, on_engine, monkeypatch):
    monkeypatch.setattr(pipeline, "SeededEntropy", OneValue)
    call = on_engine("duckdb", FITTING.events())
    scores = scores_of_threshold(call, FITTING, unsafe_seed=seed)
    bound = said("threshold, one noise value", rho_at_least(*scores, WHOLE.rho), WHOLE.rho)
    assert bound > WHOLE.rho


@on_seeds
def test_more_items_than_should_count(seed, on_engine, monkeypatch):
    def unbounded(events, user, items, most, at_least, **passes):
        return bounded_counts(events, user, items, 2 * most, at_least, **passes)

    monkeypatch.setattr(engine_view, "bounded_counts", unbounded)
    scores = scores_of_threshold(
        on_engine("duckdb", EXCEEDING.events()), EXCEEDING, unsafe_seed=seed
    )
    bound = said("twice M items, all counted", rho_at_least(*scores, WHOLE.rho), WHOLE.rho)
    assert bound > WHOLE.rho
