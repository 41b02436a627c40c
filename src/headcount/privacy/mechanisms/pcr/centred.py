"""Counts centred on half the number of users, at a quarter of the price.

One more user raises the number of users N by exactly 1 and each count h by 0 or by 1, so that
2h − N moves by exactly 1, up or down, whatever the user has (vetting.md, "Centred measurement").
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.accounting.gaussian import measure_cost
from headcount.privacy.randomness import Entropy


def centred_cost(sigma: float, number: int = 1) -> Fraction:
    """ρ of a number of centred counts with a standard error of σ each: number/(8σ²), rounded up."""
    return measure_cost(2 * sigma, number)


def centred(
    counts: Sequence[int] | NDArray[np.int64], users: int, sigma: float, entropy: Entropy
) -> NDArray[np.int64]:
    """Return 2h − N for each count, each with noise of 2σ of its own.

    Formal guarantee: costs `centred_cost` of that many, if a user moves each count by 0 or by 1 and
    the number of users by exactly 1. The caller has reserved that.
    """
    doubled = [2 * int(count) - users for count in counts]
    return np.array(entropy.discrete_gaussian(doubled, 2 * sigma), dtype=np.int64)


class UserCount:
    """What is known about the number of users: noisy answers, combined. All of it is paid for.

    Attributes:
        estimate: the number of users.
        precision: 1 over its variance.
    """

    def __init__(self, users: int, entropy: Entropy, privacy_filter: PrivacyFilter) -> None:
        self._users = users
        self._entropy = entropy
        self._filter = privacy_filter
        self.estimate = 0.0
        self.precision = 0.0

    def measure(self, sigma: float) -> None:
        """Ask once more, with noise of σ, and combine the answer with what is known already.

        Formal guarantee: costs 1/(2σ²), reserved here.
        """
        cost = Cost(measure_cost(sigma))
        self._filter.reserve(cost, "counting all users")
        (noisy,) = self._entropy.discrete_gaussian([self._users], sigma)
        self._filter.settle(cost)
        precision = self.precision + sigma**-2
        self.estimate += (noisy - self.estimate) * sigma**-2 / precision
        self.precision = precision

    @property
    def halved_variance(self) -> float:
        """The variance that half the number of users adds to each centred count."""
        return 1 / (4 * self.precision)
