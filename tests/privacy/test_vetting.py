"""Vetted selection: nominations of the right law, rounds as they were planned, secrets kept."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.conditioning import conditioned_total
from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.mechanisms.pcr import nomination
from headcount.privacy.mechanisms.pcr import vetted_release as vetted_module
from headcount.privacy.mechanisms.pcr import vetting as vetting_module
from headcount.privacy.mechanisms.pcr.candidates import Candidates
from headcount.privacy.mechanisms.pcr.nomination import by_lot, nominate
from headcount.privacy.mechanisms.pcr.rounds import ROUNDS
from headcount.privacy.mechanisms.pcr.settings import Settings, settings_for
from headcount.privacy.mechanisms.pcr.vetted_release import vetted_release
from headcount.privacy.mechanisms.pcr.vetting import Round, Vetting
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.scripted import ScriptedEntropy
from tests.privacy.stats import chi_square_p, false_failure, fits
from tests.privacy.test_vetting_claims import BUDGET, POLICIES
from tests.privacy.vetting_laws import Side, real_law

RUNS = 12_000

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
    entropy, epsilon = SeededEntropy(4), 0.6

    def drawn():
        places = nominate(np.array(gaps), epsilon, number, entropy)
        assert places.size == number
        return frozenset(places.tolist())

    seen = Counter(drawn() for _ in range(RUNS))
    p = chi_square_p(seen, picks_law(gaps, epsilon, number))
    assert fits(p), false_failure(p)
    if len(set(gaps)) > 1:
        assert not fits(chi_square_p(seen, picks_law(gaps, epsilon * 1.3, number)))


def test_nominees_are_in_an_order_drawn_by_lot():
    entropy = SeededEntropy(2)
    seen = Counter(
        tuple(nominate(np.array([40, 30, 0, 20]), 1.0, 3, entropy).tolist()) for _ in range(RUNS)
    )
    orders = dict.fromkeys(itertools.permutations([0, 1, 3]), 1 / 6)
    p = chi_square_p({order: seen[order] for order in orders}, orders)
    assert fits(p), false_failure(p)
    everybody = Counter(tuple(nominate(np.zeros(3), 1.0, 9, entropy)) for _ in range(RUNS))
    p = chi_square_p(everybody, dict.fromkeys(itertools.permutations(range(3)), 1 / 6))
    assert fits(p), false_failure(p)
    assert by_lot(np.zeros(0, dtype=np.int64), entropy).size == 0


def test_nobody_is_nominated_if_nobody_is_asked_for():
    assert nominate(np.array([5, 4]), 1.0, 0, ScriptedEntropy([])).size == 0


def without_lots(monkeypatch):
    monkeypatch.setattr(nomination, "by_lot", lambda places, entropy: places)


@pytest.mark.parametrize("later", [(1, 2), (2, 1)])
def test_a_tie_at_the_last_place_draws_more_bits(later, monkeypatch):
    """Two clocks whose first 64 bits agree, and one place; the later is drawn for first."""
    without_lots(monkeypatch)
    word, early = 2**62, 2**50
    entropy = ScriptedEntropy([early, word, 2**63, word, *(bits << 60 for bits in later)])
    places = nominate(np.full(4, 7), 1.0, 2, entropy)
    assert sorted(places.tolist()) == [0, 3 if later[0] < later[1] else 1]
    assert entropy.left == 0


def test_the_rounding_of_large_scores_decides_nothing(monkeypatch):
    """Counts near 2^50, where floats of ε·count are 2^-6 apart: a difference of 1 still counts."""
    without_lots(monkeypatch)
    gaps = np.array([2**50 + 1, 2**50])
    wrong_by_floats = 0
    for pair in SeededEntropy(6).words(1200).reshape(-1, 2).tolist():
        (place,) = nominate(gaps, 0.1, 1, ScriptedEntropy([*pair, *[0] * 20])).tolist()
        log_e = [math.log(-math.log1p(-word / 2**64)) for word in pair]
        first = log_e[0] - 0.1 < log_e[1]
        assert place == (0 if first else 1)
        keys = [log - float(0.1 * gap) for log, gap in zip(log_e, gaps, strict=True)]
        wrong_by_floats += (keys[0] < keys[1]) != first
    assert wrong_by_floats > 0


@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_a_word_that_says_little_draws_more_bits(word, monkeypatch):
    """V below 2^-64, or above 1 − 2^-64: how far ahead or behind is in the bits that follow.

    The first needs E below e^-44.4 to win, and has it if V is below 2^-64; behind, E is at most
    ln 2·129 < e^5, so that a lead of e^6 is enough.
    """
    without_lots(monkeypatch)
    lead = -44 if word == 0 else 6
    rest = [1 << 40, 1 << 40] if word == 0 else [0, 0]
    assert nominate(np.array([lead, 0]), 1.0, 1, ScriptedEntropy([word, 2**63, *rest])) == [0]
    early = ScriptedEntropy([word, 2**63, *rest])
    behind = -70 if word == 0 else 3
    assert nominate(np.array([behind, 0]), 1.0, 1, early) == [1]


# Rounds.


class Recording(SeededEntropy):
    """Writes down how much noise was asked for, and what was reserved by then."""

    def __init__(self, seed, privacy_filter):
        super().__init__(seed)
        self.filter, self.asked = privacy_filter, []

    def words(self, count):
        self.asked.append(("words", count, 0.0, self.filter.spent))
        return super().words(count)

    def discrete_gaussian(self, values, sigma):
        self.asked.append(("noise", len(values), sigma, self.filter.spent))
        return super().discrete_gaussian(values, sigma)


PLANNED = Round(0.5, 3, 4, 2.5, 1.5, Fraction(1, 1000))


def test_a_round_costs_all_that_it_does():
    exact = 3 * Fraction(1, 4) / 8 + Fraction(4) / (8 * Fraction(25, 4)) + 1 / (8 * Fraction(9, 4))
    assert exact <= PLANNED.cost.rho <= exact * (1 + Fraction(1, 2**50))
    assert PLANNED.cost.delta == PLANNED.delta


def test_a_round_is_reserved_before_anything_is_drawn_and_draws_what_was_planned():
    privacy_filter = PrivacyFilter(Cost(Fraction(1), Fraction(1)))
    entropy = Recording(1, privacy_filter)
    vetting = Vetting(Candidates(np.array([9, 8, 7]), 2), 5, 20, entropy, privacy_filter)
    again = np.zeros(0, dtype=np.bool_)
    vetting.run(PLANNED, again)
    assert all(spent == PLANNED.cost for *_, spent in entropy.asked)
    noise = [(number, sigma) for kind, number, sigma, _ in entropy.asked if kind == "noise"]
    assert noise == [(1, 3.0), (3, 5.0)]  # the cut-off, then the tests: twice the σ of a count
    assert entropy.asked[1][:2] == ("words", 5)  # a clock for everyone, pads among them
    assert privacy_filter.spent == PLANNED.cost
    assert vetting.not_nominated == 2
    assert np.unique(vetting.places).size == 3


def test_more_tests_than_were_planned_are_refused():
    """And nothing is drawn: the bound and the charge are for so many."""
    privacy_filter = PrivacyFilter(Cost(Fraction(9), Fraction(1)))
    entropy = Recording(1, privacy_filter)
    vetting = Vetting(Candidates(np.array([9, 8, 7]), 2), 9, 20, entropy, privacy_filter)
    vetting.run(PLANNED, np.zeros(0, dtype=np.bool_))
    before = len(entropy.asked)
    with pytest.raises(ValueError, match="planned"):
        vetting.run(PLANNED, np.array([True, True, False]))
    vetting.named[0] = True
    with pytest.raises(ValueError, match="planned"):
        vetting.run(PLANNED, np.array([True, False, False]))
    assert len(entropy.asked) == before


def test_a_candidate_that_nobody_has_is_never_named():
    """However lucky its noise: there is no name to say."""

    class Lucky(SeededEntropy):
        def discrete_gaussian(self, values, sigma):
            return [value + 10**6 * (len(values) > 1) for value in values]

    privacy_filter = PrivacyFilter(Cost(Fraction(9), Fraction(1)))
    vetting = Vetting(Candidates(np.array([4]), 0), 4, 20, Lucky(1), privacy_filter)
    planned = Round(0.001, 4, 4, 9.0, 9.0, Fraction(1, 10))
    vetting.run(planned, np.zeros(0, dtype=np.bool_))
    assert vetting.places[vetting.named].tolist() == [0]


def test_only_the_tests_of_a_round_decide_in_it():
    """A nominee fails by far and then passes, though not if both tests were taken together."""

    class Unlucky(SeededEntropy):
        luck = -10_000

        def discrete_gaussian(self, values, sigma):
            return [value + self.luck * (value > 0) for value in values]

    privacy_filter = PrivacyFilter(Cost(Fraction(9), Fraction(1)))
    entropy = Unlucky(1)
    vetting = Vetting(Candidates(np.array([900]), 0), 1, 1000, entropy, privacy_filter)
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
        privacy_filter = PrivacyFilter(Cost(policy.total, BUDGET.delta_selection))
        vetting = Vetting(candidates, 3, side.users, entropy, privacy_filter)
        rounds, failed, high, again = [], 0, False, np.zeros(0, dtype=np.bool_)
        for _ in range(policy.rounds):
            planned = policy.round(vetting.not_nominated, int(again.sum()), failed, high)
            if planned is None or not planned.cost.fits(privacy_filter.left):
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
        seen[tuple(rounds), policy.total - privacy_filter.spent.rho] += 1
    p = chi_square_p(seen, law)
    assert fits(p), false_failure(p)


# Whole runs.

WHOLE = Budget(rho=1.0)
COUNTS = np.array(sorted((int(4000 / rank**0.7) for rank in range(1, 400)), reverse=True))


def run(counts, users, entropy, budget=WHOLE, **settings):
    privacy_filter = PrivacyFilter(conditioned_total(budget))
    how = settings_for("pcr", **settings)
    made = vetted_release(
        counts[: how.k_bar + 1], 0, users, how, budget, entropy, privacy_filter=privacy_filter
    )
    return made, privacy_filter


def test_a_run_releases_accurate_counts_within_its_total():
    made, privacy_filter = run(COUNTS, 5000, SeededEntropy(1))
    assert privacy_filter.spent.fits(conditioned_total(WHOLE))
    assert privacy_filter.spent.rho > conditioned_total(WHOLE).rho * Fraction(98, 100)
    assert made.positions.size > 150
    assert np.unique(made.positions).size == made.positions.size
    true = COUNTS[made.positions]
    assert np.mean(np.abs(made.estimates - true) <= 0.1 * true) > 0.85
    assert np.mean(np.abs(made.noisy - true) <= 3 * made.sigmas) > 0.97
    # What is promised holds for the whole, and so the whole is what it costs.
    assert made.spent == Cost(Fraction(1), WHOLE.delta_selection)


def test_everything_that_is_drawn_is_charged(monkeypatch):
    """All noise, priced from its σ at a sensitivity of 1, and all nominations are the spend."""
    privacy_filter = PrivacyFilter(conditioned_total(WHOLE))
    entropy, picks = Recording(1, privacy_filter), []

    def nominated(gaps, epsilon, number, entropy):
        picks.append(number * Fraction(epsilon) ** 2 / 8)
        entropy.asked.append(("picks", number, epsilon, entropy.filter.spent))
        return nominate(gaps, epsilon, number, entropy)

    monkeypatch.setattr(vetting_module, "nominate", nominated)
    how = settings_for("pcr")
    made = vetted_release(COUNTS, 0, 5000, how, WHOLE, entropy, privacy_filter=privacy_filter)
    noise = sum(
        Fraction(number) / (2 * Fraction(sigma) ** 2)
        for kind, number, sigma, _ in entropy.asked
        if kind == "noise"
    )
    assert len(picks) == made.rounds_run > 10
    spent = privacy_filter.spent
    assert noise + sum(picks) <= spent.rho <= (noise + sum(picks)) * (1 + Fraction(1, 2**40))
    assert spent.delta == made.rounds_run * WHOLE.delta_selection / ROUNDS
    # And each step was reserved before it drew anything.
    drawn, prices = Fraction(0), {"noise": (-2, 2), "picks": (2, 8), "words": (1, 1)}
    for kind, number, scale, reserved in entropy.asked:
        power, part = prices[kind]
        drawn += number * Fraction(scale) ** power / part
        assert drawn <= reserved.rho


def test_what_is_missing_from_a_cut_histogram_has_the_count_of_the_floor():
    """Pads and ranks below the cut are as high as an item that was left out may be."""
    heard, users, floor = [], 5000, 49

    class Listening(SeededEntropy):
        def discrete_gaussian(self, values, sigma):
            heard.extend(values)
            return super().discrete_gaussian(values, sigma)

    how = settings_for("pcr")
    vetted_release(COUNTS[floor < COUNTS], floor, users, how, WHOLE, Listening(1))
    centred = [value for value in heard if value != users]
    assert len(heard) > len(centred) > 100
    assert min(centred) == 2 * floor - users


def test_a_run_by_itself_gets_what_the_lemma_leaves(monkeypatch):
    totals = []

    def kept(total):
        totals.append(total)
        return PrivacyFilter(total)

    monkeypatch.setattr(vetted_module, "PrivacyFilter", kept)
    vetted_release(COUNTS, 0, 5000, settings_for("pcr"), WHOLE, SeededEntropy(1))
    assert totals == [conditioned_total(WHOLE)]


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
    with pytest.raises(ValueError, match="fewer candidates"):
        look_at_more()


def look_at_more():
    from headcount.privacy.mechanisms.pcr.centred_look import centred_look

    privacy_filter = PrivacyFilter(conditioned_total(WHOLE))
    settings, entropy = Settings(k_bar=20), SeededEntropy(1)
    look = centred_look(COUNTS, 0, 1000, settings, WHOLE, privacy_filter, entropy)
    fewer = Settings(k_bar=10)
    vetted_release(COUNTS, 0, 1000, fewer, WHOLE, entropy, privacy_filter=privacy_filter, look=look)


@pytest.mark.parametrize("rho", [1e-9, 1e-7, 1e4, 1e12])
def test_any_budget_will_do(rho):
    made, _ = run(COUNTS, 5000, SeededEntropy(1), budget=Budget(rho=rho))
    assert (made.positions.size > 0) == (rho > 1)
