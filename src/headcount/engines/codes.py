"""Rows of users and items as pairs of whole numbers, streamed out of the engine that holds them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The bits of a key that may be used: it is a 64-bit integer that is never below 0.
_MOST_BITS = 63


def bits_for(number: int) -> int:
    """Return how many bits the codes 0 to ``number`` − 1 take."""
    return max(number - 1, 0).bit_length()


@dataclass(frozen=True)
class Division:
    """Some of the users, with all rows of theirs.

    Attributes:
        users: how many codes of users there are; they begin at 0 in every division.
        keys: one key for each row, in any order and as often as the row is there: the code of the
            user above the bits of the code of the item.
    """

    users: int
    keys: Iterator[NDArray[np.int64]]


@dataclass(frozen=True)
class CodedRows:
    """Rows as codes: equal values have equal codes, and different values different ones.

    Codes are not hashes.

    Attributes:
        items: a table on the engine with the item columns and their codes.
        number: the column of the codes. They rise with the items, in the engine's own order.
        number_of_items: how many there are; the codes are 0 and up.
        divisions: all users, each in one division, to be gone through once and in this order.
    """

    items: Any
    number: str
    number_of_items: int
    divisions: Iterator[Division]

    @property
    def item_bits(self) -> int:
        """How many bits of a key are the item's."""
        return bits_for(self.number_of_items)


def fits(users: int, items: int) -> bool:
    """Whether a key holds such codes."""
    return bits_for(users) + bits_for(items) <= _MOST_BITS
