"""The privacy filter: asked before every step, never exceeded."""

from dataclasses import dataclass
from fractions import Fraction

from headcount.errors import BudgetExceededError


@dataclass(frozen=True)
class Cost:
    """What a step costs: ρ of zero-concentrated privacy and δ, both exact."""

    rho: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.rho.numerator < 0 or self.delta.numerator < 0:  # quicker than comparing fractions
            raise ValueError("a cost cannot be negative")

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.rho + other.rho, self.delta + other.delta)

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.rho - other.rho, self.delta - other.delta)

    def __mul__(self, times: int) -> "Cost":
        return Cost(self.rho * times, self.delta * times)

    def __repr__(self) -> str:
        # Decimals, for people: a charge of 0.1 is exactly 1/10, others may be fractions of 40
        # digits.
        return f"Cost(rho={float(self.rho):.12g}, delta={float(self.delta):.12g})"

    def fits(self, limit: "Cost") -> bool:
        """Whether both parts are within ``limit``."""
        return self.rho <= limit.rho and self.delta <= limit.delta


class PrivacyFilter:
    """Grants steps while the sum of their costs stays within a total, in exact arithmetic.

    Formal guarantee: an adaptive sequence of steps, each of them δₙ-approximate ρₙ-CDP for
    every prior outcome and each reserved here before it ran, is δ-approximate ρ-CDP for the
    total (ρ, δ) (Whitehouse, Ramdas, Rogers, Wu 2023; the paper's theorem on adaptive
    sequences). A step is *reserved* at the most it can cost, run, and then *settled* at what
    it turned out to cost, which may depend on its outcome: pay what you get.

    Edge cases: a total of zero grants nothing but free steps. A reservation that is never settled,
    because the step raised, stays spent.

    Attributes:
        spent_on: what settled steps cost, by purpose.
    """

    def __init__(self, total: Cost) -> None:
        self._total = total
        self._rest = total  # what settled steps have left
        self._reserved: Cost | None = None
        self._purpose = ""
        self.spent_on: dict[str, Cost] = {}

    @property
    def spent(self) -> Cost:
        """What was settled, plus what is reserved and not settled yet."""
        return self._total - self.left

    @property
    def left(self) -> Cost:
        """What may still be reserved."""
        return self._rest if self._reserved is None else self._rest - self._reserved

    def reserve(self, most: Cost, purpose: str = "") -> None:
        """Set aside the most that the next step can cost, or refuse the step.

        Args:
            most: the most that it can cost.
            purpose: what it is for, in words that are published with its cost.
        """
        if self._reserved is not None:
            raise BudgetExceededError("the previous step was not settled")
        if not most.fits(self.left):
            raise BudgetExceededError("a step asked the privacy filter for more than is left")
        self._reserved, self._purpose = most, purpose

    def settle(self, cost: Cost) -> None:
        """Record what the reserved step actually cost; the rest can be spent again."""
        if self._reserved is None or not cost.fits(self._reserved):
            raise BudgetExceededError("a step cost more than was reserved for it")
        self._rest, self._reserved = self._rest - cost, None
        self.spent_on[self._purpose] = self.spent_on.get(self._purpose, Cost()) + cost
