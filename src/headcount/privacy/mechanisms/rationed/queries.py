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
from headcount.privacy.mechanisms.rationed.sizes import Floats, Sizes
from headcount.privacy.randomness import Entropy
from headcount.views.protocol import GRID, RATION, Integers, Population, Sensitivity

#: The unit of weights in discovery; a user's weights have at most this norm.
UNIT = 2**14
#: Users with more items than this take no part in a round of discovery.
MOST_ITEMS = 2**12 - 1
#: Weights below this many σ are not looked at, and the threshold is higher by as much.
LOOKED_AT = Fraction(1, 4)

# What questions are for, as a release says that shows what its budget was spent on.
SIZES = "looking at how many items users have"
FINDING = "finding items"
COUNTING = "counting the users of items"
LOSING = "asking what users with many items lose"


class PaidQueries:
    """Questions to the population, each paid for before it is asked."""

    def __init__(self, population: Population, entropy: Entropy, filter_: PrivacyFilter) -> None:
        self.population = population
        self.entropy = entropy
        self.filter = filter_

    def sizes(self, rho: Fraction) -> Sizes:
        """How many users have how many items that are not found: each user is in one bin."""
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
        # At least 1, so that an item looked at is one that somebody gave weight to.
        looked_at = max(1, math.floor(LOOKED_AT * Fraction(sigma)))
        bounds = thresholds(sigma, looked_at, delta)
        # The weights of users with many items, or a lower threshold without them.
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
        # Ties fall by lot: the population's own order may depend on who has what.
        places = places[np.lexsort((self._lots(places.size), -noisy[places]))]
        self.population.found(weights, places.tolist())
        self.filter.settle(cost)
        return noisy[places] / UNIT, sigma / UNIT

    def _lots(self, number: int) -> NDArray[np.uint64]:
        """Words that are all different, so that every order of them is equally likely."""
        while len(set((lots := self.entropy.words(number)).tolist())) < number:
            pass
        return lots

    def counts(self, sigmas: NDArray[np.float64], rho: Fraction) -> NDArray[np.float64]:
        """Count found items with noise of their own σ; infinite σ leaves an item out."""
        cost, costs = Cost(rho), costs_of(sigmas, rho)
        # A move a of an item costs a²/2(GRID·σ)²: with noise of √cost·GRID·σ on √cost·a, the same.
        for price, sigma in {*zip(costs.tolist(), sigmas.tolist(), strict=True)}:
            if math.isfinite(sigma):
                ensure_covers(price * cost.rho, GRID * sigma, Sensitivity.clipped_sums())
        self.filter.reserve(cost, COUNTING)
        sums = self.population.clipped_sums(costs)
        noisy = np.zeros(sigmas.size)
        for sigma in sorted(set(sigmas[np.isfinite(sigmas)].tolist())):
            places = np.flatnonzero(sigmas == sigma)
            noisy[places] = self.entropy.discrete_gaussian(sums[places].tolist(), GRID * sigma)
        self.filter.settle(cost)
        return noisy / GRID

    def losers(
        self, costs: Integers, weights: Integers, mass: float, most: float, rho: Fraction
    ) -> Losers:
        """How many users lose how much, if items cost so much: each user is in one bin.

        Args:
            costs: what part of a ration each item takes.
            weights: what a user who loses an item is taken to lose.
            mass: what all users together would lose who lose everything.
            most: what a user loses who has every item.
            rho: the price.
        """
        sigma = sigma_for(rho)
        cost = Cost(measure_cost(sigma))
        ensure_covers(cost.rho, sigma, Sensitivity.users_in_bins())
        self.filter.reserve(cost, LOSING)
        bins = _bins(self.population.losers(costs, weights, Losers.BOUNDS))
        noisy = self.entropy.discrete_gaussian(bins, sigma)
        self.filter.settle(cost)
        return Losers(np.array(noisy, dtype=np.float64), sigma, mass, most)

    def lost(
        self, costs: Integers, features: Sequence[Integers], most: Sequence[int], rho: Fraction
    ) -> tuple[Floats, float]:
        """Return what is lost of each feature, at most so much of one user, and σ."""
        squared = sum(each**2 for each in most)
        sigma = float(math.ceil(sigma_for(rho, squared)))
        cost = Cost(measure_cost(sigma, squared))
        ensure_covers(cost.rho, sigma, Sensitivity.lost(most))
        self.filter.reserve(cost, LOSING)
        sums = self.population.lost(costs, features, most)
        noisy = self.entropy.discrete_gaussian(sums, sigma)
        self.filter.settle(cost)
        return np.array(noisy, dtype=np.float64), sigma


def _bins(at_least: list[int]) -> list[int]:
    """Return how many are between one bound and the next."""
    return [a - b for a, b in zip(at_least, [*at_least[1:], 0], strict=True)]


def thresholds(sigma: float, looked_at: int, delta: Fraction) -> dict[int, int]:
    """T: what a noisy weight must exceed, so that δ covers items that one user brings.

    For each M up to ``MOST_ITEMS``: at most M items are brought by one user, t of them with the
    weight ⌊√(UNIT² // t)⌋ each; others have given less than ``looked_at`` (rationed.md).
    """
    brings, chance = range(1, MOST_ITEMS + 1), float(delta)  # thousands of fractions are slow
    each = (math.isqrt(UNIT**2 // t) + reach(sigma, chance / t) for t in brings)
    return {t: looked_at + 1 + most for t, most in zip(brings, accumulate(each, max), strict=True)}


def costs_of(sigmas: NDArray[np.float64], rho: Fraction) -> Integers:
    """Return what part of a ration of ρ each item takes of a user, rounded up; 0 if σ is ∞.

    Edge cases: an item that alone would exceed the ration is a mistake of the caller, who may
    ask for no less noise than `sigma_for` a whole ration; so are costs whose sum leaves 64 bits.
    """
    share = RATION / (2 * rho)
    costs = {
        sigma: math.ceil(share / Fraction(sigma) ** 2) if math.isfinite(sigma) else 0
        for sigma in set(sigmas.tolist())
    }
    each = [costs[sigma] for sigma in sigmas.tolist()]
    if max(each, default=0) > RATION or sum(each) >= 2**63:
        raise ValueError("items need more of a user than can be counted")
    return np.array(each, dtype=np.int64)
