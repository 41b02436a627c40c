"""What discovery and the coarse counts say about each item: its count, and how heavy its users are.

This code only sees noisy values that were paid for, so privacy does not rest on it.
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
from headcount.privacy.questions import Integers


@dataclasses.dataclass
class Found:
    """The items found, round by round: their noisy weights, and the counts these suggest."""

    weights: list[Floats] = field(default_factory=list)
    sigmas: list[float] = field(default_factory=list)
    counts_per_weight: list[float] = field(default_factory=list)
    #: Whether `counts_per_weight` is known in every round.
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
        """Return guesses of the counts, from the weights alone: the right order of magnitude."""
        rounds = zip(self.weights, self.counts_per_weight, strict=True)
        counts: Floats = np.concatenate([weights * each for weights, each in rounds])
        return np.maximum(counts, 1.0)

    def expected(self, places: Integers, counts: Floats, variances: Floats) -> "Expected":
        """Return the counts that the weights of some items predict, given measured counts of them.

        Among items of one round and similar weight, counts are proportional to weights, up to the
        noise of the weight and an estimated spread: users of some items are heavier.
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
            # A ratio estimated from few items is pulled towards each of them.
            few = 1 + TUNING.part / here.size
            spread[here] = _spread(counts[here] / means[here] - 1, error) * few
            own[here] = noise * few + unsure
        return Expected(means, own, spread)


@dataclass(frozen=True)
class Expected:
    """The counts that weights predict: means, and relative variances.

    Attributes:
        means: the predicted counts.
        own: the variance due to the noise of the weights.
        spread: the variance due to how heavy the users of an item are.
    """

    means: Floats
    own: Floats
    spread: Floats

    def some(self, places: Integers | slice) -> "Expected":
        """Return the predictions for some of the items."""
        return Expected(self.means[places], self.own[places], self.spread[places])

    def pull(self, error: Floats) -> Floats:
        """Return how far a count is shrunk towards its prediction; `error` is its variance.

        Shrinkage pulls items of heavy users towards those of light ones, so the spread is taken to
        be larger than it is.
        """
        return error / (error + self.own + TUNING.caution * self.spread)

    def surprising(self, off: Floats, error: Floats) -> NDArray[np.bool_]:
        """Return which counts are off by more than noise and the usual spread explain.

        The users of such an item are of another kind, so the other items predict nothing about it.
        About one item in 400 is flagged by chance.

        Args:
            off: how far a count is from its prediction, relative to the prediction.
            error: the variance of the count.
        """
        odd: NDArray[np.bool_] = np.abs(off) > 3 * np.sqrt(error + self.own + self.spread)
        return odd

    def variance(self, error: Floats) -> Floats:
        """Return the relative variance of a count after it is shrunk; `error` is its variance."""
        pull = self.pull(error)
        return pull**2 * (self.own + self.spread) + (1 - pull) ** 2 * error


def coarse_noise(found: Found, rough: Floats, least: float) -> Floats:
    """σ of the coarse measurement of each item, never below the least.

    Users may exceed the ration where counts are guessed too low. So if nothing is known about how
    many items users have, σ is so large that even a user with every item stays within it.
    """
    least = least if found.known else least * math.sqrt(found.number) * (1 + 1e-9)
    closer = (rough.min() / rough) ** TUNING.popularity
    sigmas: Floats = np.maximum(TUNING.coarse_noise * rough * closer, least)
    return sigmas


@dataclass(frozen=True)
class Beliefs:
    """What is known about each found item before the final measurement.

    Attributes:
        estimates: estimates of the counts.
        expected: what the weights alone predict.
        order: the items by falling estimate.
    """

    estimates: Floats
    expected: Expected
    order: Integers

    @classmethod
    def from_coarse(cls, found: Found, coarse: Floats, noise: Floats) -> "Beliefs":
        """Combine coarse counts with what the weights predict."""
        expected = found.expected(np.arange(found.number), coarse, noise**2)
        prior = expected.own + expected.spread
        off = coarse / expected.means - 1
        off *= prior / (prior + (noise / expected.means) ** 2)
        estimates = expected.means * np.maximum(1 + off, TUNING.least_part)
        return cls(estimates, expected, np.argsort(-estimates, kind="stable"))

    def first(self, number: int) -> tuple[Floats, Expected]:
        """Return estimates and predictions for the first ``number`` items, by falling estimate."""
        estimates, expected = self._ordered
        return estimates[:number], expected.some(slice(number))

    @cached_property
    def _ordered(self) -> tuple[Floats, Expected]:
        return self.estimates[self.order], self.expected.some(self.order)

    def sigmas(self, r: float, number: int, scale: float = 1.0) -> Floats:
        """σ with which the final measurement meets the intended error.

        It is that of the first ``number`` items by falling estimate. What is known before rests on
        an estimated spread, so the measurement has at least half of the intended precision.
        """
        estimates, expected = self.first(number)
        closer = (estimates[-1] / estimates) ** TUNING.popularity
        goal = (scale * TUNING.aim * r * closer) ** -2
        prior = 1 / (expected.own + TUNING.caution * expected.spread)
        sigmas: Floats = estimates * np.maximum(goal - prior, goal / 2) ** -0.5
        return sigmas


def _ratio_along(counts: Floats, weights: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return counts per weight among items of similar weight, and their relative variances."""
    # Parts grow with rank: the most popular items differ most from the others.
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
    """Return the variance of relative differences that their errors do not explain.

    A difference with variance v estimates it to within v·√2, so precise counts tell the most. A
    spread that cannot be told from zero is not taken to be zero.
    """
    spread = max(float(np.mean(off**2 - errors)), 0.0)
    # The weights depend on the spread itself; this converges at once.
    for _ in range(3):
        precisions = (errors + spread) ** -2 / 2
        seen = float(precisions @ (off**2 - errors) / precisions.sum())
        spread = nonnegative_posterior_mean(seen, float(precisions.sum()) ** -0.5)
    return spread
