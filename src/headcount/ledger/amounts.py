"""Exact amounts: what a budget is charged as, and what a total allows (ledger.md)."""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from headcount.errors import BudgetError
from headcount.privacy.accounting.budget import SELECTION_SHARE_OF_RHO_BUDGET, Budget
from headcount.privacy.accounting.conversion import epsilon_of
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.rounding import float_above, float_below

# A float such as 0.1 differs from the number that was typed by 2^-53 of it. Amounts are taken as
# they were typed, so that ten tenths fit into one. δ is counted with this much on top, in charges
# and in totals alike, so that a charge is never below what the filter may spend.
_MARGIN = 1 + Fraction(1, 2**50)


def as_typed(number: float) -> Fraction:
    """Return the shortest decimal that a float stands for, exactly."""
    return Fraction(repr(float(number)))


@dataclass(frozen=True)
class Total:
    """What all releases of a dataset together may cost.

    Formal guarantee: everything that is charged within ``limit`` is together
    ``limit.delta``-approximate ``limit.rho``-CDP and (``epsilon``, ``delta``)-DP (ledger.md).

    Attributes:
        delta: δ of both statements.
        limit: ρ, and the part of δ that selecting items may use.
    """

    delta: Fraction
    limit: Cost

    def __repr__(self) -> str:
        return f"Total(delta={float(self.delta):.12g}, limit={self.limit!r})"

    @classmethod
    def of(cls, budget: Budget) -> "Total":
        """Return the total that a budget stands for."""
        return cls(as_typed(budget.delta), Cost(as_typed(budget.rho), _selection(budget)))

    def raised(self, rho: float, delta: float) -> "Total":
        """Return this total raised by ρ and δ, with the same share of δ for selection."""
        more = as_typed(delta)
        raised = Total(
            self.delta + more,
            self.limit + Cost(as_typed(rho), self.selection(more)),
        )
        if raised.delta >= 1:
            raise BudgetError("delta of the total must stay below 1")
        return raised

    def as_given(self, cost: Cost) -> Cost:
        """Return a cost with δ on the scale in which totals are given, for people to read."""
        return Cost(cost.rho, cost.delta * self.delta / self.limit.delta)

    def selection(self, delta: Fraction) -> Fraction:
        """Return the part of an amount of this total's δ that selecting items may use."""
        return delta * self.limit.delta / self.delta

    def epsilon(self, cost: Cost) -> float:
        """Return ε of the (ε, δ)-DP that a cost amounts to, at the δ of this total."""
        if not cost.rho:
            return 0.0
        return epsilon_of(float_above(cost.rho), float_below(self.delta), float_above(cost.delta))


def charge_of(budget: Budget) -> Cost:
    """Return the most that a release with this budget can cost.

    Formal guarantee: not below what its privacy filter may spend.
    """
    return Cost(max(as_typed(budget.rho), budget.rho_for_filter), _selection(budget))


def _selection(budget: Budget) -> Fraction:
    return as_typed(budget.delta) * _share(budget) * _MARGIN


def _share(budget: Budget) -> Fraction:
    return budget.delta_selection / Fraction(budget.delta)


def was_given_as_rho(budget: Budget) -> bool:
    """Whether a budget was made from ρ rather than ε."""
    return _share(budget) == SELECTION_SHARE_OF_RHO_BUDGET


def minus(cost: Cost, other: Cost) -> Cost:
    """Return what another cost leaves of a cost, never less than nothing."""
    return Cost(max(cost.rho - other.rho, Fraction(0)), max(cost.delta - other.delta, Fraction(0)))


def what_fits(budget: Budget, left: Cost) -> Budget | None:
    """Return a budget of the same kind that fits into what is left, if there is any.

    It has the δ that was asked for if that fits, and few digits.
    """
    share = _share(budget)
    fits = left.delta / share / _MARGIN
    delta = budget.delta if as_typed(budget.delta) <= fits else _few_digits(fits)
    rho = min(left.rho, as_typed(budget.rho))
    if not (rho and delta):
        return None
    # Going to ε and back rounds twice: a little less than what is left may be all that fits.
    for some in (rho, rho * (1 - Fraction(1, 2**40))):
        try:
            if was_given_as_rho(budget):
                fitting = Budget(rho=_few_digits(some), delta=delta)
            else:
                epsilon = epsilon_of(float_below(some), delta, float(share * Fraction(delta)))
                fitting = Budget(epsilon=_few_digits(Fraction(epsilon)), delta=delta)
        except BudgetError:
            return None  # next to nothing is left
        if charge_of(fitting).fits(left):
            return fitting
    return None


def _few_digits(value: Fraction) -> float:
    """Return the largest number with four digits that is not above a value."""
    with localcontext() as context:
        context.prec, context.rounding = 4, ROUND_FLOOR
        return float(Decimal(value.numerator) / Decimal(value.denominator))
