"""How large a user's amounts may be, and what that loses: from noisy histograms only (sums.md).

No privacy cost: nothing here sees data.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.gaussian import upper_quantile
from headcount.privacy.questions import EXPECTED, LARGEST_RATION, Ration

Floats = NDArray[np.float64]

#: Bounds of bins for how much a user may have of an item, from 0 up: in steps of a factor of 16,
#: over the range of a 32-bit float.
MAGNITUDES = (0.0, *(16.0**power for power in range(-31, 32)))
#: Bounds of bins for the squared norm of a user's amounts.
SQUARED_NORMS = (0, *(2**bits for bits in range(63)))
#: The chance that some empty bin of a histogram is taken for one with users in it. At a twentieth,
#: the worst of 60 releases of small values had a standard error 800 times the usual one.
_MISTAKEN = Fraction(1, 1000)
#: A tail ends where the chance of even one user in the rest of it is below this.
_NOBODY = 1 / 20
#: The share of users that remains from one bin of norms to the next in the heaviest tail that is
#: allowed for: that of a Pareto law with α = 1.25. With 1.5, and a tail from the last two bins
#: alone, intervals of amounts with α = 1.5 held 92 to 96 % of the time, in four runs of each kind.
HEAVIEST = 2**-0.625


def bins_of(at_least: Sequence[int]) -> list[int]:
    """Return how many users are in each bin, given how many are at or above each bound."""
    return [n - above for n, above in zip(at_least, [*at_least[1:], 0], strict=True)]


def hidden_by(sigma: float, bins: int) -> float:
    """Return how many users noise may hide in any of that many bins."""
    return sigma * upper_quantile(_MISTAKEN / bins)


def highest_seen(noisy: Sequence[int], sigma: float) -> int | None:
    """Return the highest bin with more users than noise alone would show in an empty one."""
    limit = hidden_by(sigma, len(noisy))
    return max((n for n, users in enumerate(noisy) if users > limit), default=None)


def grid_below(largest: float) -> float:
    """Return the power of two that, times EXPECTED, is at least the largest value."""
    return 2.0 ** (math.ceil(math.log2(largest)) - int(math.log2(EXPECTED)))


def grid_from(noisy: Sequence[int], sigma: float) -> float:
    """Return the grid for values, given how many users have their most in each of MAGNITUDES.

    If nobody is seen, it is the coarsest: the numbers may be anything, and the errors say so. With
    the finest, the amounts of too few users to be seen would add up to 0, without an error.
    """
    seen = highest_seen(noisy, sigma)
    place = len(noisy) - 1 if seen is None else seen
    return grid_below((*MAGNITUDES, 16.0 * MAGNITUDES[-1])[place + 1])


def divisors_for(users: Floats, errors: Floats) -> NDArray[np.int64]:
    """Return what the amounts of each item are divided by: proportional to √users, at least 64.

    All items then have the same noise, so that noise before division is proportional to how much a
    sum would vary with who happens to be there.
    """
    sizes = np.maximum(np.maximum(users, errors), 1.0)
    divisors: NDArray[np.int64] = np.rint(64 * np.sqrt(sizes / sizes.min())).astype(np.int64)
    return divisors


@dataclass(frozen=True)
class Chosen:
    """A ration, and what it loses, as far as noisy numbers show.

    Attributes:
        ration: how large a user's amounts may be together.
        lost: what is lost, as a share of what counts, by users in bins that are seen.
        unsure: the same share, including users whom noise may hide.
        spread: the variance of an item that comes from a few users losing much.
        hidden: how many users beyond the ration may be hidden by noise.
    """

    ration: Ration
    lost: float
    unsure: float
    spread: float
    hidden: float


def with_tail(noisy: Sequence[int], sigma: float, seen: int) -> Floats:
    """Return how many users are in each bin, and how many to expect in bins that noise hides.

    Beyond the last bin that is seen, users are taken to become fewer at the rate seen over the last
    one or two bins, whichever is slower, but no slower than HEAVIEST. No bin has more than its
    noisy number plus σ. The tail ends where one user in the rest of it is less likely than _NOBODY.
    """
    known = np.maximum(np.array(noisy, dtype=np.float64), 0.0)
    there = known[: seen + 1]
    last, ratio = float(there[-1]), 0.0
    for steps, before in enumerate(there[-2:-4:-1].tolist(), 1):
        ratio = max(ratio, (last / before) ** (1 / steps) if before else HEAVIEST)
    ratio = min(ratio, HEAVIEST)
    tail, users = [], float(there[-1])
    for found in known[seen + 1 :]:
        users = min(users * ratio, float(found) + sigma)
        if users / (1 - ratio) < _NOBODY:
            break
        tail.append(users)
    return np.concatenate([there, tail])


def ration_from(
    noisy: Sequence[int], sigma: float, users: Floats, shift: int, variance: float
) -> Chosen:
    """Choose the ration with the least error over all items together.

    If nobody is seen, it is the largest there is: amounts may be anything, and the errors say so.

    Args:
        noisy: how many users have a squared norm in each bin of SQUARED_NORMS.
        sigma: σ of their noise.
        users: how many users have each item.
        shift: that of the ration.
        variance: that of an item's noise, for a ration of 1.
    """
    items, hidden = users.size, hidden_by(sigma, len(noisy))
    seen = highest_seen(noisy, sigma)
    widest = 2 * int(math.log2(LARGEST_RATION)) - 2 * shift
    if seen is None:
        ration = Ration(shift, widest)
        return Chosen(ration, 0.0, 0.0, hidden * ration.squared / items, hidden)
    there = with_tail(noisy, sigma, seen)
    # The middle of a bin on a logarithmic scale: bin b goes from 2^(b − 1) to 2^b.
    norms = 2.0 ** ((np.arange(there.size) - 0.5) / 2 + shift)
    norms[0] = 0.0
    each = np.maximum(users, 1.0)
    # If what users lose is spread over items as users are, the sum over items of its square is this
    # share of the square of all that is lost: one user's norm counts √(items per user) times.
    per_user = each.sum() / max(there.sum(), 1.0)
    overlap = max(per_user, 1.0) * each.sum() / np.sqrt(each).sum() ** 2
    best = (math.inf, Chosen(Ration(shift, 0), 0.0, 0.0, 0.0, hidden))
    for bits in range(min(there.size - 1, widest) + 1):
        ration = Ration(shift, bits)
        limit = math.sqrt(ration.squared)
        over, within = np.maximum(norms - limit, 0.0), np.minimum(norms, limit)
        squares = float(there @ over**2)
        error = items * variance * limit**2 + overlap * float(there @ over) ** 2 + squares
        if error < best[0]:
            lost, unsure = (
                _share(float(there[:end] @ over[:end]), float(there[:end] @ within[:end]))
                for end in (seen + 1, there.size)
            )
            best = error, Chosen(ration, lost, unsure, squares / items, hidden)
    return best[1]


def _share(lost: float, kept: float) -> float:
    return lost / kept if kept else 0.0
