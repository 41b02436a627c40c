"""The gate: noise is drawn here and nowhere else, and only for what has been charged.

A mechanism hands over a question with its sensitivity, how noisy the answer is to be, and what for.
The gate works out what that costs, asks the filter, asks the question, and returns the answer with
noise. Mechanisms never see a source of randomness, so they cannot draw noise that was not paid for.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.errors import BudgetExceededError
from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.accounting.sensitivity import Sensitivity, pick_cost
from headcount.privacy.randomness import Entropy
from headcount.privacy.sampling.clocks import before_bottom, first_to_ring
from headcount.privacy.sampling.uniform import uniform_below

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Gate:
    """Answers questions with noise, within a total that no sequence of questions exceeds.

    Formal guarantee: if every question has the sensitivity that is stated with it, whatever was
    answered before, then all answers together are δ-approximate ρ-CDP for the total (ρ, δ), and
    `spent` bounds what they cost (`PrivacyFilter`).

    Edge cases: what was charged for a question that failed stays spent.
    """

    def __init__(self, total: Cost, entropy: Entropy) -> None:
        self._filter = PrivacyFilter(total)
        self._entropy = entropy

    @property
    def left(self) -> Cost:
        """What may still be spent."""
        return self._filter.left

    @property
    def spent(self) -> Cost:
        """What was spent."""
        return self._filter.spent

    @property
    def spent_on(self) -> dict[str, Cost]:
        """What was spent, by purpose."""
        return self._filter.spent_on

    def part(self, total: Cost) -> "Gate":
        """Return a gate for a part of what is left here, all of which is spent here at once."""
        self._filter.reserve(total)
        self._filter.settle(total)
        return Gate(total, self._entropy)

    def noisy(
        self,
        ask: Callable[[], Sequence[int] | Integers],
        sensitivity: Sensitivity,
        sigma: float | Floats,
        purpose: str = "",
        *,
        delta: Fraction = Fraction(0),
        charge: Fraction | None = None,
    ) -> Integers:
        """Return the whole numbers of an answer, each with discrete Gaussian noise of its own.

        Args:
            ask: the question; it is asked once it is paid for.
            sensitivity: how far one user can move the answer.
            sigma: σ of the noise, one for all numbers or an array with one for each.
            purpose: what it is for, in words that are published with its cost.
            delta: the chance that an item which only one user has is published by what the
                mechanism does with the answer.
            charge: ρ that is charged; by default, and at least, what the sensitivity and σ require.
        """
        required = sensitivity.cost(sigma)
        rho = required if charge is None else charge
        if rho < required:
            raise BudgetExceededError("a step is charged less than what one user can move costs")
        cost = Cost(rho, delta)
        self._filter.reserve(cost, purpose)
        answer = ask()
        true = answer.tolist() if isinstance(answer, np.ndarray) else list(answer)
        if sensitivity.number not in (None, len(true)):
            raise BudgetExceededError("an answer has more or fewer numbers than were paid for")
        noisy = self._entropy.discrete_gaussian(true, sigma)  # refuses what is not whole
        self._filter.settle(cost)
        return np.array(noisy, dtype=np.int64)

    def picked(
        self,
        gaps: Integers,
        epsilon: float,
        log_ratio: float,
        most: int,
        cost: Callable[[int], Cost],
    ) -> tuple[Integers, bool]:
        """Pick candidates by the exponential mechanism until ⊥ is picked; pay for what is picked.

        Formal guarantee: the outcome has the law of up to ``most`` picks, one after the other, each
        P(i) ∝ exp(ε·gap − Λ) among the candidates left, and P(⊥) ∝ 1. Each pick, that of ⊥
        included, costs ε²/8 if a user moves all gaps, and the score of ⊥, by 0 or by 1 in the same
        direction (race.md).

        Edge cases: if all ``most`` picks are candidates, nothing depends on what comes next, and
        ⊥ is not said to have been picked. With no candidates, ⊥ is picked.

        Args:
            gaps: how far each candidate's count is above a number that all are compared with.
            epsilon: ε of every pick.
            log_ratio: Λ, by how much ⊥ is heavier than a candidate whose gap is 0.
            most: how many picks are made at most, at least 1.
            cost: what a number of picks costs.

        Returns:
            The places of the candidates in the order in which they were picked, and whether ⊥ was
            picked after them.
        """
        each = pick_cost(epsilon)
        self._filter.reserve(cost(most))
        places = before_bottom(gaps, epsilon, log_ratio, self._entropy)[:most]
        picks = min(places.size + 1, most)
        if cost(picks).rho < picks * each:
            raise BudgetExceededError("picks are charged less than what one user can move costs")
        self._filter.settle(cost(picks))
        return places, places.size < most

    def nominated(self, gaps: Integers, epsilon: float, number: int, purpose: str = "") -> Integers:
        """Pick a number of candidates by the exponential mechanism; return them in a random order.

        Formal guarantee: the set has the law of ``number`` picks, one after the other, with
        P(i) ∝ exp(ε·gap) among those left, so that it costs ``number`` times ε²/8 if a user moves
        gaps by 0 or by 1, all in the same direction. The order depends on nothing at all.

        Edge cases: if there are no more candidates than are asked for, all are picked.
        """
        cost = Cost(number * pick_cost(epsilon))
        self._filter.reserve(cost, purpose)
        places = first_to_ring(gaps, epsilon, number, self._entropy)
        self._filter.settle(cost)
        for last in range(places.size - 1, 0, -1):  # Fisher–Yates
            other = uniform_below(last + 1, self._entropy)
            places[last], places[other] = places[other], places[last]
        return places

    def lots(self, number: int) -> NDArray[np.uint64]:
        """Return words that are all different, every order of them equally likely; they are free.

        Nothing about the data is in them.
        """
        while len(set((lots := self._entropy.words(number)).tolist())) < number:
            pass
        return lots
