"""What the noisy answers of a rationed release say: estimates and choices, free of cost.

Nothing here sees anything but released values, so none of it is about privacy; it decides how
much comes out of the budget. Constants are justified in rationed.md.
"""

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Relative noise of the rough counts.
COARSE_NOISE = 0.3
#: What part of the target error one standard error of a final estimate may be, when σ is
#: chosen, and when an item is released.
AIM, ACCEPTED = 0.60, 0.74
#: Items with more users come closer than the rarest, as this power of how many more: it takes
#: little of anybody's ration.
POPULARITY_EXPONENT = 1 / 8
#: How far earlier estimates are believed, as a share of their stated precision, and how many
#: items of one round it takes to believe them half as far.
TRUST, TRUST_TAKES = 0.7, 60
#: The measurement has at least this share of the precision that is aimed at.
LEAST = 0.3
#: The steps between the numbers of items that the search chooses from.
STEP, CUTS = 1.15, 16
#: The largest loss among the rarest items that is put up with, as a share of the target error.
LOSS, LARGEST_LOSS = 0.5, 0.2
#: The powers that are tried for how a loss grows with the number of items.
POWERS = [0.25 * step for step in range(2, 25)]
#: How far the loss found by the search is believed, and how far off it may be after that; and how
#: far off that of popular items may be, which is asked for when all is decided.
LOSS_BELIEVED, LOSS_ERROR, POPULAR_ERROR = 0.8, 0.027, 0.012
#: σ comes in steps of this, so that items share samplers.
SIGMA_STEP = 1.02


class Sizes:
    """A noisy histogram of users by the number of their items."""

    BOUNDS: ClassVar[list[int]] = sorted({math.ceil(2 ** (k / 2)) for k in range(41)})
    #: The most items that users of a bin have; the last has no end.
    UPPERS: ClassVar[list[int]] = [bound - 1 for bound in [*BOUNDS[1:], BOUNDS[-1] * 2 + 1]]

    def __init__(self, noisy: list[int], sigma: float) -> None:
        users = np.array(noisy, dtype=np.float64)
        self._half = self._half_way(users, sigma)
        self._not_negative = np.maximum(users, 0.0)
        # Noise alone must not make up users with a million items.
        self.users = np.where(users < 5 * sigma, 0.0, users)
        #: The middle of each bin.
        self.items = np.sqrt(np.array(self.BOUNDS, dtype=np.float64) * np.array(self.UPPERS))

    def weight_within(self, most: int) -> float:
        """Return how much weight is given by users with at most so many items.

        Here noise may make up users with many items: to leave out real ones costs more.
        """
        return float((self._not_negative * np.sqrt(self.items))[self.items <= most].sum())

    @staticmethod
    def _half_way(users: Floats, sigma: float) -> int | None:
        """Return the bin that half of all users are below, if there are more than noise makes."""
        total = float(users.sum())
        if total < 3 * sigma * math.sqrt(users.size):
            return None
        return int(np.flatnonzero(np.cumsum(users) >= total / 2)[0])

    @property
    def known(self) -> bool:
        """Whether there are users enough to tell how many items they have."""
        return self._half is not None

    def count_per_weight(self) -> float:
        """How many users an item has for each unit of weight, on average over all pairs.

        Where users are few, no bin may stand out; then half of them still have so many.
        """
        half = math.sqrt(self.items[self._half]) if self._half is not None else 1.0
        pairs = float((self.users * self.items).sum())
        weights = float((self.users * np.sqrt(self.items)).sum())
        return max(pairs / weights if weights else 1.0, half, 1.0)


@dataclass
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

    def rough_counts(self) -> Floats:
        """Return counts guessed from the weights alone, of the right order of magnitude."""
        rounds = zip(self.weights, self.counts_per_weight, strict=True)
        counts: Floats = np.concatenate([weights * each for weights, each in rounds])
        return np.maximum(counts, 1.0)


@dataclass(frozen=True)
class Losses:
    """What shares of counts are lost by users who exceed their ration.

    Attributes:
        rare: of the rarest items.
        popular: of the most popular ones, which light users have too.
        most: the places of those; none, if nobody can exceed.
    """

    rare: float
    popular: float
    most: NDArray[np.int64]

    def of(self, estimates: Floats, popular: float) -> tuple[Floats, Floats]:
        """Return what share of each count is lost, and how far off that may be.

        The more of all users have an item, the more alike they are to all users: in proportion.
        """
        if not self.most.size:
            return np.zeros(estimates.size), np.zeros(estimates.size)
        alike = np.minimum(estimates / popular, 1.0)
        rare, common = (min(max(loss, 0.0), LARGEST_LOSS) for loss in (self.rare, self.popular))
        lost = LOSS_BELIEVED * rare * (1 - alike) + common * alike
        return lost, LOSS_ERROR * (1 - alike) + POPULAR_ERROR * alike


NO_LOSSES = Losses(0.0, 0.0, np.zeros(0, dtype=np.int64))


@dataclass
class Beliefs:
    """What is known of each found item's count, and in which order the items go.

    Attributes:
        estimates: of the counts.
        errors: the standard errors of these.
        order: the items by falling estimate.
    """

    estimates: Floats
    errors: Floats
    order: NDArray[np.int64]

    @staticmethod
    def coarse_noise(found: Found, rough: Floats, least: float) -> Floats:
        """σ of the coarse measurement of each item, none below the least.

        Counts that are guessed too low would make users exceed the ration. Where nothing is known
        of how many items users have, even one with every item stays within it.
        """
        least = least if found.known else least * math.sqrt(found.number) * (1 + 1e-9)
        closer = (rough.min() / rough) ** POPULARITY_EXPONENT
        return np.maximum(_stepped(COARSE_NOISE * rough * closer), least)

    @classmethod
    def from_coarse(cls, found: Found, rough: Floats, coarse: Floats, noise: Floats) -> "Beliefs":
        """Combine coarse counts with what the weights lead one to expect.

        Among items of one round and similar weight, counts are in proportion to weights but for
        a spread, which is estimated.
        """
        estimates, errors = np.zeros(rough.size), np.zeros(rough.size)
        start = 0
        for weights, sigma in zip(found.weights, found.sigmas, strict=True):
            places = slice(start, start + weights.size)  # falling weights
            start += weights.size
            if not weights.size:
                continue
            expected = weights * _ratio_along(coarse[places], weights)
            own = (sigma / weights) ** 2
            measured = (noise[places] / expected) ** 2
            misfit = float(np.mean((coarse[places] / expected - 1) ** 2 - measured - own))
            prior = (np.sqrt(own + max(misfit, 0.05**2)) * expected) ** -2
            seen = noise[places] ** -2
            combined = (coarse[places] * seen + expected * prior) / (seen + prior)
            estimates[places] = np.maximum(combined, 0.3 * expected)
            trust = TRUST * weights.size / (weights.size + TRUST_TAKES)
            errors[places] = (trust * (seen + prior)) ** -0.5
        return cls(estimates, errors, np.argsort(-estimates, kind="stable"))

    def sigmas(self, r: float, least: float, number: int) -> Floats:
        """σ for the final measurement of so many items, to end at the error that is aimed at.

        None is below the least: with that an item takes a user's whole ration.
        """
        rarest = self.estimates[self.order[number - 1]]
        closer = np.minimum(rarest / self.estimates, 1.0) ** POPULARITY_EXPONENT
        goal = (AIM * r * closer * self.estimates) ** -2
        needed = np.maximum(goal - self.errors**-2, LEAST * goal)
        return np.maximum(_stepped(needed**-0.5), least)

    @staticmethod
    def all_fit(sigmas: Floats, ration: float) -> bool:
        """Say whether even a user with every item would stay within the ration."""
        return float((1 / (2 * sigmas**2)).sum()) < ration

    @staticmethod
    def fitted(sigmas: Floats, ration: float) -> Floats:
        """Return less noise in proportion, so that such a user would just stay within it."""
        return sigmas * math.sqrt(float((1 / (2 * sigmas**2)).sum()) / ration) * (1 + 1e-9)

    def cuts(self, r: float, least: float) -> list[int]:
        """Return the numbers of items, rising, that the search may choose from.

        With the least noise that there can be, the rarest of them comes close enough.
        """
        error = self._errors(self.estimates, self.errors**-2 + least**-2, LOSS_ERROR)
        most = max(1, int((error <= self.acceptable(r) * self.estimates).sum()))
        return sorted({math.ceil(most / STEP**step) for step in range(CUTS)})

    @staticmethod
    def acceptable(r: float) -> float:
        """Return the largest relative standard error of an item that is released."""
        return ACCEPTED * r

    def popular(self, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of some items that have half as many users as the first, or more."""
        estimates = self.estimates[kept]
        return kept[: int((estimates >= estimates[0] / 2).sum())]

    def updated(
        self, places: NDArray[np.int64], measured: Floats, sigmas: Floats, losses: Losses
    ) -> tuple[Floats, Floats]:
        """Combine with the final measurement, of which a share is known to be lost, or none."""
        popular = float(self.estimates[losses.most].mean()) if losses.most.size else 1.0
        lost, unsure = losses.of(self.estimates[places], popular)
        kept = 1 - lost
        before, now = self.errors[places] ** -2, (kept / sigmas) ** 2
        combined = (self.estimates[places] * before + measured / kept * now) / (before + now)
        return combined, self._errors(combined, before + now, unsure)

    @staticmethod
    def _errors(estimates: Floats, precision: Floats, loss: Floats | float) -> Floats:
        """Return standard errors: of noise, and of what is lost, which is known only so far."""
        return np.sqrt(1 / precision + (loss * estimates) ** 2)


def furthest(asked: list[tuple[int, float]], options: list[int], most: float) -> tuple[int, float]:
    """Return how many items to count so that at most so much is lost, and that loss.

    All answers count: a loss that grows as a power of the number of items is fitted to them.
    """
    numbers = np.array([number for number, _ in asked]) / options[-1]
    losses = np.array([loss for _, loss in asked])
    fits = []
    for power in POWERS:
        shape = numbers**power
        whole = max(float(shape @ losses / (shape @ shape)), 0.0)
        fits.append((float(((losses - whole * shape) ** 2).sum()), power, whole))
    _, power, whole = min(fits)
    if whole <= most:
        return options[-1], whole
    return max(options[0], int(options[-1] * (most / whole) ** (1 / power))), most


def _ratio_along(counts: Floats, weights: Floats) -> Floats:
    """Return counts per weight among items of similar weight."""
    # Parts that grow with the rank: the most popular items are the most unlike the others.
    parts = int(math.log2(max(weights.size / 40, 1)))
    edges = np.array([0, *(weights.size >> (parts - part) for part in range(parts + 1))])
    middles = (edges[:-1] + edges[1:]) / 2
    ratios = [max(float(counts[a:b].sum() / weights[a:b].sum()), 0.2) for a, b in pairwise(edges)]
    return np.interp(np.arange(weights.size), middles, ratios)


def _stepped(sigmas: Floats) -> Floats:
    return SIGMA_STEP ** np.floor(np.log(sigmas) / math.log(SIGMA_STEP))
