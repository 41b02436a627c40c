"""The claims of rationed.md: sensitivities by property, and payment."""

import math
from fractions import Fraction

import numpy as np
import pytest
from experiments.shapes import few_heavy_users
from hypothesis import example, given
from hypothesis import strategies as st

from headcount.evaluation.dataset_population import DatasetPopulation
from headcount.evaluation.release import ArrayView
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms import Options, mechanism
from headcount.privacy.mechanisms.rationed import queries as rationed
from headcount.privacy.mechanisms.rationed.losses import Losers
from headcount.privacy.mechanisms.rationed.prices import STEPS, Prices, costs_of
from headcount.privacy.mechanisms.rationed.queries import MOST_ITEMS, UNIT, thresholds
from headcount.privacy.mechanisms.rationed.rationed_release import rationed_release
from headcount.privacy.mechanisms.rationed.sizes import Sizes
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from headcount.privacy.questions import GRID, RATION
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.population import PlainPopulation, by_item

ITEMS = range(8)
someone = st.sets(st.sampled_from(ITEMS), max_size=8)
crowds = st.lists(someone, max_size=6)
sigmas = st.one_of(st.floats(1e-3, 1e4), st.just(math.inf))
rhos = st.fractions(min_value=Fraction(1, 1000), max_value=5)


def population(crowd, found=()):
    made = PlainPopulation((user, item) for user, items in enumerate(crowd) for item in items)
    made.names = list(found)
    return made


def neighbours(crowd, user, found=()):
    return population(crowd, found), population([*crowd, user], found)


@given(crowds, someone, someone)
def test_a_user_is_in_one_bin_of_sizes(crowd, user, found):
    log = []
    for side in neighbours(crowd, user, found):
        gate = Gate(Cost(Fraction(1)), NoisePeek(1, log))
        rationed.PaidQueries(side, gate).sizes(Fraction(1))
    one, two = (np.array(values) for _, (values, _), _ in log)
    assert np.abs(two - one).sum() == (1 if user - found else 0)
    assert Sizes.BOUNDS[0] == 1


@given(crowds, someone, someone, st.integers(1, 2 * UNIT), st.integers(1, 9))
@example([{0, 1, 2}] * 3, {0, 1, 2}, set(), 1, 9)  # where UNIT/√3 adds up past a whole number
def test_the_weights_of_a_user_have_norm_one(crowd, user, found, looked_at, most_items):
    """On items both look at; and what only one looks at, the user alone has brought."""
    one, two = neighbours(crowd, user, found)
    before, after = (by_item(side.weights(UNIT, most_items, looked_at)) for side in (one, two))
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
@example([], {0, 1}, [0.5, 0.5, *[1e4] * 6], Fraction(2))  # each takes a whole ration
@example([], {6, 7}, [*[1e4] * 6, 0.5, 0.5], Fraction(2))
def test_a_user_moves_the_counts_within_the_ration(crowd, user, asked_for, rho):
    """Σ Δ²/(2·σ²) ≤ what is charged, with the σ that was drawn, in exact arithmetic."""
    noise = np.maximum(np.array(asked_for), rationed.sigma_for(rho))
    logs = [], []
    for side, log in zip(neighbours(crowd, user, ITEMS), logs, strict=True):
        gate = Gate(Cost(rho), NoisePeek(1, log))
        counts = rationed.PaidQueries(side, gate).counts(noise, rho)
        assert not counts[~np.isfinite(noise)].any()
    assert [sigma / GRID for sigma in logs[0][0][1][1]] == noise[np.isfinite(noise)].tolist()
    assert moved(*logs) <= gate.spent.rho


def moved(before, after):
    """Σ Δ²/(2·σ²) of what two sides drew."""
    (_, (ones, sigmas), _), (_, (twos, same), _) = *before, *after
    assert sigmas == same
    return sum(
        Fraction(two - one) ** 2 / (2 * Fraction(sigma) ** 2)
        for one, two, sigma in zip(ones, twos, sigmas, strict=True)
    )


def test_whoever_is_within_the_ration_counts_in_full_and_the_ration_is_used():
    """Four items that fill the ration exactly; with a fifth it is still nearly used up."""
    rho = Fraction(1, 2)
    noise = np.full(8, 2.0)  # 1/(2σ²) = 1/8
    costs = costs_of(noise, rho)
    assert costs.tolist() == [RATION // 4] * 8
    assert (
        population([{0, 1, 2, 3}], ITEMS).clipped_sums(costs).items.tolist() == [GRID] * 4 + [0] * 4
    )
    share = int(population([{0, 1, 2, 3, 4}], ITEMS).clipped_sums(costs).items[0])
    assert 0.99 * rho < 5 * Fraction(share) ** 2 / (2 * GRID**2 * 4) <= rho


@given(st.lists(sigmas, min_size=1, max_size=8), rhos)
def test_costs_are_rounded_up_and_never_capped(asked_for, rho):
    for sigma in asked_for:
        true = 0 if math.isinf(sigma) else RATION / (2 * rho * Fraction(sigma) ** 2)
        if true > RATION:
            with pytest.raises(ValueError, match="an item costs more than a ration"):
                costs_of(np.array([sigma]), rho)
        else:
            (cost,) = costs_of(np.array([sigma]), rho).tolist()
            assert true <= cost < true + 1


def test_costs_that_could_not_be_added_up_are_refused():
    dear = np.full(2**23, rationed.sigma_for(Fraction(1, 2)))
    with pytest.raises(ValueError, match="an item costs more than a ration"):
        costs_of(dear, Fraction(1, 2) * Fraction(1 + 1e-12) ** -2)


weights = st.lists(st.integers(0, 2**8), min_size=8, max_size=8)
values = st.lists(st.integers(-(2**10), 2**10), min_size=8, max_size=8)


def exceeding(rho):
    """Prices at which two items are too many."""
    return Prices.of(np.full(8, 1.1 * rationed.sigma_for(rho)), rho)


@given(crowds, someone, weights, rhos)
@example([set(ITEMS)] * 3, set(ITEMS), [2**8] * 8, Fraction(1))
def test_a_user_is_in_one_bin_of_losers(crowd, user, each, rho):
    log = []
    for side in neighbours(crowd, user, ITEMS):
        asking = rationed.PaidQueries(side, Gate(Cost(rho), NoisePeek(1, log)))
        asking.losers(exceeding(rho), np.array(each), 1.0, 1.0, rho)
    one, two = (np.array(seen) for _, (seen, _), _ in log)
    assert np.abs(two - one).sum() == (
        1 if len(user) > 1 and sum(each[item] for item in user) else 0
    )
    assert Losers.BOUNDS[0] == 1
    assert 1 / (2 * Fraction(log[0][1][1][0]) ** 2) <= rho


class Spy:
    """A population that writes down what was asked, and what had been spent by then."""

    def __init__(self, inner, budget):
        self.inner, self.log = inner, []
        self.gate = Gate(budget.for_filter, NoisePeek(7, self.log))

    def __getattr__(self, name):
        def ask(*arguments):
            self.log.append((name, arguments, self.gate.spent))
            return getattr(self.inner, name)(*arguments)

        return ask


class NoisePeek(SeededEntropy):
    """Writes down every noise that was drawn: to what it is added, σ of each, and the sums."""

    def __init__(self, seed, log):
        super().__init__(seed)
        self.log = log

    def discrete_gaussian(self, values, sigma):
        noisy = super().discrete_gaussian(values, sigma)
        sigmas = np.broadcast_to(sigma, len(noisy)).tolist()
        self.log.append(("noise", (list(values), sigmas), noisy))
        return noisy


def covers(asked, sums, drawn, rho):
    """Assert that users pay for what they move: m²·Σc and (1 − 2m)·c, with c for a move by one."""
    items, base = asked
    unit, m, number = 1, Fraction(0), Fraction(0)
    if base:
        unit, *drawn, (users, sigma) = STEPS, *drawn
        assert users == sums.users
        number = RATION / (2 * rho * (sigma / GRID) ** 2)
    kept = np.flatnonzero(items)
    assert len(drawn) == kept.size
    if base:
        off = unit * int(sums.items[kept].sum()) - sum(value for value, _ in drawn)
        m = Fraction(off, kept.size * users * unit)
        assert 0 < m <= Fraction(1, 2)
    centred = sorted(unit * int(n) - m * unit * sums.users for n in sums.items[kept])
    assert sorted(value for value, _ in drawn) == centred
    costs = sorted(RATION / (2 * rho * (sigma / (unit * GRID)) ** 2) for _, sigma in drawn)
    assert base >= number + m**2 * sum(costs)
    pairs = zip(sorted(items[kept].tolist()), costs, strict=True)
    assert all(paid >= (1 - 2 * m) * cost for paid, cost in pairs)


def many_users():
    """Items that fall off as a power, one user who has the first of them all, and rare ones."""
    generator = np.random.default_rng(5)
    for user in range(4000):
        for item in set((30 * generator.random(3) ** 3).astype(int).tolist()):
            yield user, item
        yield user, 100 + int(1000 * generator.random())
    yield from (("all", item) for item in range(30))


@pytest.mark.parametrize(
    ("made", "rho", "r", "questions", "centred"),
    [
        (lambda: PlainPopulation(many_users()), 8.0, 0.1, (3,), False),
        (lambda: PlainPopulation(many_users()), 0.3, 0.1, (3,), True),
        (lambda: PlainPopulation(many_users()), 2.0, 1e-6, (3,), True),
        (lambda: PlainPopulation(many_users()), 0.3, 1e-6, (3,), True),
        # Thirty are seen at once, and nobody loses anything then, so less is.
        (lambda: DatasetPopulation(few_heavy_users(30)), 1.0, 0.1, (1,), True),
    ],
)
def test_every_question_is_paid_for_before_it_is_asked_at_its_sensitivity(
    made, rho, r, questions, centred
):
    budget = Budget(rho=rho)
    spy = Spy(made(), budget)
    run = rationed_release(spy, r, budget, spy.gate)
    assert (run.positions.size > 0) == (r == 0.1)
    asked = [name for name, *_ in spy.log if name not in ("noise", "found")]
    discovered = asked[: asked.index("clipped_sums")]
    assert discovered == ["sizes", "weights", "sizes", "weights"]
    counted = asked[len(discovered) :]
    number = counted.count("losers")
    assert number in questions
    assert counted == ["clipped_sums", *["losers"] * number, "clipped_sums"]
    spent, bases = Cost(), []
    for place, (name, what, paid) in enumerate(spy.log):
        if name in ("noise", "found"):
            continue
        # One noise for each question, and nothing is charged but just before it.
        step, spent = paid - spent, paid
        kind, (values, noise_sigmas), noisy = spy.log[place + 1]
        assert kind == "noise"
        if name == "clipped_sums":
            drawn = list(zip(values, map(Fraction, noise_sigmas), strict=True))
            covers(what, spy.inner.clipped_sums(*what), drawn, step.rho)
            bases.append(what[1])
        else:
            (noise_sigma,) = set(noise_sigmas)
            squared = UNIT**2 if name == "weights" else 1
            assert squared / (2 * Fraction(noise_sigma) ** 2) <= step.rho
        if name == "weights":
            unit, most_items, looked_at = what
            assert step.delta == budget.delta_selection / 2
            assert unit == UNIT
            assert most_items <= MOST_ITEMS
            assert looked_at >= 1
            bound = thresholds(noise_sigma, looked_at, step.delta)[most_items]
            over = [n for n, weight in enumerate(noisy) if weight > bound]
            assert sorted(spy.log[place + 2][1][1]) == over
        else:
            assert step.delta == 0
    assert [base > 0 for base in bases] == [False, centred]
    assert sum(name == "noise" for name, *_ in spy.log) == len(asked)
    assert spent == run.spent == spy.gate.spent
    assert spent.fits(budget.for_filter)


def test_nothing_is_found_in_an_empty_table_and_discovery_is_charged():
    """The second round is left out: by noisy sizes nobody has an item left."""
    budget = Budget(rho=1.0)
    gate = Gate(budget.for_filter, SeededEntropy(1))
    run = rationed_release(PlainPopulation([]), 0.1, budget, gate)
    assert run.positions.size == 0
    assert run.spent.delta == budget.delta_selection / 2
    share = TUNING.first_round + 2 * TUNING.sizes
    assert run.spent.rho > share * budget.rho_for_filter * Fraction(99, 100)


def test_a_user_is_asked_no_more_often_than_twelve_times():
    """Each question is a pass over the pairs."""
    spy = Spy(PlainPopulation(many_users()), Budget(rho=2.0))
    rationed_release(spy, 0.1, Budget(rho=2.0), spy.gate)
    asked = [name for name, *_ in spy.log if name not in ("noise", "found")]
    assert len(asked) <= 12


def test_a_release_may_spend_what_its_promise_leaves():
    """ρ·(1 − δ), by the proof; the rest of the budget is not touched."""
    budget, parts = Budget(rho=1.0, delta=1e-2), []

    class Whole(Gate):
        def part(self, total):
            parts.append(total)
            return super().part(total)

    view = ArrayView(few_heavy_users(30))
    whole = Whole(budget.whole, SeededEntropy(1))
    mechanism("rationed").of(Options(), budget).prepare(view, whole, print)()
    assert parts == [budget.for_filter]
    assert parts[0].rho < budget.whole.rho
