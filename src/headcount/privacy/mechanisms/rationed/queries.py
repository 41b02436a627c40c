"""The questions of a rationed release, each paid for before it is asked (rationed.md)."""

import math
from fractions import Fraction
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.gaussian import reach, sigma_for
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.rationed.losses import Losers
from headcount.privacy.mechanisms.rationed.prices import NOT_CENTRED, Centring, Prices
from headcount.privacy.mechanisms.rationed.sizes import Sizes
from headcount.privacy.questions import (
    GRID,
    USERS_IN_BINS,
    Integers,
    Population,
    clipped_sums,
    weights_norm,
)

#: The unit of weights in discovery; a user's weights have at most this norm.
UNIT = 2**14
#: Users with more items than this take no part in a round of discovery.
MOST_ITEMS = 2**12 - 1
#: Weights below this many σ are not looked at, and the threshold is higher by as much.
LOOKED_AT = Fraction(1, 4)

# What each question is for: the labels under which a release lists what its budget was spent on.
SIZES = "looking at how many items users have"
FINDING = "finding items"
COUNTING = "counting the users of items"
LOSING = "measuring the loss from users with many items"


class PaidQueries:
    """Questions to the population, each paid for before it is asked."""

    def __init__(self, population: Population, gate: Gate) -> None:
        self.population = population
        self.gate = gate

    def sizes(self, rho: Fraction) -> Sizes:
        """Ask how many users have how many items not found yet: each user is in one bin at most."""
        sigma = sigma_for(rho)
        noisy = self.gate.noisy(
            lambda: _bins(self.population.sizes(Sizes.BOUNDS)), USERS_IN_BINS, sigma, SIZES
        )
        return Sizes(noisy.tolist(), sigma)

    def discover(
        self, rho: Fraction, delta: Fraction, sizes: Sizes
    ) -> tuple[NDArray[np.float64], float]:
        """Find items whose noisy weight exceeds a threshold; return the weights and σ."""
        sigma = float(math.ceil(sigma_for(rho) * UNIT))
        # At least 1, so that only items that somebody gave weight to are looked at.
        looked_at = max(1, math.floor(LOOKED_AT * Fraction(sigma)))
        bounds = thresholds(sigma, looked_at, delta)
        # A trade-off: users with many items add weight, and without them the threshold is lower.
        most_items = max(
            (most for most in Sizes.UPPERS if most <= MOST_ITEMS),
            key=lambda most: (sizes.weight_within(most) / bounds[most], most),
        )
        weights = cache(lambda: self.population.weights(UNIT, most_items, looked_at))
        noisy = self.gate.noisy(
            lambda: weights().values, weights_norm(UNIT), sigma, FINDING, delta=delta
        )
        places = np.flatnonzero(noisy > bounds[most_items])
        # Ties are broken at random: the population's own order may depend on who has what.
        places = places[np.lexsort((self.gate.lots(places.size), -noisy[places]))]
        self.population.found(weights(), places.tolist())
        return noisy[places] / UNIT, sigma / UNIT

    def counts(
        self, sigmas: NDArray[np.float64], rho: Fraction, centring: Centring = NOT_CENTRED
    ) -> NDArray[np.float64]:
        """Count found items, each with noise of its own σ; an infinite σ leaves an item out."""
        prices = Prices.of(sigmas, rho, centring)
        kept, centre, unit = np.isfinite(sigmas), centring.centre, centring.unit
        scales, weights = unit * GRID * sigmas[kept], prices.whole[kept]
        if centre:
            scales = np.append(scales, GRID * centring.sigma)
            weights = np.append(weights, unit**2 * prices.users)

        def ask() -> Integers:
            sums = self.population.clipped_sums(prices.items, prices.base)
            centred = (unit * sums.items - centre * sums.users)[kept]
            return np.append(centred, sums.users) if centre else centred

        drawn = self.gate.noisy(
            ask, clipped_sums(weights, unit), scales, COUNTING, charge=rho
        ).astype(np.float64)
        noisy = np.zeros(sigmas.size)
        noisy[kept] = drawn[:-1] + centre * drawn[-1] if centre else drawn
        return noisy / (unit * GRID)

    def losers(
        self, prices: Prices, weights: Integers, mass: float, most: float, rho: Fraction
    ) -> Losers:
        """Ask how many users lose how much at these prices: each user is in one bin at most.

        Args:
            prices: what part of a ration each item costs.
            weights: how much losing each item counts for.
            mass: what all users together would lose if they lost everything.
            most: what a user with every item loses.
            rho: what to spend.
        """
        sigma = sigma_for(rho)

        def ask() -> list[int]:
            lost = self.population.losers(prices.items, weights, Losers.BOUNDS, prices.base)
            return _bins(lost)

        noisy = self.gate.noisy(ask, USERS_IN_BINS, sigma, LOSING)
        return Losers(noisy.astype(np.float64), sigma, mass, most)


def _bins(at_least: list[int]) -> list[int]:
    """Return how many users are between each bound and the next."""
    return [a - b for a, b in zip(at_least, [*at_least[1:], 0], strict=True)]


def thresholds(sigma: float, looked_at: int, delta: Fraction) -> dict[int, int]:
    """T, which a noisy weight must exceed, such that δ covers the items that one user brings.

    There is one T for each M up to ``MOST_ITEMS``. A user brings t ≤ M items and gives each a
    weight of ⌊√(UNIT² // t)⌋; all others together give it less than ``looked_at`` (rationed.md).
    """
    brings, chance = range(1, MOST_ITEMS + 1), float(delta)  # thousands of fractions are slow
    each = (math.isqrt(UNIT**2 // t) + reach(sigma, chance / t) for t in brings)
    return {t: looked_at + 1 + most for t, most in zip(brings, accumulate(each, max), strict=True)}
