"""Where most users' values lie, found in noisy histograms of users (sums.md).

No privacy cost: nothing here sees data.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headcount.privacy.mechanisms.further.rations import MAGNITUDES, hidden_by

#: Bounds of bins. Every float is at least the first; the others, on either side of 0, are a factor
#: of 16 apart.
ANYWHERE = (-sys.float_info.max, *(-size for size in MAGNITUDES[:0:-1]), *MAGNITUDES[1:])
# The bin that 0 is in.
_ZERO = len(MAGNITUDES) - 1
#: A range is divided into this many parts of the same length,
PARTS = 16
#: at most this many times. A part of a part of a part of 16^n to 16^(n + 1) is 15/4096 of 16^n:
#: years around 2000 are told apart, and dates in seconds to within a fortnight.
CLOSER_LOOKS = 3
#: The share of what a quantity gets that goes to each histogram: a twentieth for all together.
CENTRE_SHARE = Fraction(1, 20 * (1 + CLOSER_LOOKS))


@dataclass(frozen=True)
class Found:
    """What a histogram says about where values lie.

    Attributes:
        centre: a number beyond which the middle values of about half of the users lie.
        closer: the bounds to look at next; None if that would tell no more.
    """

    centre: float
    closer: tuple[float, ...] | None


def found_first(noisy: Sequence[int], sigma: float) -> Found:
    """Return where values lie, given how many users' middle values are in each bin of ANYWHERE.

    If nobody is seen, or more than a quarter of the users are in the bin of 0 or of the other sign,
    the centre is 0.
    """
    seen = _quartiles(noisy, sigma)
    if seen is None or seen[0] <= _ZERO <= seen[2]:
        return Found(0.0, None)
    return _found_in(ANYWHERE, seen)


def found_closer(
    bounds: Sequence[float], before: float, noisy: Sequence[int], sigma: float
) -> Found:
    """Return where values lie, from a closer look at some bounds and the centre found before."""
    seen = _quartiles(noisy, sigma)
    if seen is None or not 0 < seen[1] <= PARTS:  # nobody within the range that was found
        return Found(before, None)
    return _found_in(bounds, seen)


def _found_in(bounds: Sequence[float], quartiles: tuple[int, int, int]) -> Found:
    """Return what follows from the bins that the quartiles are in.

    The centre is the end nearer to 0 of the range of the middle one, so that nothing is subtracted
    in vain. If no other quartile is in that range, values are spread farther than it is wide, and a
    closer look would not help.
    """
    first, middle, last = quartiles
    low, high = (*bounds, sys.float_info.max)[middle : middle + 2]
    centre = low if low > 0 else high
    if middle not in (first, last) or high - low > MAGNITUDES[-1]:
        return Found(centre, None)
    step = (high - low) / PARTS
    return Found(centre, (ANYWHERE[0], *(low + place * step for place in range(PARTS)), high))


def _quartiles(noisy: Sequence[int], sigma: float) -> tuple[int, int, int] | None:
    """Return the bins of the quartiles of users, of those in bins above the noise."""
    limit = hidden_by(sigma, len(noisy))
    users = np.cumsum([number if number > limit else 0 for number in noisy])
    if not users[-1]:
        return None
    first, middle, last = (int(np.argmax(4 * users >= part * users[-1])) for part in (1, 2, 3))
    return first, middle, last
