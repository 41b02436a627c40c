"""Rows of users and items as pairs of whole numbers, streamed out of the engine that holds them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: How many bits of a key can be used: it is a 64-bit integer that is never below 0.
_MOST_BITS = 63


def bits_for(number: int) -> int:
    """Return how many bits the codes 0 to ``number`` − 1 take."""
    return max(number - 1, 0).bit_length()


@dataclass(frozen=True)
class Division:
    """Some of the users, with all of their rows.

    Attributes:
        users: the number of user codes, which begin at 0 in every division.
        keys: one key for each row, repeated rows included, in any order: the user's code above the
            bits of the item's code.
    """

    users: int
    keys: Iterator[NDArray[np.int64]]


@dataclass(frozen=True)
class CodedRows:
    """Rows as codes: equal values have equal codes, and different values different ones.

    Codes are not hashes.

    Attributes:
        items: a table on the engine with the item columns and their codes.
        number: the column of the codes. They increase with the items, in the engine's own order.
        number_of_items: how many there are; their codes count up from 0.
        divisions: all users, each in one division, to be iterated over once, in this order.
    """

    items: Any
    number: str
    number_of_items: int
    divisions: Iterator[Division]

    @property
    def item_bits(self) -> int:
        """How many bits of a key hold the item's code."""
        return bits_for(self.number_of_items)


def fits(users: int, items: int) -> bool:
    """Whether a key can hold the codes of this many users and items."""
    return bits_for(users) + bits_for(items) <= _MOST_BITS
