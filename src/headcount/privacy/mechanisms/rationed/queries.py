"""The questions of a rationed release, each paid for before it is asked (rationed.md)."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.accounting.gaussian import ensure_covers, measure_cost, reach, sigma_for
from headcount.privacy.mechanisms.rationed.losses import Losers
from headcount.privacy.mechanisms.rationed.prices import NOT_CENTRED, Centring, Prices
from headcount.privacy.mechanisms.rationed.sizes import Floats, Sizes
from headcount.privacy.randomness import Entropy
from headcount.views.protocol import GRID, Integers, Population, Sensitivity

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

    def __init__(self, population: Population, entropy: Entropy, filter_: PrivacyFilter) -> None:
        self.population = population
        self.entropy = entropy
        self.filter = filter_

    def sizes(self, rho: Fraction) -> Sizes:
        """Ask how many users have how many items not found yet: each user is in one bin at most."""
        sigma = sigma_for(rho)
        cost = Cost(measure_cost(sigma))
        ensure_covers(cost.rho, sigma, Sensitivity.users_in_bins())
        self.filter.reserve(cost, SIZES)
        bins = _bins(self.population.sizes(Sizes.BOUNDS))
        noisy = self.entropy.discrete_gaussian(bins, sigma)
        self.filter.settle(cost)
        return Sizes(noisy, sigma)

    def discover(
        self, rho: Fraction, delta: Fraction, sizes: Sizes
    ) -> tuple[NDArray[np.float64], float]:
        """Find items whose noisy weight exceeds a threshold; return the weights and σ."""
        sigma = float(math.ceil(sigma_for(rho) * UNIT))
        cost = Cost(measure_cost(sigma, UNIT**2), delta)
        # At least 1, so that only items that somebody gave weight to are looked at.
        looked_at = max(1, math.floor(LOOKED_AT * Fraction(sigma)))
        bounds = thresholds(sigma, looked_at, delta)
        # A trade-off: users with many items add weight, and without them the threshold is lower.
        most_items = max(
            (most for most in Sizes.UPPERS if most <= MOST_ITEMS),
            key=lambda most: (sizes.weight_within(most) / bounds[most], most),
        )
        bound = bounds[most_items]
        ensure_covers(cost.rho, sigma, Sensitivity.weights(UNIT))
        self.filter.reserve(cost, FINDING)
        weights = self.population.weights(UNIT, most_items, looked_at)
        true = weights.values.tolist()
        noisy = np.array(self.entropy.discrete_gaussian(true, sigma), dtype=np.float64)
        places = np.flatnonzero(noisy > bound)
        # Ties are broken at random: the population's own order may depend on who has what.
        places = places[np.lexsort((self._lots(places.size), -noisy[places]))]
        self.population.found(weights, places.tolist())
        self.filter.settle(cost)
        return noisy[places] / UNIT, sigma / UNIT

    def _lots(self, number: int) -> NDArray[np.uint64]:
        """Return words that are all different, so that every order of them is equally likely."""
        while len(set((lots := self.entropy.words(number)).tolist())) < number:
            pass
        return lots

    def counts(
        self, sigmas: NDArray[np.float64], rho: Fraction, centring: Centring = NOT_CENTRED
    ) -> NDArray[np.float64]:
        """Count found items, each with noise of its own σ; an infinite σ leaves an item out."""
        cost, prices = Cost(rho), Prices.of(sigmas, rho, centring)
        # A shift of a costs a²/2(GRID·σ)², and shares keep Σ price·a² ≤ GRID²·RATION. So price·ρ
        # must cover a squared shift of GRID²·RATION.
        noises = [*zip(prices.whole.tolist(), sigmas.tolist(), strict=True)]
        for price, sigma in {*noises, (prices.users, centring.sigma)}:
            if math.isfinite(sigma):
                ensure_covers(price * cost.rho, GRID * sigma, Sensitivity.clipped_sums())
        self.filter.reserve(cost, COUNTING)
        sums = self.population.clipped_sums(prices.items, prices.base)
        users, unit = 0, centring.unit
        if centring.centre:
            (users,) = self.entropy.discrete_gaussian([sums.users], GRID * centring.sigma)
        centred = unit * sums.items - centring.centre * sums.users
        noisy = np.zeros(sigmas.size)
        for sigma in sorted(set(sigmas[np.isfinite(sigmas)].tolist())):
            places = np.flatnonzero(sigmas == sigma)
            values = centred[places].tolist()
            noisy[places] = self.entropy.discrete_gaussian(values, unit * GRID * sigma)
            noisy[places] += centring.centre * users
        self.filter.settle(cost)
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
        cost = Cost(measure_cost(sigma))
        ensure_covers(cost.rho, sigma, Sensitivity.users_in_bins())
        self.filter.reserve(cost, LOSING)
        lost = self.population.losers(prices.items, weights, Losers.BOUNDS, prices.base)
        noisy = self.entropy.discrete_gaussian(_bins(lost), sigma)
        self.filter.settle(cost)
        return Losers(np.array(noisy, dtype=np.float64), sigma, mass, most)

    def lost(
        self, prices: Prices, features: Sequence[Integers], most: Sequence[int], rho: Fraction
    ) -> tuple[Floats, float]:
        """Return how much of each feature is lost, each user clipped to ``most``, and σ."""
        squared = sum(each**2 for each in most)
        sigma = float(math.ceil(sigma_for(rho, squared)))
        cost = Cost(measure_cost(sigma, squared))
        ensure_covers(cost.rho, sigma, Sensitivity.lost(most))
        self.filter.reserve(cost, LOSING)
        sums = self.population.lost(prices.items, features, most, prices.base)
        noisy = self.entropy.discrete_gaussian(sums, sigma)
        self.filter.settle(cost)
        return np.array(noisy, dtype=np.float64), sigma


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
