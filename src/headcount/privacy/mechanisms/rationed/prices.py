"""What counts cost users, as parts of a ration, and how far the counts are centred.

A count can be measured as its distance from m times the number of users, for any public m. A user
moves that by 1 − m if they have the item and by −m if they do not, so that one with all items pays
(1 − m)² of what they would otherwise, and everybody pays m² for the items they lack. The number of
users is measured beside the counts, once. `rationed.md` proves what this costs.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headcount.privacy.mechanisms.rationed.sizes import Floats
from headcount.views.protocol import RATION, Integers

#: m is a multiple of 1/STEPS, rounded down, by which users may have 1.6 % less at most.
STEPS = 64
# Costs are rounded up to whole parts of a ration. With this margin a base that comes of a million
# of them still fits into one.
_ROUNDING = 1 + 1e-5


def centres(full: Floats) -> Integers:
    """Return m, in units of 1/STEPS, with which users may have the most before they lose anything.

    A user whose items cost C needs m²F + (1 − 2m)·C rations. With m = ½ that is at most 1 for
    everybody if F ≤ 4. Otherwise C may be largest where m·(1 − m)·F = 1.

    Args:
        full: F, in rations: what all items cost, and what the number of users does, divided by m².
    """
    exact = (1 - np.sqrt(np.maximum(1 - 4 / (_ROUNDING * full), 0.0))) / 2
    return np.floor(STEPS * exact).astype(np.int64)


def needed(costs: Floats, full: Floats | float, centre: Integers | int) -> Floats:
    """Return how many rations users need whose items cost so many, with such a centre."""
    m = np.asarray(centre) / STEPS
    rations: Floats = m**2 * full + (1 - 2 * m) * costs
    return rations


def enough(full: float, centre: int) -> float:
    """Return what a user's items may cost before the user loses anything; 2 if nobody does."""
    m = centre / STEPS
    return (1 - m**2 * full) / (1 - 2 * m) if 2 * centre < STEPS else 2.0


@dataclass(frozen=True)
class Centring:
    """How the counts of a measurement are centred.

    Attributes:
        centre: m, in units of 1/STEPS; 0: they are not.
        sigma: σ of the number of users.
    """

    centre: int = 0
    sigma: float = math.inf

    @classmethod
    def of(cls, sigmas: Floats, least: float) -> "tuple[Centring, float]":
        """Return it for counts with such noise, and F of `centres`.

        The number of users is so noisy that the variance of the rarest of n counts grows by 1/√n of
        itself: with less noise it would cost more than it is worth, if the counts cost the same.

        Args:
            sigmas: of the counts that are measured.
            least: σ with which one count costs a ration.
        """
        costs, root = (least / sigmas) ** 2, math.sqrt(sigmas.size)
        full = float(costs.sum() + root * costs.max())
        centre = int(centres(np.array(full)))
        if not centre:
            return cls(), full
        return cls(centre, float(sigmas.min()) * STEPS / (centre * math.sqrt(root))), full

    @property
    def unit(self) -> int:
        """What centred counts are multiplied by, to be whole."""
        return STEPS if self.centre else 1

    def scaled(self, scale: float) -> "Centring":
        """Return the same with more noise, or less."""
        return Centring(self.centre, scale * self.sigma)

    def noise(self, sigmas: Floats) -> Floats:
        """Return σ of counts from which the centre has been taken off and put back."""
        return np.hypot(sigmas, self.centre / STEPS * self.sigma) if self.centre else sigmas


NOT_CENTRED = Centring()


@dataclass(frozen=True)
class Prices:
    """What parts of a ration a measurement takes of users.

    Attributes:
        whole: what the noise of each item costs somebody who moves it by one; 0: it is left out.
        users: the same of the number of users.
        items: what a user pays for each item that they have.
        base: what every user pays besides.
    """

    whole: Integers
    users: int
    items: Integers
    base: int

    @classmethod
    def of(cls, sigmas: Floats, rho: Fraction, centring: Centring = NOT_CENTRED) -> "Prices":
        """Return what counts with such noise take of a ration of ρ.

        Formal guarantee: with m = centre/STEPS, ``base`` and the ``items`` of any set of items add
        up to at least the sum over all items of whole·(1 − m)² if it is in the set and whole·m² if
        not, and ``users``. The base is at most RATION.

        Edge cases: as for `costs_of`; a base that is larger than a ration is refused too.
        """
        whole = costs_of(sigmas, rho)
        m = centring.centre
        if not m:
            return cls(whole, 0, whole, 0)
        (users,) = costs_of(np.array([centring.sigma]), rho).tolist()
        costs = whole.tolist()
        base = users + -(-(m**2) * sum(costs) // STEPS**2)
        items = [max(1, -(-(STEPS - 2 * m) * cost // STEPS)) if cost else 0 for cost in costs]
        if base > RATION:
            raise ValueError("items need more of a user than can be counted")
        return cls(whole, users, np.array(items, dtype=np.int64), base)


def costs_of(sigmas: Floats, rho: Fraction) -> Integers:
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
