"""Vetted selection: nominations of the right law, rounds as they were planned, secrets kept."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.conditioning import conditioned_total
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.sensitivity import EachByOne
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr import PCR
from headcount.privacy.mechanisms.pcr.candidates import Candidates
from headcount.privacy.mechanisms.pcr.centred_look import centred_look
from headcount.privacy.mechanisms.pcr.rounds import ROUNDS
from headcount.privacy.mechanisms.pcr.settings import Settings, settings_for
from headcount.privacy.mechanisms.pcr.vetted_release import vetted_release
from headcount.privacy.mechanisms.pcr.vetting import Round, Vetting
from headcount.privacy.randomness import SeededEntropy
from headcount.privacy.sampling.clocks import first_to_ring
from headcount.views.histogram import TopCounts
from tests.privacy.scripted import ScriptedEntropy
from tests.privacy.stats import chi_square_p, false_failure, fits
from tests.privacy.test_vetting_claims import BUDGET, POLICIES
from tests.privacy.vetting_laws import Side, real_law

RUNS = 12_000
MUCH = Cost(Fraction(10**6), Fraction(1))

# Nominations.


def picks_law(gaps, epsilon, number):
    """The law of the set of picks, one after the other."""
    weights = np.exp(epsilon * np.array(gaps))
    law = Counter()
    for order in itertools.permutations(range(len(gaps)), number):
        chance, left = 1.0, set(range(len(gaps)))
        for place in order:
            chance *= weights[place] / sum(weights[other] for other in left)
            left.discard(place)
        law[frozenset(order)] += chance
    return law


@pytest.mark.parametrize(
    ("gaps", "number"), [([3, 2, 2, 0, 0], 1), ([3, 2, 2, 0, 0], 3), ([1, 1, 1], 2), ([9, 0, 0], 1)]
)
def test_nominees_have_the_law_of_repeated_picks(gaps, number):
    gate, epsilon = Gate(MUCH, SeededEntropy(4)), 0.6

    def drawn():
        places = gate.nominated(np.array(gaps), epsilon, number)
        assert places.size == number
        return frozenset(places.tolist())

    seen = Counter(drawn() for _ in range(RUNS))
    p = chi_square_p(seen, picks_law(gaps, epsilon, number))
    assert fits(p), false_failure(p)
    if len(set(gaps)) > 1:
        assert not fits(chi_square_p(seen, picks_law(gaps, epsilon * 1.3, number)))


def test_nominees_are_in_an_order_drawn_by_lot():
    gate = Gate(MUCH, SeededEntropy(2))
    seen = Counter(
        tuple(gate.nominated(np.array([40, 30, 0, 20]), 1.0, 3).tolist()) for _ in range(RUNS)
    )
    orders = dict.fromkeys(itertools.permutations([0, 1, 3]), 1 / 6)
    p = chi_square_p({order: seen[order] for order in orders}, orders)
    assert fits(p), false_failure(p)
    everybody = Counter(tuple(gate.nominated(np.zeros(3), 1.0, 9)) for _ in range(RUNS))
    p = chi_square_p(everybody, dict.fromkeys(itertools.permutations(range(3)), 1 / 6))
    assert fits(p), false_failure(p)
    assert gate.nominated(np.zeros(0), 1.0, 9).size == 0


def test_nobody_is_nominated_if_nobody_is_asked_for():
    assert Gate(Cost(), ScriptedEntropy([])).nominated(np.array([5, 4]), 1.0, 0).size == 0


@pytest.mark.parametrize("later", [(1, 2), (2, 1)])
def test_a_tie_at_the_last_place_draws_more_bits(later):
    """Two clocks whose first 64 bits agree, and one place; the later is drawn for first."""
    word, early = 2**62, 2**50
    entropy = ScriptedEntropy([early, word, 2**63, word, *(bits << 60 for bits in later)])
    places = first_to_ring(np.full(4, 7), 1.0, 2, entropy)
    assert sorted(places.tolist()) == [0, 3 if later[0] < later[1] else 1]
    assert entropy.left == 0


def test_the_rounding_of_large_scores_decides_nothing():
    """Counts near 2^50, where floats of ε·count are 2^-6 apart: a difference of 1 still counts."""
    gaps = np.array([2**50 + 1, 2**50])
    wrong_by_floats = 0
    for pair in SeededEntropy(6).words(1200).reshape(-1, 2).tolist():
        (place,) = first_to_ring(gaps, 0.1, 1, ScriptedEntropy([*pair, *[0] * 20])).tolist()
        log_e = [math.log(-math.log1p(-word / 2**64)) for word in pair]
        first = log_e[0] - 0.1 < log_e[1]
        assert place == (0 if first else 1)
        keys = [log - float(0.1 * gap) for log, gap in zip(log_e, gaps, strict=True)]
        wrong_by_floats += (keys[0] < keys[1]) != first
    assert wrong_by_floats > 0


@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_a_word_that_says_little_draws_more_bits(word):
    """V below 2^-64, or above 1 − 2^-64: how far ahead or behind is in the bits that follow.

    The first needs E below e^-44.4 to win, and has it if V is below 2^-64; behind, E is at most
    ln 2·129 < e^5, so that a lead of e^6 is enough.
    """
    lead = -44 if word == 0 else 6
    rest = [1 << 40, 1 << 40] if word == 0 else [0, 0]
    assert first_to_ring(np.array([lead, 0]), 1.0, 1, ScriptedEntropy([word, 2**63, *rest])) == [0]
    early = ScriptedEntropy([word, 2**63, *rest])
    behind = -70 if word == 0 else 3
    assert first_to_ring(np.array([behind, 0]), 1.0, 1, early) == [1]


# Rounds.


class Recording(SeededEntropy):
    """Writes down how many words and how much noise were asked for."""

    def __init__(self, seed):
        super().__init__(seed)
        self.asked_words, self.sigmas = [], []

    def words(self, count):
        self.asked_words.append(count)
        return super().words(count)

    def discrete_gaussian(self, values, sigma):
        self.sigmas += np.broadcast_to(sigma, len(values)).tolist()
        return super().discrete_gaussian(values, sigma)


PLANNED = Round(0.5, 3, 4, 2.5, 1.5, Fraction(1, 1000))


def test_a_round_costs_all_that_it_does():
    exact = 3 * Fraction(1, 4) / 8 + Fraction(4) / (8 * Fraction(25, 4)) + 1 / (8 * Fraction(9, 4))
    assert exact <= PLANNED.cost.rho <= exact * (1 + Fraction(1, 2**50))
    assert PLANNED.cost.delta == PLANNED.delta


def test_a_round_draws_what_was_planned_and_costs_that():
    entropy = Recording(1)
    gate = Gate(Cost(Fraction(1), Fraction(1)), entropy)
    vetting = Vetting(Candidates(np.array([9, 8, 7]), 2), 5, 20, gate)
    vetting.run(PLANNED, np.zeros(0, dtype=np.bool_))
    assert entropy.sigmas == [3.0, *[5.0] * 3]  # the cut-off and the tests: twice the σ of a count
    assert entropy.asked_words[0] == 5  # a clock for everyone, pads among them
    test_not_needed = Cost(EachByOne(1).cost(5.0))
    assert gate.spent + test_not_needed == PLANNED.cost
    assert vetting.not_nominated == 2
    assert np.unique(vetting.places).size == 3


def test_more_tests_than_were_planned_are_refused():
    """And nothing is drawn: the bound is for so many."""
    entropy = Recording(1)
    gate = Gate(Cost(Fraction(9), Fraction(1)), entropy)
    vetting = Vetting(Candidates(np.array([9, 8, 7]), 2), 9, 20, gate)
    vetting.run(PLANNED, np.zeros(0, dtype=np.bool_))
    before = len(entropy.asked_words), len(entropy.sigmas), gate.spent
    with pytest.raises(ValueError, match="planned"):
        vetting.run(PLANNED, np.array([True, True, False]))
    vetting.named[0] = True
    with pytest.raises(ValueError, match="planned"):
        vetting.run(PLANNED, np.array([True, False, False]))
    assert (len(entropy.asked_words), len(entropy.sigmas), gate.spent) == before


def test_a_candidate_that_nobody_has_is_never_named():
    """However lucky its noise: there is no name to say."""

    class Lucky(SeededEntropy):
        def discrete_gaussian(self, values, sigma):
            return [value + 10**6 * (len(values) > 1) for value in values]

    vetting = Vetting(Candidates(np.array([4]), 0), 4, 20, Gate(MUCH, Lucky(1)))
    planned = Round(0.001, 4, 4, 9.0, 9.0, Fraction(1, 10))
    vetting.run(planned, np.zeros(0, dtype=np.bool_))
    assert vetting.places[vetting.named].tolist() == [0]


def test_only_the_tests_of_a_round_decide_in_it():
    """A nominee fails by far and then passes, though not if both tests were taken together."""

    class Unlucky(SeededEntropy):
        luck = -10_000

        def discrete_gaussian(self, values, sigma):
            return [value + self.luck * (value > 0) for value in values]

    entropy = Unlucky(1)
    vetting = Vetting(Candidates(np.array([900]), 0), 1, 1000, Gate(MUCH, entropy))
    planned = Round(0.1, 1, 1, 9.0, 9.0, Fraction(1, 10))
    vetting.run(planned, np.zeros(0, dtype=np.bool_))
    assert not vetting.named.any()
    entropy.luck = 0
    vetting.run(planned, np.array([True]))
    assert vetting.named.all()
    assert vetting.tested[0] < 0


@pytest.mark.parametrize("how", ["two rounds", "two nominations at once"])
def test_rounds_have_the_enumerated_law(how):
    """Names, in what round, and the spend, over two rounds with secret state and retests."""
    policy, runs = POLICIES[how], 6000
    side = Side({"a": 6, "b": 4, "c": 1}, 3, 7)
    law = Counter()
    for (rounds, left), p in real_law(side, policy).items():
        law[tuple(tuple(sorted({name for name, _ in r} - {None})) for r in rounds), left] += p
    names = [item for item, _ in side.candidates if item]
    candidates = Candidates(np.array([side.counts[item] for item in names]), side.cutoff)
    entropy, seen = SeededEntropy(9), Counter()
    for _ in range(runs):
        gate = Gate(Cost(policy.total, BUDGET.delta_selection), entropy)
        vetting = Vetting(candidates, 3, side.users, gate)
        rounds, failed, high, again = [], 0, False, np.zeros(0, dtype=np.bool_)
        for _ in range(policy.rounds):
            planned = policy.round(vetting.not_nominated, int(again.sum()), failed, high)
            if planned is None or not planned.cost.fits(gate.left):
                break
            before = vetting.named.copy()
            sums_before = vetting.tested * vetting.precision if before.size else np.zeros(0)
            _, difference = vetting.run(planned, again)
            tested = np.append(again, np.ones(vetting.named.size - before.size, dtype=np.bool_))
            # What this round's tests said, from the sums over all of them.
            sums = vetting.tested * vetting.precision
            sums[: before.size] -= sums_before
            values = np.rint(sums * planned.sigma**2)
            close = values + difference > planned.bound - policy.nearly
            new = vetting.named.copy()
            new[: before.size] &= ~before
            rounds.append(tuple(sorted(names[place] for place in vetting.places[new])))
            failed += int((tested & ~close).sum())
            high = difference < 0
            again = tested & close & ~vetting.named
        seen[tuple(rounds), gate.left.rho] += 1
    p = chi_square_p(seen, law)
    assert fits(p), false_failure(p)


# Whole runs.

WHOLE = Budget(rho=1.0)
COUNTS = np.array(sorted((int(4000 / rank**0.7) for rank in range(1, 400)), reverse=True))


def run(counts, users, entropy, budget=WHOLE, floor=0, **settings):
    gate = Gate(conditioned_total(budget), entropy)
    how = settings_for("pcr", **settings)
    return vetted_release(counts[: how.k_bar + 1], floor, users, how, budget, gate), gate


def test_a_run_releases_accurate_counts_within_its_total():
    made, gate = run(COUNTS, 5000, SeededEntropy(1))
    assert gate.spent.rho > conditioned_total(WHOLE).rho * Fraction(98, 100)
    assert made.positions.size > 150
    assert np.unique(made.positions).size == made.positions.size
    true = COUNTS[made.positions]
    assert np.mean(np.abs(made.estimates - true) <= 0.1 * true) > 0.85
    assert np.mean(np.abs(made.noisy - true) <= 3 * made.sigmas) > 0.97
    # What is promised holds for the whole, and so the whole is what it costs.
    assert made.spent == Cost(Fraction(1), WHOLE.delta_selection)


def test_everything_that_is_drawn_is_charged(monkeypatch):
    """All noise, priced from its σ at a sensitivity of 1, and all nominations are the spend."""
    entropy, picks, nominated = Recording(1), [], Gate.nominated

    def priced(gate, gaps, epsilon, number, purpose):
        picks.append(number * Fraction(epsilon) ** 2 / 8)
        return nominated(gate, gaps, epsilon, number, purpose)

    monkeypatch.setattr(Gate, "nominated", priced)
    made, gate = run(COUNTS, 5000, entropy)
    drawn = sum(1 / (2 * Fraction(sigma) ** 2) for sigma in entropy.sigmas) + sum(picks)
    assert len(picks) == made.rounds_run > 10
    assert 0 <= float(gate.spent.rho / drawn - 1) < 2**-40
    assert gate.spent.delta == made.rounds_run * WHOLE.delta_selection / ROUNDS


def test_what_is_missing_from_a_cut_histogram_has_the_count_of_the_floor():
    """Pads and ranks below the cut are as high as an item that was left out may be."""
    heard, users, floor = [], 5000, 49

    class Listening(SeededEntropy):
        def discrete_gaussian(self, values, sigma):
            heard.extend(values)
            return super().discrete_gaussian(values, sigma)

    run(COUNTS[floor < COUNTS], users, Listening(1), floor=floor)
    centred = [value for value in heard if value != users]
    assert len(heard) > len(centred) > 100
    assert min(centred) == 2 * floor - users


@pytest.mark.parametrize(
    ("users", "total"), [(5000, conditioned_total(WHOLE)), (None, WHOLE.for_filter)]
)
def test_a_run_gets_what_the_lemma_leaves(users, total):
    """Of the whole budget; where the number of users is unknown there are races, as before."""
    gate = Gate(WHOLE.whole, SeededEntropy(1))
    names = pa.table({"what": np.arange(COUNTS.size)})
    top = TopCounts(names, pa.chunked_array([COUNTS]), users)
    PCR(settings_for("pcr"), WHOLE).on_histogram(top, 0, gate, lambda step: None)
    assert gate.spent == total


@pytest.mark.parametrize("rho", [0.5, 5.0, 100.0])
def test_one_item_that_everybody_has_is_released(rho):
    made, _ = run(np.array([300]), 300, SeededEntropy(1), Budget(rho=rho))
    assert made.positions.tolist() == [0]


@pytest.mark.parametrize("users", [0, 1, 30])
def test_few_users_give_nothing_and_no_error(users):
    made, _ = run(np.ones(min(users, 1), dtype=np.int64), users, SeededEntropy(1))
    assert made.positions.size == 0


def test_what_is_done_does_not_tell_whether_anybody_is_left():
    """All items are found, and rounds go on with candidates that nobody has."""
    few, _ = run(np.array([900, 900, 900]), 1000, SeededEntropy(1))
    assert sorted(few.positions.tolist()) == [0, 1, 2]
    assert few.rounds_run > 2


def test_equal_items_come_out_in_an_order_drawn_by_lot():
    """Without noise all estimates tie; an order by place would tell the order of true counts."""

    class NoNoise(SeededEntropy):
        def discrete_gaussian(self, values, sigma):
            return list(values)

    seen = Counter()
    for seed in range(600):
        made, _ = run(np.full(3, 500), 1000, NoNoise(seed), k_bar=20)
        seen[tuple(made.positions.tolist())] += 1
    orders = dict.fromkeys(itertools.permutations(range(3)), 1 / 6)
    p = chi_square_p(seen, orders)
    assert fits(p), false_failure(p)


def test_candidates_have_the_k_bar_that_was_chosen():
    gate = Gate(conditioned_total(WHOLE), SeededEntropy(1))
    look = centred_look(COUNTS, 0, 1000, Settings(k_bar=20), WHOLE, gate)
    with pytest.raises(ValueError, match="fewer candidates"):
        vetted_release(COUNTS, 0, 1000, Settings(k_bar=10), WHOLE, gate, look=look)


@pytest.mark.parametrize("rho", [1e-9, 1e-7, 1e4, 1e12])
def test_any_budget_will_do(rho):
    made, _ = run(COUNTS, 5000, SeededEntropy(1), budget=Budget(rho=rho))
    assert (made.positions.size > 0) == (rho > 1)
