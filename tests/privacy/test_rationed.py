"""The claims of rationed.md: sensitivities by property, the threshold by exact tails, payment."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from headcount.privacy import rationed
from headcount.privacy.budget import Budget
from headcount.privacy.entropy import SeededEntropy
from headcount.privacy.filter import Cost, PrivacyFilter
from headcount.privacy.population import GRID, RATION
from headcount.privacy.rationed import (
    LOOKED_AT,
    MOST_ITEMS,
    UNIT,
    costs_of,
    rationed_release,
    thresholds,
)
from headcount.privacy.rationing import Sizes
from tests.privacy.population import PlainPopulation

ITEMS = range(8)
someone = st.sets(st.sampled_from(ITEMS), max_size=8)
crowds = st.lists(someone, max_size=6)
sigmas = st.one_of(st.floats(1e-3, 1e4), st.just(math.inf))
rhos = st.fractions(min_value=Fraction(1, 1000), max_value=5)


def population(crowd, found=()):
    made = PlainPopulation((user, item) for user, items in enumerate(crowd) for item in items)
    made.asked = list(ITEMS)
    made.found(list(found))
    return made


def neighbours(crowd, user, found=()):
    return population(crowd, found), population([*crowd, user], found)


@given(crowds, someone, someone)
def test_a_user_is_in_one_bin_of_sizes(crowd, user, found):
    log = []
    for side in neighbours(crowd, user, found):
        privacy_filter = PrivacyFilter(Cost(Fraction(1)))
        rationed.Asking(side, NoisePeek(1, log), privacy_filter).sizes(Fraction(1))
    one, two = (np.array(values) for _, (values, _), _ in log)
    assert np.abs(two - one).sum() == (1 if user - found else 0)
    assert Sizes.BOUNDS[0] == 1


@given(crowds, someone, someone, st.integers(1, 2 * UNIT), st.integers(1, 9))
@example([{0, 1, 2}] * 3, {0, 1, 2}, set(), 1, 9)  # where UNIT/√3 adds up past a whole number
def test_the_weights_of_a_user_have_norm_one(crowd, user, found, looked_at, most_items):
    """On items both look at; and what only one looks at, the user alone has brought."""
    one, two = neighbours(crowd, user, found)
    before, after = (
        dict(zip(side.asked, weights.tolist(), strict=True))
        for side in (one, two)
        for weights in [side.weights(UNIT, most_items, looked_at)]
    )
    open_items = user - found
    assert set(before) <= set(after)
    moved = [after[item] - before[item] for item in before]
    assert sum(move**2 for move in moved) <= UNIT**2
    brought = set(after) - set(before)
    assert len(brought) <= len(open_items)
    if brought:
        assert len(open_items) <= most_items
        own = math.isqrt(UNIT**2 // len(open_items))
        assert all(after[item] <= looked_at - 1 + own for item in brought)


@given(crowds, someone, st.lists(sigmas, min_size=8, max_size=8), rhos)
def test_a_user_moves_the_counts_within_the_ration(crowd, user, asked_for, rho):
    """Σ Δ²/(2·GRID²·σ²) ≤ ρ, in exact arithmetic."""
    noise = np.maximum(np.array(asked_for), rationed.sigma_for(rho))
    costs = costs_of(noise, rho)
    one, two = (side.clipped_sums(costs) for side in neighbours(crowd, user, ITEMS))
    moved = zip((two - one).tolist(), noise.tolist(), strict=True)
    spent = sum(
        Fraction(move) ** 2 / (2 * GRID**2 * Fraction(sigma) ** 2)
        for move, sigma in moved
        if math.isfinite(sigma)
    )
    assert spent <= rho
    assert not (two - one)[~np.isfinite(noise)].any()


def test_whoever_is_within_the_ration_counts_in_full_and_the_ration_is_used():
    """Four items that fill the ration exactly; with a fifth it is still nearly used up."""
    rho = Fraction(1, 2)
    noise = np.full(8, 2.0)  # 1/(2σ²) = 1/8
    costs = costs_of(noise, rho)
    assert costs.tolist() == [RATION // 4] * 8
    assert population([{0, 1, 2, 3}], ITEMS).clipped_sums(costs).tolist() == [GRID] * 4 + [0] * 4
    share = int(population([{0, 1, 2, 3, 4}], ITEMS).clipped_sums(costs)[0])
    assert 0.99 * rho < 5 * Fraction(share) ** 2 / (2 * GRID**2 * 4) <= rho


@given(st.lists(sigmas, min_size=1, max_size=8), rhos)
def test_costs_are_rounded_up_and_never_capped(asked_for, rho):
    for sigma in asked_for:
        true = 0 if math.isinf(sigma) else RATION / (2 * rho * Fraction(sigma) ** 2)
        if true > RATION:
            with pytest.raises(ValueError, match="more of a user"):
                costs_of(np.array([sigma]), rho)
        else:
            (cost,) = costs_of(np.array([sigma]), rho).tolist()
            assert true <= cost < true + 1


def test_costs_that_could_not_be_added_up_are_refused():
    dear = np.full(2**23, rationed.sigma_for(Fraction(1, 2)))
    with pytest.raises(ValueError, match="more of a user"):
        costs_of(dear, Fraction(1, 2) * Fraction(1 + 1e-12) ** -2)


@given(crowds, someone, st.sets(st.sampled_from(ITEMS)), st.integers(1, 8 * GRID), rhos)
def test_what_a_user_loses_is_clipped(crowd, user, among, most, rho):
    costs = costs_of(np.full(8, 1.1 * rationed.sigma_for(rho)), rho)
    marked = np.isin(np.arange(8), list(among))
    one, two = (side.lost(costs, marked, most) for side in neighbours(crowd, user, ITEMS))
    assert 0 <= two - one <= most


def exact_tails(sigma, reach):
    """P[X ≥ m] of the discrete Gaussian for m from 0, to 30 digits, rounded up."""
    with localcontext() as context:
        context.prec = 40
        twice = 2 * Decimal(sigma) ** 2
        # Beyond 40σ there is less than e^-800 of it.
        far = max(reach, int(40 * sigma) + 40)
        masses = [(-(Decimal(x) ** 2) / twice).exp() for x in range(far)]
        total = 2 * sum(masses) - 1
        sums = list(itertools.accumulate(reversed(masses)))[::-1]
        return [mass / total * (1 + Decimal("1e-30")) for mass in sums]


@pytest.mark.parametrize("sigma", [0.3, 0.7, 1.0, 3.0, 17.5])
def test_the_discrete_tail_is_within_that_of_the_continuous_one_a_step_before(sigma):
    """P[X ≥ m] ≤ P[N ≥ m − 1]; without the step it is not true."""
    tails = exact_tails(sigma, 0)

    def continuous(least):
        return math.erfc(least / sigma / math.sqrt(2)) / 2

    steps = range(1, int(12 * sigma) + 2)
    assert all(float(tails[m]) <= continuous(m - 1) * (1 + 1e-12) for m in steps)
    assert any(float(tails[m]) > continuous(m) for m in steps)


@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 20)])
@pytest.mark.parametrize("sigma", [1.0, 8.0, 50.0])
def test_what_one_user_brings_is_released_with_probability_delta(sigma, delta, monkeypatch):
    """For every number of items up to the most; and T is not much higher than it must be."""
    monkeypatch.setattr(rationed, "UNIT", 20)
    monkeypatch.setattr(rationed, "MOST_ITEMS", 60)
    looked_at = max(1, math.floor(LOOKED_AT * Fraction(sigma)))
    bounds = thresholds(sigma, looked_at, delta)
    assert list(bounds) == list(range(1, 61))
    tails = exact_tails(sigma, bounds[60] + 2)

    def released(most, bound):
        """The largest chance, over t, that one of t items of one user exceeds T."""
        return max(
            t * tails[max(0, bound + 1 - (looked_at - 1 + math.isqrt(400 // t)))]
            for t in range(1, most + 1)
        )

    for most, bound in bounds.items():
        assert released(most, bound) <= delta < released(most, bound - 4)


def test_the_threshold_at_the_real_constants():
    """Against scipy's tail, at the σ of a release; too low by 5 % it fails."""
    sigma, delta = (
        float(math.ceil(rationed.sigma_for(Fraction(8, 100)) * UNIT)),
        Fraction(1, 10**6),
    )
    looked_at = math.floor(LOOKED_AT * Fraction(sigma))
    bound = thresholds(sigma, looked_at, delta)[MOST_ITEMS]

    def released(bound):
        numbers = np.arange(1, MOST_ITEMS + 1)
        own = np.array([math.isqrt(UNIT**2 // t) for t in range(1, MOST_ITEMS + 1)])
        return float(np.max(numbers * stats.norm.sf((bound + 1 - (looked_at + own) - 1) / sigma)))

    assert released(bound) <= delta
    assert released(bound * 0.95) > delta


class Spy:
    """A population and a filter that write down what was asked and what was reserved."""

    def __init__(self, inner, privacy_filter):
        self.inner, self.filter, self.log = inner, privacy_filter, []
        self.reserve, self.settle = privacy_filter.reserve, privacy_filter.settle
        privacy_filter.reserve = self._reserve
        privacy_filter.settle = self._settle

    def _reserve(self, cost):
        self.reserve(cost)
        self.log.append(("reserve", cost))

    def _settle(self, cost):
        self.settle(cost)
        self.log.append(("settle", cost))

    def __getattr__(self, name):
        def ask(*arguments):
            self.log.append((name, arguments))
            return getattr(self.inner, name)(*arguments)

        return ask


class NoisePeek(SeededEntropy):
    """Writes down the σ of every noise that was drawn."""

    def __init__(self, seed, log):
        super().__init__(seed)
        self.log = log

    def discrete_gaussian(self, values, sigma):
        noisy = super().discrete_gaussian(values, sigma)
        self.log.append(("noise", (list(values), sigma), noisy))
        return noisy


def many_users():
    """Items that fall off as a power, and one user who has them all."""
    generator = np.random.default_rng(5)
    for user in range(4000):
        for item in set((30 * generator.random(3) ** 3).astype(int).tolist()):
            yield user, item
    yield from (("all", item) for item in range(30))


@pytest.mark.parametrize("rho", [2.0, 0.3])
@pytest.mark.parametrize("r", [0.1, 1e-6])
def test_every_question_is_paid_for_before_it_is_asked_at_its_sensitivity(rho, r):
    budget = Budget(rho=rho)
    total = Cost(budget.rho_for_filter, budget.delta_selection)
    spy = Spy(PlainPopulation(many_users()), PrivacyFilter(total))
    run = rationed_release(spy, r, budget, NoisePeek(3, spy.log), privacy_filter=spy.filter)
    assert (run.positions.size > 0) == (r == 0.1)
    asked = [name for name, *_ in spy.log if name not in ("reserve", "settle", "noise", "found")]
    assert asked[:5] == ["sizes", "weights", "sizes", "weights", "clipped_sums"]
    assert asked[-1] == "clipped_sums"
    assert set(asked[5:-1]) <= {"lost"}
    spent, open_step = Cost(), None
    for place, (name, what, *_) in enumerate(spy.log):
        if name == "reserve":
            assert open_step is None
            open_step = what
        elif name == "settle":
            assert what == open_step
            spent, open_step = spent + what, None
        else:
            assert open_step is not None
        if name in ("sizes", "weights", "lost"):
            noise_sigma = spy.log[place + 1][1][1]
            sensitivity = {"sizes": 1, "weights": UNIT, "lost": what[-1]}[name]
            assert Fraction(sensitivity) ** 2 / (2 * Fraction(noise_sigma) ** 2) <= open_step.rho
            assert (open_step.delta > 0) == (name == "weights")
        if name == "weights":
            unit, most_items, looked_at = what
            assert unit == UNIT
            assert most_items <= MOST_ITEMS
            assert looked_at >= 1
            _, (_, noise_sigma), noisy = spy.log[place + 1]
            bound = thresholds(noise_sigma, looked_at, open_step.delta)[most_items]
            over = [n for n, weight in enumerate(noisy) if weight > bound]
            assert sorted(spy.log[place + 2][1][0]) == over
        if name == "clipped_sums":
            noises = []
            for kind, more, *_ in spy.log[place + 1 :]:
                if kind != "noise":
                    break
                noises += [Fraction(more[1]) / GRID] * len(more[0])
            costs = sorted(cost for cost in what[0].tolist() if cost)
            dearest = sorted(RATION / (2 * open_step.rho * sigma**2) for sigma in noises)
            assert len(costs) == len(noises)
            assert all(cost >= true for cost, true in zip(costs, dearest, strict=True))
    assert open_step is None
    assert spent == run.spent == spy.filter.spent
    assert spent.fits(total)


def test_nothing_is_found_in_an_empty_table_and_discovery_is_charged():
    budget = Budget(rho=1.0)
    run = rationed_release(PlainPopulation([]), 0.1, budget, SeededEntropy(1))
    assert run.positions.size == 0
    assert run.spent.delta == budget.delta_selection
    assert run.spent.rho > Fraction(28, 100) * budget.rho_for_filter * Fraction(99, 100)


def test_an_item_that_only_users_with_too_many_items_have_is_not_looked_at():
    """At a huge ρ, where the least weight looked at would otherwise be 0."""
    pairs = [("bot", item) for item in range(MOST_ITEMS + 1)]
    seen = []

    class Peeking(PlainPopulation):
        def weights(self, unit, most_items, at_least):
            answer = super().weights(unit, most_items, at_least)
            seen.append((at_least, answer.size))
            return answer

    rationed_release(Peeking(pairs), 0.1, Budget(rho=1e12), SeededEntropy(1))
    assert seen == [(1, 0), (1, 0)]


def test_equal_weights_come_in_any_order():
    """Not in the population's own, which may depend on who has what."""
    orders = set()
    for seed in range(40):
        asking = rationed.Asking(
            Flat(), SeededEntropy(seed), PrivacyFilter(Cost(Fraction(1), Fraction(1, 10)))
        )
        asking.entropy.discrete_gaussian = lambda values, sigma: list(values)
        asking.discover(Fraction(1), Fraction(1, 10), NO_USERS)
        orders.add(tuple(asking.population.order))
    assert len(orders) == 6


class AtTheThreshold:
    """Items whose weights lie around T for the number of items that was asked for."""

    def __init__(self, sigma, delta):
        self.sigma, self.delta = sigma, delta

    def weights(self, unit, most_items, at_least):
        self.most_items = most_items
        bound = thresholds(self.sigma, at_least, self.delta)[most_items]
        return np.array([bound - 1, bound, bound + 1])

    def found(self, places):
        self.places = places


@pytest.mark.parametrize("items", [1, 12, 64, 4000])
def test_the_threshold_is_that_of_who_takes_part(items):
    """And of δ: with more δ, or for fewer items than take part, it would be lower."""
    delta, sizes = Fraction(1, 10**6), Sizes([10**6 * (b <= items) for b in Sizes.BOUNDS], 1.0)
    sigma = float(math.ceil(rationed.sigma_for(Fraction(1)) * UNIT))
    asking = rationed.Asking(
        AtTheThreshold(sigma, delta), SeededEntropy(1), PrivacyFilter(Cost(Fraction(1), delta))
    )
    asking.entropy.discrete_gaussian = lambda values, sigma: list(values)
    asking.discover(Fraction(1), delta, sizes)
    assert asking.population.places == [2]
    assert (asking.population.most_items == MOST_ITEMS) == (items == 4000)


class Scripted:
    """Answers that do not depend on what is true, and a population that has something else."""

    def __init__(self, true_sizes):
        self.true_sizes, self.asked = true_sizes, []

    def words(self, count):
        return np.arange(count, dtype=np.uint64)

    def discrete_gaussian(self, values, sigma):
        return [5000 * (place < 9) for place in range(len(values))]

    def sizes(self, at_least):
        return [self.true_sizes] * len(at_least)

    def weights(self, unit, most_items, at_least):
        self.asked.append(most_items)
        return np.zeros(0, dtype=np.int64)

    def found(self, places):
        pass


def test_who_takes_part_follows_from_noisy_sizes_only():
    runs = [Scripted(size) for size in (0, 10**9)]
    for run in runs:
        rationed_release(run, 0.1, Budget(rho=1.0), run)
    assert runs[0].asked == runs[1].asked
    assert runs[0].asked[0] < MOST_ITEMS


# Nobody has any items, so that all may take part.
NO_USERS = Sizes([0] * len(Sizes.BOUNDS), sigma=1.0)


class Flat:
    """Three items of one large weight."""

    order = ()

    def weights(self, unit, most_items, at_least):
        return np.full(3, 10**6 * unit)

    def found(self, places):
        self.order = places
