"""What counts cost users, as parts of a ration, and how far the counts are centred.

A count can be measured as its distance from m times the number of users, for any public m. A user
moves that by 1 − m if they have the item and by −m if they do not. So a user with all items pays
(1 − m)² of the price without centring, and everybody pays m² of it for the items they lack. The
number of users is measured once, along with the counts. `rationed.md` proves what this costs.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headcount.privacy.mechanisms.rationed.sizes import Floats
from headcount.privacy.questions import RATION, Integers

#: m is rounded down to a multiple of 1/STEPS, which lowers what users can afford by 1.6 % at most.
STEPS = 64
# Costs are rounded up to whole parts of a ration. With this margin the base of a million of them
# still fits into one ration.
_ROUNDING = 1 + 1e-5


def centres(full: Floats) -> Integers:
    """Return the m, in units of 1/STEPS, with which users can afford the most without loss.

    A user whose items cost C needs m²F + (1 − 2m)·C rations. With m = ½ that is at most 1 for
    everybody if F ≤ 4. Otherwise the largest possible C is reached where m·(1 − m)·F = 1.

    Args:
        full: F, in rations: the cost of all items, plus that of the number of users divided by m².
    """
    exact = (1 - np.sqrt(np.maximum(1 - 4 / (_ROUNDING * full), 0.0))) / 2
    return np.floor(STEPS * exact).astype(np.int64)


def needed(costs: Floats, full: Floats | float, centre: Integers | int) -> Floats:
    """Return how many rations users need, given what their items cost and the centre."""
    m = np.asarray(centre) / STEPS
    rations: Floats = m**2 * full + (1 - 2 * m) * costs
    return rations


def enough(full: float, centre: int) -> float:
    """Return what a user's items may cost before the user loses anything; 2 if nobody loses."""
    m = centre / STEPS
    return (1 - m**2 * full) / (1 - 2 * m) if 2 * centre < STEPS else 2.0


@dataclass(frozen=True)
class Centring:
    """How the counts of a measurement are centred.

    Attributes:
        centre: m, in units of 1/STEPS; 0 if the counts are not centred.
        sigma: σ of the number of users.
    """

    centre: int = 0
    sigma: float = math.inf

    @classmethod
    def of(cls, sigmas: Floats, least: float) -> "tuple[Centring, float]":
        """Return the centring for counts with such noise, and F as in `centres`.

        The number of users gets enough noise to raise the variance of the rarest of n counts by a
        fraction 1/√n. With less noise it would cost more than it is worth, if all counts cost the
        same.

        Args:
            sigmas: σ of the counts that are measured.
            least: σ at which one count costs a ration.
        """
        costs, root = (least / sigmas) ** 2, math.sqrt(sigmas.size)
        full = float(costs.sum() + root * costs.max())
        centre = int(centres(np.array(full)))
        if not centre:
            return cls(), full
        return cls(centre, float(sigmas.min()) * STEPS / (centre * math.sqrt(root))), full

    @property
    def unit(self) -> int:
        """The factor that makes centred counts whole numbers."""
        return STEPS if self.centre else 1

    def scaled(self, scale: float) -> "Centring":
        """Return the same centring with σ scaled."""
        return Centring(self.centre, scale * self.sigma)

    def noise(self, sigmas: Floats) -> Floats:
        """Return σ of counts after the noisy centre is added back."""
        return np.hypot(sigmas, self.centre / STEPS * self.sigma) if self.centre else sigmas


NOT_CENTRED = Centring()


@dataclass(frozen=True)
class Prices:
    """What a measurement costs users, as parts of a ration.

    Attributes:
        whole: what each item's noise costs a user who moves its count by one; 0 if it is left out.
        users: the same for the number of users.
        items: what a user pays for each item that they have.
        base: what every user pays in addition.
    """

    whole: Integers
    users: int
    items: Integers
    base: int

    @classmethod
    def of(cls, sigmas: Floats, rho: Fraction, centring: Centring = NOT_CENTRED) -> "Prices":
        """Return what counts with such noise cost, as parts of a ration of ρ.

        Formal guarantee: with m = centre/STEPS, ``base`` and the ``items`` of any set of items add
        up to at least ``users`` plus the sum over all items of whole·(1 − m)² for those in the set
        and whole·m² for the others. The base is at most RATION.

        Edge cases: as for `costs_of`; a base larger than a ration is refused too.
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
            raise ValueError("centring these items costs each user more than a ration")
        return cls(whole, users, np.array(items, dtype=np.int64), base)


def costs_of(sigmas: Floats, rho: Fraction) -> Integers:
    """Return what each item costs a user, as a part of a ration of ρ, rounded up; 0 if σ is ∞.

    Edge cases: an item that alone exceeds the ration is a bug in the caller, which must not ask for
    less noise than `sigma_for` a whole ration; so are costs whose sum does not fit in 64 bits.
    """
    share = RATION / (2 * rho)

    def cost(sigma: float) -> int:
        if math.isinf(sigma):
            return 0
        numerator, denominator = sigma.as_integer_ratio()  # thousands of fractions are slow
        return -(-share.numerator * denominator**2 // (share.denominator * numerator**2))

    each = list(map(cost, sigmas.tolist()))
    if max(each, default=0) > RATION or sum(each) >= 2**63:
        raise ValueError("an item costs more than a ration, or the costs do not fit in 64 bits")
    return np.array(each, dtype=np.int64)
