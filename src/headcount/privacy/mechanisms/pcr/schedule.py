"""The levels of a run and what each costs, fixed before any data is read."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from headcount.errors import BudgetError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.gaussian import measure_cost
from headcount.privacy.accounting.rounding import float_above, log_above, quotient_above
from headcount.privacy.mechanisms.pcr.settings import SIGMAS_WITHIN_TARGET, Charging, Settings


@dataclass(frozen=True)
class Level:
    """One value of ε: its race, its measurements, and their exact costs.

    Attributes:
        epsilon: ε of every pick in the level, a float taken as an exact rational.
        log_ratio: Λ, a float not below ln(k̄/δ*); ⊥ has the score T + c with T = 1 + Λ/ε.
        sigma: σ of the discrete Gaussian noise on the counts released in this level.
        opening: what the level costs by being run at all.
        pick: what one pick costs, be it an item or ⊥.
        measure: what the noisy count of one item costs.
        required: what must be left before a pick is made.
    """

    epsilon: float
    log_ratio: float
    sigma: float
    opening: Cost
    pick: Cost
    measure: Cost
    required: Cost

    @property
    def threshold(self) -> float:
        """T of the Unknown Domain Gumbel mechanism."""
        return 1 + self.log_ratio / self.epsilon

    def with_noise(self, factor: float) -> "Level":
        """Return the level with σ multiplied, and its costs accordingly."""
        if factor == 1:
            return self
        sigma = self.sigma * factor
        measure = Cost(measure_cost(sigma))
        return replace(self, sigma=sigma, measure=measure, required=self.pick + measure)

    def most_picks(self, left: Cost) -> int:
        """How many picks, each with its measurement, may be made with what is left."""
        left_rho, left_delta = left.rho - self.opening.rho, left.delta - self.opening.delta
        if left_rho < self.required.rho or left_delta < self.required.delta:
            return 0
        picks = (left_rho - self.required.rho) // (self.pick.rho + self.measure.rho) + 1
        if self.pick.delta:
            picks = min(picks, left_delta // self.pick.delta)
        return int(picks)

    def most(self, picks: int) -> Cost:
        """Return the most that this level can cost with so many picks."""
        return self.opening + (self.pick + self.measure) * picks

    def cost(self, picks: int, items: int) -> Cost:
        """Return what the level cost when ``items`` of its ``picks`` were items."""
        return self.opening + self.pick * picks + self.measure * items


def pick_cost(epsilon: float) -> Fraction:
    """ρ of one pick: ε-bounded range, hence ε²/8 (Durfee & Rogers 2019), rounded up."""
    numerator, denominator = epsilon.as_integer_ratio()
    return Fraction(quotient_above(numerator**2, 8 * denominator**2))


def number_of_levels(settings: Settings, budget: Budget) -> int:
    """L, the most levels that are run: a public formula, free of σ and of the data.

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
    """Yield the L levels in their order; the filter may end a run before them."""
    star = delta_star(settings, budget)
    if star > budget.delta_selection:
        raise BudgetError(
            f"delta is too small for this method: a single pick uses {float(star):g} of it"
        )
    log_ratio = log_above((k_bar or settings.k_bar) / star)
    paper = settings.charging is Charging.PAPER
    epsilon = settings.epsilon_star
    for _ in range(number_of_levels(settings, budget)):
        sigma = (settings.r / SIGMAS_WITHIN_TARGET) * (1 + log_ratio / epsilon)
        if paper:
            sigma = max(sigma, float_above(2 / Fraction(epsilon)))
        pick = Cost(pick_cost(epsilon), star if paper else Fraction(0))
        measure = Cost(measure_cost(sigma))
        yield Level(
            epsilon=epsilon,
            log_ratio=log_ratio,
            sigma=sigma,
            opening=Cost() if paper else Cost(delta=star),
            pick=pick,
            measure=measure,
            required=Cost(2 * pick.rho, star) if paper else pick + measure,
        )
        epsilon *= settings.growth
