"""Counts centred on half the number of users, at a quarter of the price.

One more user raises the number of users N by exactly 1 and each count h by 0 or by 1, so that
2h − N moves by exactly 1, up or down, whatever the user has (vetting.md, "Centred measurement").
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.sensitivity import EachByOne
from headcount.privacy.gate import Gate
from headcount.privacy.questions import ONE_USER

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def centred_cost(sigma: float, number: int = 1) -> Fraction:
    """ρ of a number of centred counts with a standard error of σ each: number/(8σ²), rounded up."""
    return EachByOne(number).cost(2 * sigma)


def centred(
    counts: Sequence[int] | Integers,
    users: int,
    sigma: float | Floats,
    gate: Gate,
    purpose: str,
    delta: Fraction = Fraction(0),
) -> Integers:
    """Return 2h − N for each count, each with noise of 2σ of its own.

    Formal guarantee: costs 1/(8σ²) for each count, if a user moves it by 0 or by 1 and the number
    of users by exactly 1.
    """
    doubled = 2 * np.asarray(counts, dtype=np.int64) - users
    moved = EachByOne(doubled.size)
    return gate.noisy(lambda: doubled, moved, 2 * sigma, purpose, delta=delta)


class UserCount:
    """What is known about the number of users: noisy answers, combined. All of it is paid for.

    Attributes:
        estimate: the number of users.
        precision: 1 over its variance.
    """

    def __init__(self, users: int, gate: Gate) -> None:
        self._users = users
        self._gate = gate
        self.estimate = 0.0
        self.precision = 0.0

    def measure(self, sigma: float) -> None:
        """Ask once more, with noise of σ, and combine the answer with what is known already.

        Formal guarantee: costs 1/(2σ²).
        """
        (noisy,) = self._gate.noisy(
            lambda: [self._users], ONE_USER, sigma, "counting all users"
        ).tolist()
        precision = self.precision + sigma**-2
        self.estimate += (noisy - self.estimate) * sigma**-2 / precision
        self.precision = precision

    @property
    def halved_variance(self) -> float:
        """The variance that half the number of users adds to each centred count."""
        return 1 / (4 * self.precision)
