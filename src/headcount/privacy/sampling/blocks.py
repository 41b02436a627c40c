"""The staircase above a Gaussian from which proposals are drawn; all σ of a shape share one."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np

from headcount.privacy.sampling.exponential import Floats, exp_bounds, up
from headcount.privacy.sampling.uniform import Words

#: Shapes are rounded up to quarters, so that there are few of them and few proposals are lost.
QUARTERS = 4
#: A block is no narrower than σ/16, so that a staircase has fewer than 200 steps.
LARGEST_SHAPE = 16
# Fixed point for heights: the lowest is 2^−64, and rounding is off by less than 2^−180.
_BITS = 192


@dataclass(frozen=True)
class Staircase:
    """Heights h_b = H_b/c of blocks b = 0, 1, …, for a shape s.

    Formal guarantee: h_b ≥ exp(−(b/s)²/2) for every b ≥ 0, and the weights H_b of all blocks
    together are a whole number below 2^64.

    Attributes:
        unit: c.
        weights: H_b of the blocks below `tail`.
        ends: H_0 + … + H_b for each of those, and last the same plus the 2 units of the tail. A
            word falls into the block of the first end above it; beyond the last end, into none.
        exponents: (b/s)²/2; 0 for the tail and for no block.
        shares: exp(−(b/s)²/2)/h_b; 0 for the tail and for no block.
    """

    unit: int
    weights: list[int]
    ends: Words
    exponents: Floats
    shares: Floats

    @property
    def tail(self) -> int:
        """The first block of the tail, where h is 1/c and halves from each block to the next."""
        return len(self.weights)

    def height(self, block: int) -> Fraction:
        """Return h_b."""
        if block < self.tail:
            return Fraction(self.weights[block], self.unit)
        return Fraction(1, self.unit << block - self.tail)


@lru_cache
def staircase(quarters: int) -> Staircase:
    """Return the staircase of the shape s = ``quarters``/4 (sampling.md, "The staircase")."""
    # From b = 9.42·s on, exp(−(b/s)²/2) is at most 2^−64; from 0.6932·s² on, it at least halves
    # from each b to the next.
    tail = max(up(942 * quarters, 100 * QUARTERS), up(6932 * quarters**2, 10**4 * QUARTERS**2))
    # (b/s)²/2 = b²·z, and exp(−(b + 1)²·z) = exp(−b²·z)·exp(−(2b + 1)·z); all are rounded up.
    z = Fraction(QUARTERS**2, 2 * quarters**2)
    _, ratio = exp_bounds(z, _BITS)
    ratio_of_ratios = _product(ratio, ratio)
    above = [1 << _BITS]
    while len(above) < tail:
        above.append(_product(above[-1], ratio))
        ratio = _product(ratio, ratio_of_ratios)
    # Rounding up adds less than 1 to each weight; the tail has 2, and one word is left over.
    unit = ((2**64 - 3 - tail) << _BITS) // sum(above)
    weights = [up(unit * height, 1 << _BITS) for height in above]
    shares = [unit * h / (H << _BITS) for h, H in zip(above, weights, strict=True)]
    ends = list(accumulate(weights))
    return Staircase(
        unit=unit,
        weights=weights,
        ends=np.array([*ends, ends[-1] + 2], dtype=np.uint64),
        exponents=np.array([*(float(b**2 * z) for b in range(tail)), 0.0, 0.0]),
        shares=np.array([*shares, 0.0, 0.0]),
    )


def _product(one: int, other: int) -> int:
    """Return a product in fixed point, rounded up."""
    return up(one * other, 1 << _BITS)
