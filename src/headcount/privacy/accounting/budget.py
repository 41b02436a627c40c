"""What a data owner is ready to spend: a privacy budget."""

import copy
import math
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real

from headcount.errors import BudgetError
from headcount.privacy.accounting.conversion import epsilon_of, rho_of
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.rounding import float_below

DEFAULT_DELTA = 1e-6
#: Below this, shares of δ would lose precision in floating point.
SMALLEST_DELTA = 1e-300

#: Above this there is no noise: that of a count has a standard deviation below 1e-6. Numbers only
#: take longer to handle, without limit.
LARGEST_RHO = 1e12

# δ pays for two things: the chance that an item which only one person has comes out (selection),
# and the conversion of ρ to ε (conversion). A budget given as ρ keeps nearly all of δ for
# selection; one given as ε gains more from conversion. budget.md derives both.
SELECTION_SHARE_OF_RHO_BUDGET = Fraction(9, 10)
SELECTION_SHARE_OF_EPSILON_BUDGET = Fraction(1, 3)


@dataclass(frozen=True, init=False)
class Budget:
    """A privacy budget, from (ρ, δ) or from (ε, δ).

    Formal guarantee: whatever is run within this budget is ``delta_selection``-approximate
    ``rho``-CDP, hence ``delta``-approximate ``rho``-CDP, **and** (``epsilon``, ``delta``)-DP.
    Both statements hold with the same ``delta``, so no pairing of the numbers is wrong.

    Exactly one of ``rho`` and ``epsilon`` is given; the other is derived, tightly and
    rounded in the safe direction.
    """

    rho: float
    epsilon: float
    delta: float
    delta_selection: Fraction = field(repr=False)

    def __init__(
        self,
        *,
        rho: float | None = None,
        epsilon: float | None = None,
        delta: float = DEFAULT_DELTA,
    ) -> None:
        if rho is not None and epsilon is not None:
            raise BudgetError("give either rho or epsilon, not both: one follows from the other")
        delta = _number("delta", delta)
        if not 0 < delta < 1:
            raise BudgetError(f"delta must lie strictly between 0 and 1, got {delta:g}")
        if delta < SMALLEST_DELTA:
            raise BudgetError(f"delta must be at least {SMALLEST_DELTA:g}, got {delta:g}")
        if rho is not None:
            rho = _positive("rho", rho)
            selection = Fraction(delta) * SELECTION_SHARE_OF_RHO_BUDGET
            epsilon = epsilon_of(rho, delta, _float_of_selection(selection))
        elif epsilon is not None:
            epsilon = _positive("epsilon", epsilon)
            selection = Fraction(delta) * SELECTION_SHARE_OF_EPSILON_BUDGET
            rho = rho_of(epsilon, delta, _float_of_selection(selection))
        else:
            raise BudgetError(
                "give a privacy budget: rho or epsilon, such as --epsilon 1 (epsilon=1)"
            )
        if not (rho > 0 and math.isfinite(epsilon)):
            raise BudgetError("this budget is too extreme to be converted between rho and epsilon")
        if rho > LARGEST_RHO:
            raise BudgetError(
                f"this budget is too large: with rho above {LARGEST_RHO:g} there is no noise, and "
                "nothing is protected. A budget that protects people has an epsilon of about 1"
            )
        object.__setattr__(self, "rho", rho)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)
        object.__setattr__(self, "delta_selection", selection)

    @property
    def given(self) -> dict[str, float]:
        """The arguments that it was made with."""
        by_rho = self.delta_selection == Fraction(self.delta) * SELECTION_SHARE_OF_RHO_BUDGET
        stated = {"rho": self.rho} if by_rho else {"epsilon": self.epsilon}
        return {**stated, "delta": self.delta}

    def part(self, share: Fraction) -> "Budget":
        """Return a budget with a share of ρ, and all of δ.

        It is for one of several mechanisms that run in sequence, none of the others using δ: if
        their shares add up to 1, all of them together stay within this budget (budget.md).
        """
        if share == 1:
            return self
        made = copy.copy(self)
        rho = float_below(Fraction(self.rho) * share)
        if not rho > 0:
            raise BudgetError("this budget is too small to be divided")
        object.__setattr__(made, "rho", rho)
        selection = _float_of_selection(self.delta_selection)
        object.__setattr__(made, "epsilon", epsilon_of(rho, self.delta, selection))
        return made

    @property
    def rho_for_filter(self) -> Fraction:
        """ρ·(1 − δₛ): what the filter may spend so that the promise is ρ (pcr.md)."""
        return Fraction(self.rho) * (1 - self.delta_selection)

    @property
    def whole(self) -> Cost:
        """All of it: what the steps of a release and their conditioning may use up together."""
        return Cost(Fraction(self.rho), self.delta_selection)

    @property
    def for_filter(self) -> Cost:
        """All that the filter of a release may spend."""
        return Cost(self.rho_for_filter, self.delta_selection)


def _float_of_selection(selection: Fraction) -> float:
    # Rounding either way is covered by the safety margin of the conversion.
    return float(selection)


def _number(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BudgetError(f"{name} must be a number, got {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise BudgetError(f"{name} is too large") from None


def _positive(name: str, value: float) -> float:
    number = _number(name, value)
    if not (number > 0 and math.isfinite(number)):
        raise BudgetError(f"{name} must be a finite number above 0, got {number:g}")
    return number
