"""Ask the sampler what it makes of one proposal whose words are written down."""

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from headcount.privacy.sampling.gaussian import sample

#: A first word beyond all blocks: such a proposal is never accepted.
NO_BLOCK = 2**64 - 1


class Rejected(Exception):
    """The sampler asks for another round of proposals: the first one was not accepted."""


class OneProposal:
    """A source whose first proposal has given words; all others of its round are in no block.

    Further words come as they are asked for, the first of them at once if σ is so wide that a
    proposal has three words.
    """

    def __init__(self, first: int, second: int, more: Iterable[int]) -> None:
        self.words_of_it, self.more, self.round = (first, second), iter(more), 0

    def words(self, count: int):
        if not self.round:
            self.round = count // 2
            given = np.full((2, self.round), NO_BLOCK, dtype=np.uint64)
            given[:, 0] = self.words_of_it
            return given.reshape(-1)
        if count == 2 * self.round:
            raise Rejected
        assert count in (1, self.round)
        given = np.zeros(count, dtype=np.uint64)
        given[0] = next(self.more)
        return given


def outcome(sigma: float, first: int, second: int, more: Iterable[int] = ()) -> int | None:
    """The value that a proposal of these words becomes, or None if it is rejected."""
    try:
        (value,) = sample(1, sigma, OneProposal(first, second, more)).tolist()
    except Rejected:
        return None
    return value


def words_of(fraction: Fraction) -> Iterator[int]:
    """The bits of a number from 0 to 1, in words, without end."""
    while True:
        fraction *= 2**64
        yield math.floor(fraction)
        fraction -= math.floor(fraction)


def least(is_so, below: int) -> int:
    """The least number from which on something is so, or the bound if it never is."""
    low, high = 0, below
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_so(middle) else (middle + 1, high)
    return low
