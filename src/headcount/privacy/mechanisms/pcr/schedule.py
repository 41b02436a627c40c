"""The levels of a run and what each costs, fixed before any data is read."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from headcount.errors import BudgetError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.gaussian import measure_cost
from headcount.privacy.accounting.rounding import float_above, log_above
from headcount.privacy.accounting.sensitivity import pick_cost
from headcount.privacy.mechanisms.pcr.settings import SIGMAS_WITHIN_TARGET, Charging, Settings


@dataclass(frozen=True)
class Level:
    """One value of ε: its race, its measurements, and their exact costs.

    Attributes:
        epsilon: ε of every pick in the level, a float taken as an exact rational.
        log_ratio: Λ, a float not below ln(k̄/δ*); ⊥ has the score T + c with T = 1 + Λ/ε.
        sigma: σ of the discrete Gaussian noise on the counts released in this level.
        delta_star: δ*.
        charging: what is charged for.
    """

    epsilon: float
    log_ratio: float
    sigma: float
    delta_star: Fraction
    charging: Charging

    @property
    def threshold(self) -> float:
        """T of the Unknown Domain Gumbel mechanism."""
        return 1 + self.log_ratio / self.epsilon

    def with_noise(self, factor: float) -> "Level":
        """Return the level with σ multiplied, and its costs accordingly."""
        return self if factor == 1 else replace(self, sigma=self.sigma * factor)

    @cached_property
    def pick(self) -> Fraction:
        """ρ of one pick, be it an item or ⊥."""
        return pick_cost(self.epsilon)

    @cached_property
    def measure(self) -> Fraction:
        """ρ of the noisy count of one item."""
        return measure_cost(self.sigma)

    @cached_property
    def each(self) -> Fraction:
        """ρ of a pick with its measurement."""
        return self.pick + self.measure

    @property
    def required(self) -> Fraction:
        """ρ that must be left before a pick is made, at least that of `each`."""
        # The paper's σ is at least 2/ε, so that a measurement costs no more than a pick.
        return 2 * self.pick if self.charging is Charging.PAPER else self.each

    def delta(self, picks: int) -> Fraction:
        """δ of the level: δ* for being run at all or, as the paper charges, for every pick."""
        return self.delta_star * picks if self.charging is Charging.PAPER else self.delta_star

    def most_picks(self, left: Cost) -> int:
        """How many picks, each with its measurement, may be made with what is left."""
        if left.rho < self.required or left.delta < self.delta_star:
            return 0
        picks = (left.rho - self.required) // self.each + 1
        if self.charging is Charging.PAPER:
            picks = min(picks, left.delta // self.delta_star)
        return picks

    def picks(self, number: int) -> Cost:
        """Return what a number of picks cost, without measurements."""
        return Cost(self.pick * number, self.delta(number))


def number_of_levels(settings: Settings, budget: Budget) -> int:
    """L, the most levels that are run: a public formula, independent of σ and of the data.

    After the last of them a single pick would cost more than the whole of ρ.
    """
    largest = math.sqrt(8) * math.sqrt(budget.rho)
    span = math.log(largest / settings.epsilon_star) / math.log(settings.growth)
    return 1 + max(0, math.floor(span))


def delta_star(settings: Settings, budget: Budget) -> Fraction:
    """δ* of the settings, or the selection's δ divided evenly over the L levels."""
    if settings.delta_star is not None:
        return Fraction(settings.delta_star)
    return budget.delta_selection / number_of_levels(settings, budget)


def levels(settings: Settings, budget: Budget, k_bar: int | None = None) -> Iterator[Level]:
    """Yield the L levels in order; the filter may end a run before the last."""
    star = delta_star(settings, budget)
    if star > budget.delta_selection:
        raise BudgetError(
            f"delta is too small for this method: a single pick uses {float(star):g} of it"
        )
    log_ratio = log_above((k_bar or settings.k_bar) / star)
    epsilon = settings.epsilon_star
    for _ in range(number_of_levels(settings, budget)):
        sigma = (settings.r / SIGMAS_WITHIN_TARGET) * (1 + log_ratio / epsilon)
        if settings.charging is Charging.PAPER:
            sigma = max(sigma, float_above(2 / Fraction(epsilon)))
        yield Level(epsilon, log_ratio, sigma, star, settings.charging)
        epsilon *= settings.growth
