"""Discrete Gaussian noise: proposals from a staircase, accepted exactly (sampling.md)."""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.sampling.blocks import LARGEST_SHAPE, QUARTERS, Staircase, staircase
from headcount.privacy.sampling.exponential import Floats, exp_bounds, exp_of_minus
from headcount.privacy.sampling.uniform import LazyUniform, WordSource, uniform_below

#: int64 where every value fits, and Python's integers elsewhere.
Noise = NDArray[Any]
Integers = NDArray[np.int64]

# Floats decide if they differ by more than this; otherwise integers do. Floats are off by less than
# 2^−31 (sampling.md), and one proposal in half a million is decided again, which costs nothing.
SLACK = 2.0**-20
# U is resolved into at least this many parts before it is compared in floats.
_LEAST_PARTS = 2**32
# Up to here proposals stay below 2^62.
_WIDEST_IN_WORDS = 2.0**58
# As many proposals at a time as a processor's caches hold.
_AT_ONCE = 2**13
_LEAST, _MOST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Law:
    """The discrete Gaussian of one σ, and the blocks that it is sampled from.

    Attributes:
        sigma: σ, exactly this float.
        width: w, how many integers a block has: block b has those from b·w to (b + 1)·w − 1.
        stairs: a staircase of a shape s with σ ≤ s·w.
    """

    sigma: float
    width: int
    stairs: Staircase

    @property
    def proposals_each(self) -> float:
        """About how many proposals a value takes: the staircase's area over that under the law."""
        stairs = 2 * self.width * float(self.stairs.ends[-1]) / self.stairs.unit
        return stairs / max(1.0, math.sqrt(2 * math.pi) * self.sigma)

    def accepts(self, x: int, block: int, whole: int, parts: int, rest: LazyUniform) -> bool:
        """Whether U = (whole + rest)/parts is below exp(−x²/(2σ²))/h_b, for the block b of x.

        Formal guarantee: this is exact for the real number U: bits of the rest are drawn until the
        answer is known, which ends with probability 1.
        """
        exponent = Fraction(x * x) / (2 * Fraction(self.sigma) ** 2)
        height = self.stairs.height(block)
        while True:
            step = height / (parts << rest.length)
            known = (whole << rest.length) + rest.bits
            # exp is bounded about as tightly as U·h, which is between known·step and one step more.
            bits = math.ceil(1 / step).bit_length()
            low, high = exp_bounds(exponent, bits)
            if (known + 1) * step <= Fraction(low, 1 << bits):
                return True
            if known * step >= Fraction(high, 1 << bits):
                return False
            rest.draw_more_bits()


# A mechanism asks for many values of a few σ, one after the other, or of a few hundred σ at once.
@lru_cache(maxsize=512)
def law_of(sigma: float) -> Law:
    """Return the law of a σ, with blocks that suit it."""
    if not 0 < sigma < math.inf:
        raise ValueError("σ must be a positive, finite number")
    exact = Fraction(sigma)
    width = math.ceil(exact / LARGEST_SHAPE)
    return Law(sigma, width, staircase(math.ceil(exact * QUARTERS / width)))


def add_noise(values: Sequence[int], sigma: float | Floats, source: WordSource) -> Integers:
    """Return each 64-bit integer plus discrete Gaussian noise of its own.

    Formal guarantee: the noises are independent, with exactly P[X = x] ∝ exp(−x²/(2σ²)), where σ is
    the exact value of the float, if the words of the source are independent and uniform.

    Edge cases: with no values, nothing is drawn. A sum that is not a 64-bit integer becomes the
    nearest one. This is done to the exact sum, so it is post-processing: noise alone is never
    clipped.

    Args:
        values: what noise is added to.
        sigma: one σ for all values, or an array with one for each.
        source: where words come from.

    Raises:
        ValueError: a σ is not a positive, finite number, or there are not as many σ as values.
        TypeError: a value is not a whole number.
    """
    # A number that is not whole is an error here; an array would truncate it silently.
    given = np.fromiter(map(operator.index, values), dtype=np.int64, count=len(values))
    if not isinstance(sigma, np.ndarray):
        noise = sample(given.size, sigma, source)
    elif sigma.shape == given.shape:
        noise = sample_each(sigma, source)
    else:
        raise ValueError("there must be one σ, or one for each value")
    if _reach(given) + _reach(noise) <= _MOST:
        return given + noise.astype(np.int64, copy=False)
    sums = (one + other for one, other in zip(given.tolist(), noise.tolist(), strict=True))
    return np.array([min(max(each, _LEAST), _MOST) for each in sums], dtype=np.int64)


def _reach(numbers: NDArray[Any]) -> int:
    """Return the largest distance of any of the numbers from 0, as a Python integer."""
    return max(-int(numbers.min()), int(numbers.max())) if numbers.size else 0


def sample(count: int, sigma: float, source: WordSource) -> Noise:
    """Return independent discrete Gaussian integers, each made from words of its own."""
    law = law_of(sigma)
    if sigma > _WIDEST_IN_WORDS:
        return np.array([_one_by_one(law, source) for _ in range(count)], dtype=object)
    drawn: list[Noise] = [np.zeros(0, dtype=np.int64)]
    missing = count
    while missing > 0:
        # A few more than are needed on average. Their number does not depend on how they turn out,
        # and those after the last one needed are dropped unseen.
        proposals = math.ceil(1.02 * law.proposals_each * missing) + 8
        x, accept = _proposed([law], [min(proposals, _AT_ONCE)], source)
        drawn.append(x[accept][:missing])
        missing -= drawn[-1].size
    return np.concatenate(drawn)


def sample_each(sigmas: Floats, source: WordSource) -> Noise:
    """Return independent discrete Gaussian integers, one for each σ, each from words of its own."""
    different, which = np.unique(sigmas, return_inverse=True)
    laws = [law_of(sigma) for sigma in different.tolist()]
    if sigmas.size and sigmas.max() > _WIDEST_IN_WORDS:
        return np.array([_one_by_one(laws[each], source) for each in which.tolist()], dtype=object)
    noise: Noise = np.zeros(sigmas.size, dtype=np.int64)
    # One proposal for each value that has none accepted yet, grouped by law.
    missing = np.argsort(which, kind="stable")
    while missing.size:
        present, numbers = np.unique(which[missing], return_counts=True)
        x, accept = _proposed([laws[each] for each in present.tolist()], numbers.tolist(), source)
        if x.dtype != noise.dtype:
            noise = noise.astype(object)
        noise[missing[accept]] = x[accept]
        missing = missing[~accept]
    return noise


def _proposed(
    laws: Sequence[Law], numbers: Sequence[int], source: WordSource
) -> tuple[Noise, NDArray[np.bool_]]:
    """Make proposals of each law from fresh words; return them and which are accepted."""

    def of_each(of_laws: Sequence[float]) -> NDArray[Any]:
        """Return a number for each proposal or, with one law, one for all, which is quicker."""
        return np.repeat(of_laws, numbers) if len(laws) > 1 else np.asarray(of_laws[0])

    number, ends = sum(numbers), np.cumsum(numbers)
    # One word gives the block, and one gives x, its sign and U = (whole + rest)/parts.
    first, second = source.words(2 * number).reshape(2, number)
    stairs = [law.stairs for law in laws]
    blocks = [
        np.searchsorted(each.ends, words, side="right").astype(np.int64, copy=False)
        for each, words in zip(stairs, np.split(first, ends[:-1]), strict=True)
    ]
    at = list(zip(stairs, blocks, strict=True))
    block = np.concatenate(blocks)
    tail = of_each([each.tail for each in stairs])
    width = of_each([law.width for law in laws])
    parts = [2**64 // (2 * law.width) for law in laws]
    places = np.asarray(2 * width, dtype=np.uint64)
    whole = second // places
    place = (second - whole * places).astype(np.int64)
    rests = source.words(number) if min(parts) < _LEAST_PARTS else None
    x = block * width + (place >> 1)
    negative = (place & 1).astype(np.bool_)
    # Beyond the last end there is no block, and 0 would come up twice. A word beyond all parts
    # gives a U of 1 or more, which is never accepted.
    possible = (block <= tail) & ~(negative & (x == 0))

    with np.errstate(over="ignore"):  # for a tiny σ; exp(−∞) is what it should be
        exponent = x / of_each([law.sigma for law in laws])
        exponent *= exponent
    exponent *= 0.5
    exponent -= np.concatenate([each.exponents[block] for each, block in at])
    lead = exp_of_minus(exponent)
    lead *= np.concatenate([each.shares[block] for each, block in at])
    uniform = whole.astype(np.float64)
    if rests is not None:
        uniform += rests * 2.0**-64
    uniform /= of_each([float(each) for each in parts])
    lead -= uniform
    accept = possible & (lead > SLACK)

    # Where floats cannot tell, and in the tail, integers and further words decide.
    unsure = possible & ((np.abs(lead) <= SLACK) | (block == tail))
    for j in np.flatnonzero(unsure).tolist():
        mine = int(np.searchsorted(ends, j, side="right"))
        law = laws[mine]
        beyond = _heads(source) if block[j] == law.stairs.tail else 0
        if beyond:
            x = x.astype(object)  # it may not fit
            x[j] += beyond * law.width
        rest = LazyUniform(int(source.words(1)[0] if rests is None else rests[j]), source)
        accept[j] = law.accepts(int(x[j]), int(block[j]) + beyond, int(whole[j]), parts[mine], rest)
    return np.where(negative, -x, x), accept


def _heads(source: WordSource) -> int:
    """Return how often a fair coin shows heads before it shows tails."""
    heads = 0
    while int(source.words(1)[0]) & 1:
        heads += 1
    return heads


def _one_by_one(law: Law, source: WordSource) -> int:
    """Return one value using integers alone, for a σ whose proposals do not fit into words."""
    while True:
        first, second, third = source.words(3).tolist()
        block = int(np.searchsorted(law.stairs.ends, np.uint64(first), side="right"))
        if block > law.stairs.tail:
            continue
        if block == law.stairs.tail:
            block += _heads(source)
        x, negative = block * law.width + uniform_below(law.width, source), bool(second & 1)
        if negative and x == 0:
            continue
        if law.accepts(x, block, 0, 1, LazyUniform(third, source)):
            return -x if negative else x
