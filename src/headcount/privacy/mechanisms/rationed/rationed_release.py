"""Rationed release: every user has the whole budget as a ration for their own items.

Items are found by weights of norm 1 per user, then counted with noise in proportion to the count.
Whoever has so many of them that the ration would be exceeded counts for less than one in each.
`rationed.md`, beside this file, is the proof of what `rationed_release` claims; what is estimated
from the noisy answers, which is free, is in `beliefs.py`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.accounting.gaussian import measure_cost, reach, sigma_for
from headcount.privacy.mechanisms.rationed.beliefs import (
    LOSS,
    NO_LOSSES,
    Beliefs,
    Found,
    Losses,
    Sizes,
    furthest,
)
from headcount.privacy.randomness import Entropy
from headcount.views.protocol import GRID, RATION, Integers, Population

#: The unit of weights in discovery; a user's weights have at most this norm.
UNIT = 2**14
#: Whoever has more items than this takes no part in a round of discovery.
MOST_ITEMS = 2**12 - 1
#: Weights below this many σ are not looked at, and the threshold is higher by as much.
LOOKED_AT = Fraction(1, 4)

# Shares of ρ; the last is for the counts themselves.
SIZES = Fraction(3, 1000)
DISCOVERIES = (Fraction(8, 100), Fraction(20, 100))
COARSE = Fraction(8, 100)
SEARCH = Fraction(6, 100)
POPULAR = Fraction(2, 1000)
FINAL = 1 - len(DISCOVERIES) * SIZES - sum(DISCOVERIES) - COARSE - SEARCH - POPULAR
#: How often the search for the last rank may ask.
SEARCH_STEPS = 5


@dataclass(frozen=True)
class RationedCounts:
    """The transcript of a run. All of it may be published.

    Attributes:
        positions: which of the found items are released, highest estimates first.
        estimates: their counts, estimated from all that was measured.
        errors: the standard errors of these.
        noisy: their counts as measured last, with noise alone.
        sigmas: σ of that noise.
        spent: what the filter recorded.
    """

    positions: NDArray[np.int64]
    estimates: NDArray[np.float64]
    errors: NDArray[np.float64]
    noisy: NDArray[np.float64]
    sigmas: NDArray[np.float64]
    spent: Cost


def rationed_release(
    population: Population,
    r: float,
    budget: Budget,
    entropy: Entropy,
    on_step: Callable[[str], None] = lambda step: None,
    privacy_filter: PrivacyFilter | None = None,
) -> RationedCounts:
    """Find items and release their counts.

    Formal guarantee: the result, all of it, is ``budget.delta_selection``-approximate
    ``budget.rho``-CDP with respect to adding or removing one user (rationed.md).

    Edge cases: whether anything is found is public, so a run that found nothing ends.

    Args:
        population: who has what.
        r: the target relative error.
        budget: what may be spent.
        entropy: where noise comes from.
        on_step: called with what is being done, which may be shown.
        privacy_filter: if part of the budget has been spent; the rest is used.
    """
    asking = PaidQueries(population, entropy, privacy_filter or PrivacyFilter(budget.for_filter))
    rho, delta = asking.filter.left.rho, asking.filter.left.delta
    found = Found()
    # Said once: what is done later, and how often, follows from noisy answers, and whoever sees it
    # of a run that then dies would have them.
    on_step("finding and counting items")
    for share in DISCOVERIES:
        sizes = asking.sizes(SIZES * rho)
        weights, sigma = asking.discover(share * rho, delta / len(DISCOVERIES), sizes)
        found.add(weights, sigma, sizes)
    if not found.number:
        return _nothing(asking.filter.spent)
    rough = found.rough_counts()
    noise = Beliefs.coarse_noise(found, rough, sigma_for(COARSE * rho))
    coarse = asking.counts(noise, COARSE * rho)
    beliefs = Beliefs.from_coarse(found, rough, coarse, noise)
    ration = asking.filter.left.rho
    kept, losses = beliefs.order, NO_LOSSES
    sigmas = beliefs.sigmas(r, sigma_for(ration), kept.size)
    if beliefs.all_fit(sigmas, float(ration)):
        # Nobody can lose anything, and there is something left for less noise.
        sigmas = beliefs.fitted(sigmas, float(ration))
    else:
        ration -= (SEARCH + POPULAR) * rho
        number, lost = _search(asking, beliefs, r, ration, SEARCH * rho)
        kept = beliefs.order[:number]
        sigmas = beliefs.sigmas(r, sigma_for(ration), number)
        popular = beliefs.popular(kept)
        losses = Losses(
            lost, asking.lost(beliefs, sigmas, kept, popular, ration, POPULAR * rho), popular
        )
    chosen = np.full(found.number, np.inf)
    chosen[kept] = sigmas[kept]
    measured = asking.counts(chosen, asking.filter.left.rho)
    return _released(beliefs, kept, measured, sigmas, losses, r, asking.filter.spent)


def _search(
    asking: "PaidQueries",
    beliefs: Beliefs,
    r: float,
    ration: Fraction,
    rho: Fraction,
) -> tuple[int, float]:
    """Ask how much is lost with various numbers of items; return how many, and that loss."""
    least = sigma_for(ration)
    options = beliefs.cuts(r, least)
    asked: list[tuple[int, float]] = []
    low, high = -1, len(options) - 1
    while low < high and len(asked) < SEARCH_STEPS:
        # The largest is tried first: with one item per user nobody exceeds the ration.
        middle = (low + high + 1) // 2 if asked else high
        number = options[middle]
        sigmas = beliefs.sigmas(r, least, number)
        kept = beliefs.order[:number]
        rarest = kept[-math.ceil(number / 4) :]
        loss = asking.lost(beliefs, sigmas, kept, rarest, ration, rho / SEARCH_STEPS)
        asked.append((number, loss))
        low, high = (middle, high) if loss <= LOSS * r else (low, middle - 1)
    return furthest(asked, options, LOSS * r)


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
        self.filter.reserve(cost)
        at_least = self.population.sizes(Sizes.BOUNDS)
        bins = [a - b for a, b in zip(at_least, [*at_least[1:], 0], strict=True)]
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
        self.filter.reserve(cost)
        weights = self.population.weights(UNIT, most_items, looked_at)
        noisy = np.array(self.entropy.discrete_gaussian(weights.tolist(), sigma), dtype=np.float64)
        places = np.flatnonzero(noisy > bound)
        # Ties fall by lot: the population's own order may depend on who has what.
        places = places[np.lexsort((self._lots(places.size), -noisy[places]))]
        self.population.found(places.tolist())
        self.filter.settle(cost)
        return noisy[places] / UNIT, sigma / UNIT

    def _lots(self, number: int) -> NDArray[np.uint64]:
        """Words that are all different, so that every order of them is equally likely."""
        while np.unique(lots := self.entropy.words(number)).size < number:
            pass
        return lots

    def counts(self, sigmas: NDArray[np.float64], rho: Fraction) -> NDArray[np.float64]:
        """Count found items with noise of their own σ; infinite σ leaves an item out."""
        cost = Cost(rho)
        self.filter.reserve(cost)
        sums = self.population.clipped_sums(costs_of(sigmas, rho))
        noisy = np.zeros(sigmas.size)
        for sigma in np.unique(sigmas[np.isfinite(sigmas)]).tolist():
            places = np.flatnonzero(sigmas == sigma)
            noisy[places] = self.entropy.discrete_gaussian(sums[places].tolist(), GRID * sigma)
        self.filter.settle(cost)
        return noisy / GRID

    def lost(
        self,
        beliefs: Beliefs,
        sigmas: NDArray[np.float64],
        kept: Integers,
        some: Integers,
        ration: Fraction,
        rho: Fraction,
    ) -> float:
        """Return what share of some items is lost by users who exceed, if so many are kept."""
        mass = float(beliefs.estimates[some].sum())
        costs = np.zeros(sigmas.size, dtype=np.int64)
        costs[kept] = costs_of(sigmas[kept], ration)
        among = np.zeros(sigmas.size, dtype=np.bool_)
        among[some] = True
        # As much of one user as keeps the noise at two hundredths of the whole.
        most = max(1, min(some.size * GRID, int(mass * GRID / 50 * math.sqrt(2 * rho))))
        sigma = float(math.ceil(most * sigma_for(rho)))
        cost = Cost(measure_cost(sigma, most**2))
        self.filter.reserve(cost)
        (noisy,) = self.entropy.discrete_gaussian([self.population.lost(costs, among, most)], sigma)
        self.filter.settle(cost)
        return noisy / GRID / mass


def thresholds(sigma: float, looked_at: int, delta: Fraction) -> dict[int, int]:
    """T: what a noisy weight must exceed, so that δ covers items that one user brings.

    For each M up to ``MOST_ITEMS``: at most M items are brought by one user, t of them with the
    weight ⌊√(UNIT² // t)⌋ each; others have given less than ``looked_at`` (rationed.md).
    """
    brings = range(1, MOST_ITEMS + 1)
    each = (math.isqrt(UNIT**2 // t) + reach(sigma, delta / t) for t in brings)
    return {t: looked_at + 1 + most for t, most in zip(brings, accumulate(each, max), strict=True)}


def costs_of(sigmas: NDArray[np.float64], rho: Fraction) -> Integers:
    """Return what part of a ration of ρ each item takes of a user, rounded up; 0 if σ is ∞.

    Edge cases: an item that alone would exceed the ration is a mistake of the caller, who may
    ask for no less noise than `sigma_for` a whole ration; so are costs whose sum leaves 64 bits.
    """
    share = RATION / (2 * rho)
    costs = {
        sigma: math.ceil(share / Fraction(sigma) ** 2) if math.isfinite(sigma) else 0
        for sigma in np.unique(sigmas).tolist()
    }
    each = [costs[sigma] for sigma in sigmas.tolist()]
    if max(each, default=0) > RATION or sum(each) >= 2**63:
        raise ValueError("items need more of a user than can be counted")
    return np.array(each, dtype=np.int64)


def _released(
    beliefs: Beliefs,
    kept: Integers,
    measured: NDArray[np.float64],
    sigmas: NDArray[np.float64],
    losses: Losses,
    r: float,
    spent: Cost,
) -> RationedCounts:
    estimates, errors = beliefs.updated(kept, measured[kept], sigmas[kept], losses)
    good = np.flatnonzero(errors <= beliefs.acceptable(r) * estimates)
    good = good[np.argsort(-estimates[good], kind="stable")]
    return RationedCounts(
        positions=kept[good],
        estimates=estimates[good],
        errors=errors[good],
        noisy=measured[kept][good],
        sigmas=sigmas[kept][good],
        spent=spent,
    )


def _nothing(spent: Cost) -> RationedCounts:
    none = np.zeros(0)
    return RationedCounts(np.zeros(0, dtype=np.int64), none, none, none, none, spent)
