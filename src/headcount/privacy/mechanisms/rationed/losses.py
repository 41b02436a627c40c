"""What users lose who exceed their ration: how it grows, and what share of each item it is.

Free of cost: all of it follows from noisy answers.
"""

import math
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.privacy.mechanisms.rationed.sizes import Floats, last_that_stands_out
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from headcount.views.protocol import GRID, Integers

#: The unit of an item's weight in what a user loses: the rarest item kept weighs this much.
FINE = 2**8
#: How many features of items there are.
FEATURES = 3
#: No loss is known closer than this: with an immense budget, rounding is larger than noise.
_ROUNDING = 1e-6
#: The bin of users who lose the rarest item.
ONE = int(math.log2(GRID * FINE))


@dataclass(frozen=True)
class Losers:
    """A noisy histogram of users by what they lose.

    A user in bin k loses at least 2^k and less than 2^(k+1), in units of 1/(GRID·FINE).

    Attributes:
        noisy: how many are in each bin.
        sigma: σ of the noise.
        mass: what all users together would lose who lose everything, in the unit of weights.
        most: what a user loses who has every item, which is public: beyond it there is only noise.
        at_least: what earlier histograms say of how far users are seen.
    """

    BOUNDS = tuple(2**k for k in range(36))

    noisy: Floats
    sigma: float
    mass: float
    most: float
    at_least: int = ONE

    @property
    def last(self) -> int:
        """The last bin that anybody can be in."""
        return min(int(math.log2(max(self.most, 1.0))), self.noisy.size - 1)

    @cached_property
    def top(self) -> int:
        """The last bin that counts: beyond it nobody stands out of the noise.

        One rarest item is always within.
        """
        seen = last_that_stands_out(self.noisy, self.sigma)
        return min(max(self.at_least, seen), self.last)

    @property
    def unit(self) -> float:
        """What all users together would lose who lose everything."""
        return GRID * self.mass

    @property
    def seen(self) -> Floats:
        """How many users each bin has up to the last that counts."""
        return np.where(np.arange(self.noisy.size) <= self.top, self.noisy, 0.0)

    def clip(self, numbers: int) -> float:
        """Return what a user may lose of each of so many numbers: little noise, little clipped."""
        users = np.maximum(self.seen, 0.0)

        def squared(most: float) -> float:
            clipped = float(users @ np.maximum(AMOUNTS - most, 0.0))
            return numbers * (self.sigma * most) ** 2 + clipped**2

        return min((float(bound) for bound in self.BOUNDS[ONE:]), key=squared)

    def clipped(self, most: float) -> float:
        """Return by what factor more is lost than what is seen with such a clip."""
        users = np.maximum(self.seen, 0.0)
        kept = float(users @ np.minimum(AMOUNTS, most))
        return float(users @ AMOUNTS) / kept if kept else 1.0

    def loss(self) -> tuple[float, float]:
        """Return what share is lost on average over the items, and the error of that."""
        seen = float(self.seen @ AMOUNTS) / self.unit
        noise = self.sigma * float(np.linalg.norm(AMOUNTS[: self.top + 1])) / self.unit
        return seen, math.hypot(noise, TUNING.misfit * seen)


#: A of a `Curve`.
_AMOUNTS_LOST = np.geomspace(0.1, 1, 6)
#: What users of a bin lose on average, if they are spread evenly in the logarithm.
AMOUNTS = np.array(Losers.BOUNDS, dtype=np.float64) / math.log(2)


class Curve:
    """How the loss grows with the load, which is what users are asked for in all.

    Of users who all need X times their ration each loses 1 − X^−½. They differ, and some items
    have none that lose, so that it is A·(1 − (1 + (X/X₀)^p)^(−1/2p)).
    """

    def __init__(self, loads: Floats, guessed: Floats | None = None) -> None:
        """Start with what is guessed to be lost at each load, if anything is."""
        # Twice as fine a grid in each direction changes how many items are released by 1 % or less.
        starts = np.geomspace(loads.min() / 16, loads.max() * 2**12, 120)
        powers = np.geomspace(0.4, 16, 16)
        start, power = (grid.ravel() for grid in np.meshgrid(starts, powers))
        log = -((np.log(power / TUNING.power) / TUNING.power_spread) ** 2) / 2
        grown = np.minimum(loads[:, None] / start, 1e9) ** power
        #: For each load, and each start and power, if the amount is 1.
        self._losses: Floats = -np.expm1(-np.log1p(grown) / (2 * power))
        if guessed is not None:
            # Where about as much is lost as is put up with, or nowhere.
            least = TUNING.forecast_loss
            where = loads[guessed >= least].min(initial=starts[-1])
            reached = start * (2 * power * least) ** (1 / power)
            log -= (np.log(reached / where) / TUNING.guess_spread) ** 2 / 2
        self._log = np.repeat(log[:, None], _AMOUNTS_LOST.size, axis=1)

    def learned(self, place: int, loss: float, error: float) -> "Curve":
        """Return what is known with an answer about the loss at a load, which has such an error."""
        curve, error = copy(self), max(error, _ROUNDING)
        each = self._losses[place][:, None] * _AMOUNTS_LOST
        curve._log = self._log - (each - loss) ** 2 / (2 * error**2)
        return curve

    def expected(self) -> tuple[Floats, Floats]:
        """Return the expected loss at each load, and how far off it may be."""
        weights = np.exp(self._log - self._log.max())
        weights /= weights.sum()
        means = self._losses @ (weights @ _AMOUNTS_LOST)
        squares = self._losses**2 @ (weights @ _AMOUNTS_LOST**2)
        return means, np.sqrt(np.maximum(squares - means**2, 0.0))


def features(estimates: Floats, heaviness: Floats, kept: Integers) -> Floats:
    """Return what an item's loss is taken to follow, a row each; the first is 1 everywhere.

    The others are how popular an item is, which is 0 on average over those kept, and how heavy its
    users are.
    """
    popular = _standard(np.log(estimates), kept)
    return np.array([np.ones(estimates.size), popular, _clipped(heaviness)])


@dataclass(frozen=True)
class Fit:
    """How the loss of an item follows from its features.

    Attributes:
        coefficients: one for each feature.
        covariance: of their errors.
    """

    coefficients: Floats
    covariance: Floats

    @classmethod
    def of(
        cls, rows: Floats, weighted: Integers, estimates: Floats, answers: Floats, sigma: float
    ) -> "Fit":
        """Fit the coefficients to answers.

        Σⱼ hⱼ·ℓⱼ·fⱼ is what was asked for each feature f, so they solve linear equations; as no
        share exceeds 1, no coefficient is far from 0.
        """
        asked = GRID * (weighted * estimates) @ rows.T
        sigma = max(sigma, _ROUNDING * float(np.abs(asked).max()))
        precision = np.eye(len(answers)) + asked.T @ asked / sigma**2
        covariance: Floats = np.linalg.inv(precision).astype(np.float64)
        return cls(covariance @ (asked.T @ answers / sigma**2), covariance)


@dataclass(frozen=True)
class Slopes:
    """How much more is lost of items with a feature, in parts of what is lost on average."""

    means: Floats
    covariance: Floats


def pooled(fits: list[tuple[int, Fit]], losses: Floats) -> Slopes:
    """Combine what was fitted at places where so much is lost, and what is known before."""
    before = np.array([TUNING.trend, TUNING.lean_spread]) ** -2
    precision, right = np.diag(before), before * np.array([0.0, TUNING.lean])
    for place, fit in fits:
        loss = max(float(losses[place]), 1e-6)
        weight = np.linalg.inv(fit.covariance[1:, 1:]) * loss**2
        precision = precision + weight
        right = right + weight @ fit.coefficients[1:] / loss
    covariance = np.linalg.inv(precision)
    return Slopes(covariance @ right, covariance)


@dataclass(frozen=True)
class ItemLosses:
    """What share of each found item is lost.

    Attributes:
        means: the shares, of items whose users are as heavy as expected.
        lean: what is lost more for each standard deviation of heaviness.
        errors: how far off the shares may be, in common.
    """

    means: Floats
    lean: float
    errors: Floats

    @classmethod
    def of(cls, rows: Floats, slopes: Slopes, loss: float, error: float) -> "ItemLosses":
        """Return them where so much is lost on average."""
        means = loss * (1 + slopes.means[:-1] @ rows[1:-1])
        apart = np.einsum("kj,kl,lj->j", rows[1:], slopes.covariance, rows[1:])
        return cls(means, float(slopes.means[-1] * loss), np.sqrt(error**2 + loss**2 * apart))


def _standard(values: Floats, kept: Integers) -> Floats:
    centred = values - values[kept].mean()
    spread = float(centred[kept].std())
    return _clipped(centred / spread) if spread else 0.0 * centred


def _clipped(feature: Floats) -> Floats:
    return np.clip(feature, -TUNING.feature_clip, TUNING.feature_clip)
