"""What discovery and the coarse counts say of each item: its count, and how heavy its users are.

Nothing here sees anything but released values, so none of it is about privacy.
"""

import dataclasses
import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.mechanisms.posterior import nonnegative_posterior_mean
from headcount.privacy.mechanisms.rationed.sizes import Floats, Sizes
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from headcount.views.protocol import Integers

#: σ as powers of `TUNING.sigma_step`: a quarter of what they take as floats.
Steps = NDArray[np.int16]


@dataclasses.dataclass
class Found:
    """The items found, round by round: their noisy weights and what these say of counts."""

    weights: list[Floats] = field(default_factory=list)
    sigmas: list[float] = field(default_factory=list)
    counts_per_weight: list[float] = field(default_factory=list)
    #: Whether that is known in every round.
    known: bool = True

    def add(self, weights: Floats, sigma: float, sizes: Sizes) -> None:
        """Add a round."""
        self.weights.append(weights)
        self.sigmas.append(sigma)
        self.counts_per_weight.append(sizes.count_per_weight())
        self.known = self.known and sizes.known

    @property
    def number(self) -> int:
        """How many items were found."""
        return sum(round_.size for round_ in self.weights)

    @property
    def rounds(self) -> list[Integers]:
        """The places of the items of each round."""
        edges = np.cumsum([0, *(weights.size for weights in self.weights)])
        return [np.arange(a, b) for a, b in pairwise(edges.tolist())]

    def rough_counts(self) -> Floats:
        """Return counts guessed from the weights alone, of the right order of magnitude."""
        rounds = zip(self.weights, self.counts_per_weight, strict=True)
        counts: Floats = np.concatenate([weights * each for weights, each in rounds])
        return np.maximum(counts, 1.0)

    def expected(self, places: Integers, counts: Floats, variances: Floats) -> "Expected":
        """Return what the weights of some items lead one to expect, given counts of those.

        Among items of one round and similar weight, counts are in proportion to weights but for
        the noise of the weight and a spread, which is estimated: users of some items are heavier.
        """
        means, own, spread = np.ones(places.size), np.ones(places.size), np.ones(places.size)
        weights = np.concatenate(self.weights)
        for sigma, some in zip(self.sigmas, self.rounds, strict=True):
            here = np.flatnonzero(np.isin(places, some, assume_unique=True))
            here = here[np.argsort(-weights[places[here]], kind="stable")]
            if not here.size:
                continue
            mine = weights[places[here]]
            ratios, unsure = _ratio_along(counts[here], mine, variances[here])
            means[here] = mine * ratios
            noise = (sigma / mine) ** 2
            error = variances[here] / means[here] ** 2 + noise
            # A ratio that follows from few items follows each of them.
            few = 1 + TUNING.part / here.size
            spread[here] = _spread(counts[here] / means[here] - 1, error) * few
            own[here] = noise * few + unsure
        return Expected(means, own, spread)


@dataclass(frozen=True)
class Expected:
    """What weights say of counts: means, and relative variances.

    Attributes:
        means: the counts expected.
        own: the variance from the noise of the weights.
        spread: the variance from how heavy the users of an item are.
    """

    means: Floats
    own: Floats
    spread: Floats

    def some(self, places: Integers | slice) -> "Expected":
        """Return what is said of some of the items."""
        return Expected(self.means[places], self.own[places], self.spread[places])

    def heaviness(self, off: Floats, error: Floats, lean: Floats | float) -> Floats:
        """Return how heavy an item's users are, in standard deviations, by its measured count.

        The count is E·(1 + x) with E expected and x = ν + θ: ν is the noise of the weight, and θ
        says how heavy the users are, τ² being its variance. Heavy users lose more: beside what is
        put back for all, a share λ·θ/τ of the count is lost. The measured count is E·(1 + d) with
        d = ν + (1 − λ/τ)·θ + e, all of them normal, so that the mean of θ given d is known. Where
        that is large it is the logarithm of 1 + θ that loss follows.

        Args:
            off: d.
            error: the variance of e.
            lean: λ.
        """
        tau = np.sqrt(self.spread)
        heavy = (tau - lean) * tau / (self.own + (tau - lean) ** 2 + error) * off
        return np.log1p(np.maximum(heavy, TUNING.least_part - 1)) / np.maximum(tau, 1e-9)

    def pull(self, error: Floats) -> Floats:
        """Return how far a count is drawn towards what is expected; `error` is its variance.

        Items of heavy users would be drawn towards those of light ones, so the spread counts for
        more than it is.
        """
        return error / (error + self.own + TUNING.caution * self.spread)

    def surprising(self, off: Floats, error: Floats) -> NDArray[np.bool_]:
        """Return which counts are off by more than noise and the usual spread explain.

        Such an item has users of another kind than the rest, and what is expected of the rest says
        nothing about it. One in 400 is called so by chance.

        Args:
            off: how far a count is from what is expected, relative to that.
            error: the variance of the count.
        """
        odd: NDArray[np.bool_] = np.abs(off) > 3 * np.sqrt(error + self.own + self.spread)
        return odd

    def bias(self, error: Floats, lean: Floats | float) -> Floats:
        """Return what is not put back for each standard deviation of heaviness."""
        tau = np.sqrt(self.spread)
        known = (tau - lean) * tau / (self.own + (tau - lean) ** 2 + error)
        return lean * (1 - known)

    def variance(self, error: Floats, lean: Floats | float) -> Floats:
        """Return the relative variance of what comes out if both is done."""
        tau = np.sqrt(self.spread)
        total = self.own + (tau - lean) ** 2 + error
        both = self.own + tau * (tau - lean)
        gain = (1 - self.pull(error)) * (1 + lean * (tau - lean) / total)
        return np.maximum(self.own + self.spread - 2 * gain * both + gain**2 * total, 0.0)


def coarse_noise(found: Found, rough: Floats, least: float) -> Floats:
    """σ of the coarse measurement of each item, none below the least.

    Counts that are guessed too low would make users exceed the ration. Where nothing is known
    of how many items users have, even one with every item stays within it.
    """
    least = least if found.known else least * math.sqrt(found.number) * (1 + 1e-9)
    closer = (rough.min() / rough) ** TUNING.popularity
    return np.maximum(stepped(TUNING.coarse_noise * rough * closer), least)


@dataclass(frozen=True)
class Beliefs:
    """What is known of each found item before the final measurement.

    Attributes:
        estimates: of the counts.
        expected: what the weights alone say of them.
        heaviness: how heavy the users of an item are, in standard deviations of that, shrunk for
            its noise.
        order: the items by falling estimate.
    """

    estimates: Floats
    expected: Expected
    heaviness: Floats
    order: Integers

    @classmethod
    def from_coarse(cls, found: Found, coarse: Floats, noise: Floats) -> "Beliefs":
        """Combine coarse counts with what the weights lead one to expect."""
        expected = found.expected(np.arange(found.number), coarse, noise**2)
        prior = expected.own + expected.spread
        off = coarse / expected.means - 1
        off *= prior / (prior + (noise / expected.means) ** 2)
        estimates = expected.means * np.maximum(1 + off, TUNING.least_part)
        tau = np.sqrt(expected.spread)
        heavy = np.log1p(tau**2 / prior * (estimates / expected.means - 1))
        heavy /= np.maximum(tau, 1e-9)
        return cls(estimates, expected, heavy, np.argsort(-estimates, kind="stable"))

    def first(self, number: int) -> tuple[Floats, Expected]:
        """Return estimates and what is expected of so many items, by falling estimate."""
        estimates, expected = self._ordered
        return estimates[:number], expected.some(slice(number))

    @cached_property
    def _ordered(self) -> tuple[Floats, Expected]:
        return self.estimates[self.order], self.expected.some(self.order)

    def steps(self, r: float, number: int, scale: float = 1.0) -> Steps:
        """σ for the final measurement of so many items, to end at the error that is aimed at.

        They are the first of the order, and σ is given in steps.
        """
        estimates, expected = self.first(number)
        closer = (estimates[-1] / estimates) ** TUNING.popularity
        goal = (scale * TUNING.aim * r * closer) ** -2
        prior = 1 / (expected.own + TUNING.caution * expected.spread)
        needed = np.maximum(goal - prior, TUNING.least_precision * goal)
        return _steps(estimates * needed**-0.5).astype(np.int16)


def _ratio_along(counts: Floats, weights: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return counts per weight among items of similar weight, and relative variances of that."""
    # Parts that grow with the rank: the most popular items are the most unlike the others.
    parts = int(math.log2(max(weights.size / TUNING.part, 1)))
    edges = np.array([0, *(weights.size >> (parts - part) for part in range(parts + 1))])
    middles = (edges[:-1] + edges[1:]) / 2
    sums = [
        max(float(counts[a:b].sum()), float(weights[a:b].sum()) * TUNING.least_part)
        for a, b in pairwise(edges)
    ]
    ratios = [
        s / float(weights[a:b].sum()) for s, (a, b) in zip(sums, pairwise(edges), strict=True)
    ]
    unsure = [variances[a:b].sum() / s**2 for s, (a, b) in zip(sums, pairwise(edges), strict=True)]
    ranks = np.arange(weights.size)
    return np.interp(ranks, middles, ratios), np.interp(ranks, middles, unsure)


def _spread(off: Floats, errors: Floats) -> float:
    """Return the variance that is left of relative differences beside that of their errors.

    A difference of variance v says how large the rest is to within v·√2, so precise counts say the
    most. What cannot be told from nothing is not taken for nothing.
    """
    spread = max(float(np.mean(off**2 - errors)), 0.0)
    # How much each says depends on the spread itself; this settles at once.
    for _ in range(3):
        precisions = (errors + spread) ** -2 / 2
        seen = float(precisions @ (off**2 - errors) / precisions.sum())
        spread = nonnegative_posterior_mean(seen, float(precisions.sum()) ** -0.5)
    return spread


def stepped(sigmas: Floats) -> Floats:
    """Return σ rounded down to the steps."""
    return TUNING.sigma_step ** _steps(sigmas)


def of_steps(steps: Steps) -> Floats:
    """Return the σ of each number of steps."""
    first = int(steps.min())
    each: Floats = TUNING.sigma_step ** np.arange(first, int(steps.max()) + 1, dtype=np.float64)
    return each[steps - first]


def _steps(sigmas: Floats) -> Floats:
    return np.floor(np.log(sigmas) / math.log(TUNING.sigma_step))
