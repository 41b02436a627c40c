"""Where the values of most users are: all from noisy histograms of users (sums.md).

Free of cost: nothing here sees data.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headcount.privacy.mechanisms.further.rations import MAGNITUDES, hidden_by

#: Every float is at least the first of these, and then come numbers in steps of 16 of their size.
ANYWHERE = (-sys.float_info.max, *(-size for size in MAGNITUDES[:0:-1]), *MAGNITUDES[1:])
# The bin that 0 is in.
_ZERO = len(MAGNITUDES) - 1
#: A range is looked at in so many parts of the same length,
PARTS = 16
#: and that is done so often at most. A part of a part of a part of 16^n to 16^(n + 1) is 15/4096 of
#: 16^n: years around 2000 are told apart, and dates in seconds to a fortnight.
CLOSER_LOOKS = 3
#: The share of what a quantity gets that goes to each histogram: a twentieth for all of them.
CENTRE_SHARE = Fraction(1, 20 * (1 + CLOSER_LOOKS))


@dataclass(frozen=True)
class Found:
    """What a histogram tells of where values are.

    Attributes:
        centre: a number that the middle values of about half of the users lie beyond.
        closer: the bounds to look at next; None if that would tell no more.
    """

    centre: float
    closer: tuple[float, ...] | None


def found_first(noisy: Sequence[int], sigma: float) -> Found:
    """Return where values are, from how many users have their middle value in each of ANYWHERE.

    Where nobody is seen, or more than a quarter of the users have no sign or the other one, the
    centre is 0.
    """
    seen = _quartiles(noisy, sigma)
    if seen is None or seen[0] <= _ZERO <= seen[2]:
        return Found(0.0, None)
    return _found_in(ANYWHERE, seen)


def found_closer(
    bounds: Sequence[float], before: float, noisy: Sequence[int], sigma: float
) -> Found:
    """Return where values are, from a closer look at some bounds, and the centre found before."""
    seen = _quartiles(noisy, sigma)
    if seen is None or not 0 < seen[1] <= PARTS:  # nobody within the range that was found
        return Found(before, None)
    return _found_in(bounds, seen)


def _found_in(bounds: Sequence[float], quartiles: tuple[int, int, int]) -> Found:
    """Return what follows if the quartiles are in these bins.

    Of the range of the middle one, the centre is the end that is nearer to 0, so that it takes
    nothing off in vain. If no other quartile is in that range, values are spread farther than it
    is wide, and a closer look would not help.
    """
    first, middle, last = quartiles
    low, high = (*bounds, sys.float_info.max)[middle : middle + 2]
    centre = low if low > 0 else high
    if middle not in (first, last) or high - low > MAGNITUDES[-1]:
        return Found(centre, None)
    step = (high - low) / PARTS
    return Found(centre, (ANYWHERE[0], *(low + place * step for place in range(PARTS)), high))


def _quartiles(noisy: Sequence[int], sigma: float) -> tuple[int, int, int] | None:
    """Return the bins with the quartiles of users, of those in bins that stand out of the noise."""
    limit = hidden_by(sigma, len(noisy))
    users = np.cumsum([number if number > limit else 0 for number in noisy])
    if not users[-1]:
        return None
    first, middle, last = (int(np.argmax(4 * users >= part * users[-1])) for part in (1, 2, 3))
    return first, middle, last
