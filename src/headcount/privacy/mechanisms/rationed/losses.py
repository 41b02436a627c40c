"""The loss of users who exceed their ration, and how it grows.

No privacy cost: everything here follows from noisy answers.
"""

import math
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.privacy.mechanisms.rationed.sizes import Floats, last_that_stands_out
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from headcount.privacy.questions import GRID

#: The weight of the rarest item kept, when a user's losses are added up.
FINE = 2**8
#: No loss is known more precisely than this: with a huge budget, rounding exceeds the noise.
_ROUNDING = 1e-6
#: The bin of users who lose all of the rarest item.
ONE = int(math.log2(GRID * FINE))


@dataclass(frozen=True)
class Losers:
    """A noisy histogram of users by what they lose.

    A user in bin k loses at least 2^k and less than 2^(k+1), in units of 1/(GRID·FINE).

    Attributes:
        noisy: how many users are in each bin.
        sigma: σ of the noise.
        mass: what all users together would lose if they lost everything, in the unit of weights.
        most: what a user with every item loses, which is public: beyond it there is only noise.
        at_least: the last bin in which users are seen according to earlier histograms.
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
        """The last bin that counts: beyond it nobody stands out from the noise.

        The loss of one rarest item always counts.
        """
        seen = last_that_stands_out(self.noisy, self.sigma)
        return min(max(self.at_least, seen), self.last)

    @property
    def unit(self) -> float:
        """What all users together would lose if they lost everything."""
        return GRID * self.mass

    @property
    def seen(self) -> Floats:
        """The noisy number of users in each bin, and 0 beyond the last that counts."""
        return np.where(np.arange(self.noisy.size) <= self.top, self.noisy, 0.0)

    def loss(self) -> tuple[float, float]:
        """Return the mean share that is lost, over the items, and its error."""
        seen = float(self.seen @ AMOUNTS) / self.unit
        noise = self.sigma * float(np.linalg.norm(AMOUNTS[: self.top + 1])) / self.unit
        return seen, noise


#: The values of A in a `Curve`.
_AMOUNTS_LOST = np.geomspace(0.1, 1, 6)
#: The mean loss of a bin's users, if its logarithm is uniform within the bin.
AMOUNTS = np.array(Losers.BOUNDS, dtype=np.float64) / math.log(2)


class Curve:
    """How the loss grows with the load, which is the sum of what all users are asked for.

    If all users need X rations, each loses 1 − X^−½. But users differ, and some items have no users
    who lose, so the loss at load X is modelled as A·(1 − (1 + (X/X₀)^p)^(−1/2p)).
    """

    def __init__(
        self, loads: Floats, acceptable: float = 0.0, guessed: Floats | None = None
    ) -> None:
        """Start from a guess of the loss at each load, if there is one.

        What is believed of it is the load at which the acceptable loss is reached, to within e.
        """
        # Twice as fine a grid in each direction changes how many items are released by 1 % or less.
        starts = np.geomspace(loads.min() / 16, loads.max() * 2**12, 120)
        powers = np.geomspace(0.4, 16, 16)
        start, power = (grid.ravel() for grid in np.meshgrid(starts, powers))
        log = -((np.log(power / TUNING.power) / TUNING.power_spread) ** 2) / 2
        grown = np.minimum(loads[:, None] / start, 1e9) ** power
        #: For each load (row), and each X₀ and p (column), with A = 1.
        self._losses: Floats = -np.expm1(-np.log1p(grown) / (2 * power))
        if guessed is not None:
            # The first load at which the guess reaches the acceptable loss, or the grid's end.
            least = acceptable
            where = loads[guessed >= least].min(initial=starts[-1])
            reached = start * (2 * power * least) ** (1 / power)
            log -= np.log(reached / where) ** 2 / 2
        self._log = np.repeat(log[:, None], _AMOUNTS_LOST.size, axis=1)

    def learned(self, place: int, loss: float, error: float) -> "Curve":
        """Return the curve updated with an answer about the loss at one load, and its error."""
        curve, error = copy(self), max(error, _ROUNDING)
        each = self._losses[place][:, None] * _AMOUNTS_LOST
        curve._log = self._log - (each - loss) ** 2 / (2 * error**2)
        return curve

    def expected(self) -> tuple[Floats, Floats]:
        """Return the expected loss at each load, and its standard deviation."""
        weights = np.exp(self._log - self._log.max())
        weights /= weights.sum()
        means = self._losses @ (weights @ _AMOUNTS_LOST)
        squares = self._losses**2 @ (weights @ _AMOUNTS_LOST**2)
        return means, np.sqrt(np.maximum(squares - means**2, 0.0))
