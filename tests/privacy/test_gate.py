"""The gate: nothing is asked or drawn that is not paid for, and everything is paid for in full."""

from fractions import Fraction

import numpy as np
import pytest

from headcount.errors import BudgetExceededError
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.sensitivity import EachByOne, Together, Weighted, pick_cost
from headcount.privacy.gate import Gate
from headcount.privacy.randomness import OsEntropy, SeededEntropy
from tests.privacy.scripted import ScriptedEntropy

ONE = Together(1)


class Silent:
    """An entropy from which nothing may be drawn."""

    private = False

    def words(self, count):
        raise AssertionError("words were drawn")

    def discrete_gaussian(self, values, sigma):
        raise AssertionError("noise was drawn")


def unasked():
    raise AssertionError("it was asked")


def refused(gate, ask):
    before = gate.left, dict(gate.spent_on)
    with pytest.raises(BudgetExceededError):
        ask()
    assert (gate.left, gate.spent_on) == before


def test_a_question_is_asked_once_it_is_paid_for_and_gets_noise():
    gate = Gate(Cost(Fraction(1), Fraction(1, 9)), SeededEntropy(1))

    def ask():
        assert gate.left == Cost(Fraction(1, 2), Fraction(1, 9) - Fraction(1, 10))
        return [5, 7]

    noisy = gate.noisy(ask, ONE, 1.0, "counting", delta=Fraction(1, 10))
    assert noisy.tolist() == SeededEntropy(1).discrete_gaussian([5, 7], 1.0)
    assert gate.spent == Cost(Fraction(1, 2), Fraction(1, 10))
    assert gate.spent_on == {"counting": gate.spent}


def test_what_does_not_fit_is_neither_asked_nor_drawn():
    gate = Gate(Cost(Fraction(1, 2), Fraction(1, 9)), Silent())
    gaps = np.array([3, 1])
    refused(gate, lambda: gate.noisy(unasked, Together(2), 1.0))
    refused(gate, lambda: gate.noisy(unasked, ONE, 1.0, delta=Fraction(1, 8)))
    refused(gate, lambda: gate.nominated(gaps, 3.0, 1))
    refused(gate, lambda: gate.picked(gaps, 3.0, 1.0, 1, lambda n: Cost(n * pick_cost(3.0))))
    refused(gate, lambda: gate.part(Cost(Fraction(1))))


def test_less_than_what_one_user_moves_is_refused():
    gate = Gate(Cost(Fraction(9), Fraction(1)), Silent())
    weighted = Weighted(np.array([2, 4]), 8)
    sigmas = np.array([1.0, 0.5])  # 8/(2·2·1) = 2, and 8/(2·4·¼) = 4
    assert weighted.cost(sigmas) == 4
    below = 4 - Fraction(1, 10**30)
    refused(gate, lambda: gate.noisy(unasked, weighted, sigmas, charge=below))


def test_what_is_answered_must_be_what_was_paid_for():
    """In number, and for picks also in what they turn out to cost."""
    for few in (EachByOne(1), Weighted(np.array([1]), 1)):
        gate = Gate(Cost(Fraction(9)), Silent())
        with pytest.raises(BudgetExceededError, match="more or fewer numbers"):
            gate.noisy(lambda: [1, 2, 3], few, 1.0)
    gate, cost = Gate(Cost(Fraction(9)), SeededEntropy(1)), pick_cost(1.0)
    with pytest.raises(BudgetExceededError, match="picks are charged less"):
        gate.picked(np.array([50, 60]), 1.0, 1.0, 9, lambda n: Cost(cost * (n == 9)))


def test_a_question_that_fails_stays_paid_for():
    gate = Gate(Cost(Fraction(1)), Silent())
    with pytest.raises(AssertionError):
        gate.noisy(unasked, ONE, 1.0)
    assert gate.spent == Cost(Fraction(1, 2))
    with pytest.raises(BudgetExceededError):
        gate.noisy(unasked, ONE, 10.0)


@pytest.mark.parametrize(
    ("sensitivity", "sigma", "cost"),
    [
        (Together(3), 2.0, Fraction(3, 8)),
        (Together(3), np.array([2.0, 1.0]), Fraction(3, 2)),
        (EachByOne(3), 2.0, Fraction(3, 8)),
        (EachByOne(3), np.array([2.0, 1.0, 1.0]), Fraction(9, 8)),
        (EachByOne(0), np.array([]), Fraction(0)),
        (Weighted(np.array([], dtype=np.int64), 8), np.array([]), Fraction(0)),
    ],
)
def test_costs_are_those_of_gaussian_noise(sensitivity, sigma, cost):
    assert sensitivity.cost(sigma) == cost


def test_picks_are_paid_for_as_far_as_they_are_made():
    """⊥ far ahead or far behind: one pick, or as many as are allowed."""
    gaps = np.array([50, 60])
    for log_ratio, most, picks, bottom in [(900.0, 9, 1, True), (1.0, 2, 2, False)]:
        gate = Gate(Cost(Fraction(9)), SeededEntropy(1))
        places, ended = gate.picked(gaps, 1.0, log_ratio, most, lambda n: Cost(Fraction(n, 8)))
        assert (places.size + ended, ended) == (picks, bottom)
        assert gate.spent.rho == Fraction(picks, 8)
    gate = Gate(Cost(Fraction(9)), SeededEntropy(1))
    assert gate.picked(gaps[:0], 1.0, 1.0, 3, lambda n: Cost(Fraction(n, 8)))[1]
    assert gate.spent.rho == Fraction(1, 8)
    gate.nominated(gaps, 1.0, 1)
    assert gate.spent.rho == Fraction(1, 8) + pick_cost(1.0)


def test_a_part_is_spent_at_once_and_has_its_own_account():
    gate = Gate(Cost(Fraction(1), Fraction(1, 9)), SeededEntropy(1))
    part = gate.part(Cost(Fraction(3, 4), Fraction(1, 9)))
    assert gate.left == Cost(Fraction(1, 4))
    part.noisy(lambda: [1], ONE, 1.0, "counting")
    assert (part.spent, gate.left) == (Cost(Fraction(1, 2)), Cost(Fraction(1, 4)))
    refused(part, lambda: part.noisy(unasked, ONE, 1.0))


def test_lots_are_free_and_all_different():
    gate = Gate(Cost(), ScriptedEntropy([5, 5, 7, 5]))
    assert gate.lots(2).tolist() == [7, 5]


@pytest.mark.parametrize("answer", [[0.5], np.array([0.5])], ids=["list", "array"])
def test_an_answer_is_in_whole_numbers(answer):
    """A fraction would be cut off, and who has it would move the answer by nothing."""
    with pytest.raises(TypeError):
        Gate(Cost(Fraction(1)), OsEntropy()).noisy(lambda: answer, ONE, 2.0)
