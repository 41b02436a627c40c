"""How precisely each found item is measured, and what follows from tests and measurements.

All of this is free: it looks at noisy values that were paid for, and decides what is bought next.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The share of counts that should be within the target error: a little above the 90 % that are
#: asked for, since the last items are known least.
WITHIN = 0.925
# Items with more users are measured more closely, by this power of how many more; no item gets less
# than a share of its precision from the measurement. Both measured (vetting.md, "What was
# measured").
_CLOSER, _LEAST = 0.25, 0.3


@dataclass(frozen=True)
class Precisions:
    """The precision that is bought, as 1 over the variance of a count; each costs an eighth of it.

    Attributes:
        items: that of each item's count.
        users: that of half the number of users, which all items share.
    """

    items: Floats
    users: float

    @property
    def cost(self) -> float:
        """ρ of all of it, apart from rounding."""
        return (float(self.items.sum()) + self.users) / 8


def precisions_for(counts: Floats, known: Floats, users_known: float, r: float) -> Precisions:
    """Return the precisions that bring `WITHIN` of the items within the target error r.

    Args:
        counts: what is believed about the counts.
        known: the precision that each has already.
        users_known: that of half the number of users.
        r: the target relative error.
    """
    low, high = 0.3 * r, r
    for _ in range(12):
        aim = (low + high) / 2
        bought, errors = _for_aim(counts, known, users_known, aim)
        within = float(_within(r / errors).mean())
        low, high = (aim, high) if within > WITHIN else (low, aim)
    return bought


def _for_aim(
    counts: Floats, known: Floats, users_known: float, aim: float
) -> tuple[Precisions, Floats]:
    """Return what gives the rarest item the relative error ``aim``, and all relative errors.

    An error f·h of half the number of users is common to all items; f² = aim²/(1 + √n) costs the
    least overall, with n the number of items in units of the rarest one's cost.
    """
    rarest = float(counts.min())
    number = float(((rarest / counts) ** 2).sum())
    users = max(0.0, (1 + math.sqrt(number)) / (aim * rarest) ** 2 - users_known)
    common = 1 / (users_known + users)
    own = math.sqrt(max(aim**2 - common / rarest**2, aim**2 / 4))
    goal = (own * counts * (rarest / counts) ** _CLOSER) ** -2
    items = np.maximum(goal - known, _LEAST * goal)
    return Precisions(items, users), np.sqrt(1 / (items + known) + common) / counts


_GRID = np.linspace(0, 6, 601)
_ERF = np.array([math.erf(x / math.sqrt(2)) for x in _GRID])


def _within(bounds: Floats) -> Floats:
    """Return the chance that a standard normal is within each bound of 0."""
    shares: Floats = np.interp(bounds, _GRID, _ERF)
    return shares


#: How many items on either side, by their tests, determine what a test is worth.
NEIGHBOURS = 40
# Measured coverage requires this much more than the formula (vetting.md).
_WIDER = 1.05


def combined(
    tests: Floats, test_sigmas: Floats, noisy: Floats, sigmas: Floats
) -> tuple[Floats, Floats]:
    """Return estimates from tests, which chose the items, and from fresh noisy counts.

    An item that passes a test has been lucky with its noise. What a test is worth is therefore read
    off the fresh counts of items with similar tests: where these lie relative to the tests, and how
    far they spread around that (empirical Bayes, as in estimate.md).
    """
    order = np.argsort(-tests, kind="stable")
    scale = np.maximum(tests[order], 1.0)
    ratios, variances = noisy[order] / scale, (sigmas[order] / scale) ** 2
    prior = (test_sigmas[order] / scale) ** 2
    spread, expected, weights = prior, ratios, ratios
    for _ in range(3):
        weights = 1 / (variances + spread)
        expected = around(ratios * weights) / around(weights)
        # The noisier an item, the less what it says about the spread is worth.
        worth = (prior / (prior + variances)) ** 2
        excess = around(((ratios - expected) ** 2 - variances) * worth)
        seen = np.maximum(around(worth) - worth, 0.0)
        spread = np.maximum((excess + 10 * prior) / (seen + 10), prior / 9)
    drawn = variances / (variances + spread)
    error = drawn * spread + drawn**2 / around(weights)
    estimates, errors = np.empty(tests.size), np.empty(tests.size)
    estimates[order] = (ratios + drawn * (expected - ratios)) * scale
    errors[order] = np.minimum(_WIDER * np.sqrt(error) * scale, sigmas[order])
    return estimates, errors


def around(values: Floats) -> Floats:
    """Return sums over each item's neighbours and itself."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    places = np.arange(values.size)
    last = np.minimum(places + NEIGHBOURS + 1, values.size)
    return sums[last] - sums[np.maximum(places - NEIGHBOURS, 0)]
