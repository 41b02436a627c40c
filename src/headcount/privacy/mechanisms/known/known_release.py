"""Counts of the items of a public list: one noise scale for all of them, and nothing to find.

`known.md`, next to this file, proves what `known_release` claims.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.gaussian import sigma_for
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.rationed.queries import PaidQueries
from headcount.privacy.mechanisms.rationed.sizes import Sizes
from headcount.privacy.questions import Population

#: The share of ρ for how many items users have. At 5 %, the noise of counts is 2.6 % larger.
SIZES_SHARE = Fraction(5, 100)
#: By how many σ the users of a bin must stand out to be seen. With 30 items noise alone does so in
#: one of 4,000 runs, and the noise of counts is then larger than it need be.
SEEN = 4.0
#: How many bins beyond the last one seen are taken to have as many users as noise may hide: where
#: some users have many items, a few have more.
NEAR = 3
# Costs are whole parts of a ration. With σ larger by this factor, a million still fit into one.
_ROUNDING = 1 + 1e-6


@dataclass(frozen=True)
class KnownCounts:
    """The transcript of a run. All of it may be published.

    Attributes:
        noisy: the counts of the listed items, in the order of the list.
        sigma: σ of their noise.
        bound: how many items of a user count in full.
        low: by how many users a count may be too low because some have more, as far as is seen.
        hidden: how many users beyond the bound may be hidden by noise; 0 if it was given.
        spent: what the filter recorded.
        spent_on: the same, by purpose.
    """

    noisy: NDArray[np.float64]
    sigma: float
    bound: int
    low: float
    hidden: int
    spent: Cost
    spent_on: dict[str, Cost]

    @property
    def errors(self) -> NDArray[np.float64]:
        """The standard errors of the counts, from noise and from what may be missing."""
        return np.full(self.noisy.size, math.hypot(self.sigma, self.low))


def known_release(
    population: Population,
    items: int,
    gate: Gate,
    bound: int | None = None,
    most: int | None = None,
) -> KnownCounts:
    """Count the given number of items, all of them found, in a population that has no others.

    Formal guarantee: the whole result is ρ-zCDP for the ρ that the gate has left, with respect to
    adding or removing one user, with no δ (known.md).

    Args:
        population: who has which of the items.
        items: how many there are.
        gate: answers with noise; all that it has left is used.
        bound: how many items of a user are to count in full; chosen if not given.
        most: how many of the items one user can have, if that follows from the list. Privacy does
            not rest on it.
    """
    asking, rho = PaidQueries(population, gate), gate.left.rho
    most = items if most is None else most
    low, hidden = 0.0, 0
    if bound is None and most > 1:
        sizes = asking.sizes(SIZES_SHARE * rho)
        users, noise = seen_users(sizes.noisy, sizes.sigma, most)
        bound, low = chosen_bound(users, most, gate.left.rho)
        # In all bins beyond the bound together.
        beyond = sum(1 for upper in Sizes.UPPERS[: users.size] if upper > bound)
        hidden = math.ceil(SEEN * noise * math.sqrt(beyond)) if bound < most else 0
    bound = min(bound or 1, most)
    rest = gate.left.rho
    sigma = sigma_for(rest, bound) * _ROUNDING
    noisy = asking.counts(np.full(items, sigma), rest)
    return KnownCounts(noisy, sigma, bound, low, hidden, gate.spent, gate.spent_on)


def seen_users(
    noisy: NDArray[np.float64], sigma: float, items: int
) -> tuple[NDArray[np.float64], float]:
    """Return the users in each bin of `Sizes` that such a list can fill, and σ of each."""
    bins = sum(1 for least in Sizes.BOUNDS if least <= items)
    users = np.where(noisy[:bins] >= SEEN * sigma, noisy[:bins], 0.0)
    # Many bins may have a few users each, so that only their sum stands out.
    rest = noisy[1:bins]
    if rest.sum() >= SEEN * sigma * math.sqrt(max(bins - 1, 1)):
        users[1:] = np.maximum(rest, 0.0)
    last = int(np.flatnonzero(users)[-1]) if users.any() else 0
    if last > 0:  # somebody has several
        near = slice(last + 1, last + 1 + NEAR)
        users[near] = np.maximum(noisy[:bins][near], 0.0) + sigma
    return users, sigma


def chosen_bound(users: NDArray[np.float64], items: int, rho: Fraction) -> tuple[int, float]:
    """Return how many items are to count in full, and by how much a count may then be too low.

    A user with k items, more than the bound b, counts for √(b/k) in each. An item that all of these
    users have is too low by the sum of what they lose, and no item by more. The bound minimises the
    sum of the squares of that and of σ.
    """
    uppers = [min(upper, items) for upper in Sizes.UPPERS[: users.size]]
    most = np.array(uppers, dtype=np.float64)

    def low(bound: int) -> float:
        return float(users @ (1 - np.sqrt(np.minimum(bound / most, 1.0))))

    bounds = sorted({1, *uppers})
    best = min(bounds, key=lambda bound: bound / (2 * float(rho)) + low(bound) ** 2)
    return best, low(best)
