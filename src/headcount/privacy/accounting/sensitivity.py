"""How far one user can move an answer, and what the answer then costs.

With noise of σⱼ on its j-th number, an answer that one user moves by sⱼ costs Σ sⱼ²/(2σⱼ²) of zCDP
(Canonne, Kamath, Steinke 2020). A pick of the exponential mechanism costs ε²/8.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.gaussian import measure_cost
from headcount.privacy.accounting.rounding import quotient_above

Floats = NDArray[np.float64]


class Sensitivity(Protocol):
    """A bound on how far one user can move the numbers of an answer."""

    @property
    def number(self) -> int | None:
        """How many numbers it is about; None if the bound holds for any number of them."""

    def cost(self, sigma: float | Floats) -> Fraction:
        """Return ρ of the answer with noise of σ, or of a σ for each number, rounded up."""


@dataclass(frozen=True)
class Together:
    """The squares of how far the numbers move add up to at most ``squared``."""

    squared: int
    number: int | None = None

    def cost(self, sigma: float | Floats) -> Fraction:
        """Return ρ: ``squared``/(2σ²) for the smallest σ."""
        return measure_cost(float(np.min(sigma)), self.squared)


@dataclass(frozen=True)
class EachByOne:
    """Every number moves by at most 1, and all of them may."""

    number: int

    def cost(self, sigma: float | Floats) -> Fraction:
        """Return ρ: the sum of 1/(2σ²) over all numbers."""
        if not isinstance(sigma, np.ndarray):
            return self.number * measure_cost(sigma)
        if sigma.size != self.number:
            raise ValueError("there must be one σ, or one for each number")
        scales, numbers = np.unique(sigma, return_counts=True)
        each = zip(scales.tolist(), numbers.tolist(), strict=True)
        return sum((number * measure_cost(scale) for scale, number in each), Fraction(0))


@dataclass(frozen=True)
class Weighted:
    """The squares of how far the numbers move, each times its weight, add up to ``squared``."""

    weights: NDArray[np.int64]
    squared: int

    @property
    def number(self) -> int:
        """How many numbers it is about."""
        return int(self.weights.size)

    def cost(self, sigma: float | Floats) -> Fraction:
        """Return ρ: the largest of ``squared``/(2·weight·σ²), exactly."""
        scales = np.broadcast_to(sigma, self.weights.shape)
        products = self.weights * np.square(scales)
        # Floats find where it is the largest, or nearly.
        near = np.flatnonzero(products <= products.min(initial=np.inf) * (1 + 2.0**-40))
        pairs = zip(self.weights[near].tolist(), scales[near].tolist(), strict=True)
        least = min((weight * Fraction(scale) ** 2 for weight, scale in pairs), default=None)
        return Fraction(0) if least is None else self.squared / (2 * least)


def pick_cost(epsilon: float) -> Fraction:
    """ρ of one pick: ε-bounded range, hence ε²/8 (Durfee & Rogers 2019), rounded up."""
    numerator, denominator = epsilon.as_integer_ratio()
    return Fraction(quotient_above(numerator**2, 8 * denominator**2))
