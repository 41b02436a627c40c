"""Users with their items in an array, kept by an engine: one row for each user."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headcount.errors import EngineError


class GroupedUsers(ABC):
    """One row for each user, with all of their items in an array, each once.

    Attributes:
        table: an Ibis table with the one column ``items``: codes of items, whole numbers. Each row
            is a user's; a user who is left without items may have a row or none.
    """

    table: Any

    @abstractmethod
    def sums(self, values: Mapping[str, NDArray[np.int64]], error_prefix: str) -> Any:  # noqa: ANN401
        """Return the table with one more column for each name: a sum over the user's items.

        Args:
            values: what to add up, indexed by the items' codes, which must be places (see `only`).
            error_prefix: how the error begins if it fails.
        """

    @abstractmethod
    def only(self, codes: NDArray[np.int64], error_prefix: str) -> "GroupedUsers":
        """Keep only some items; from then on an item's code is its place among them."""

    @abstractmethod
    def without(self, codes: NDArray[np.int64], error_prefix: str) -> "GroupedUsers":
        """Keep all items except some."""


@dataclass(frozen=True)
class GroupedRows:
    """Rows of users and items, grouped by user.

    Attributes:
        users: who has what.
        items: an Ibis table with a row for each item: the item columns, and those below.
        code: the column of codes: equal items have equal codes, and different items different ones.
        rank: a column of whole numbers that increase with the items, in the engine's own order.
        count: the column with the number of users of an item.
    """

    users: GroupedUsers
    items: Any
    code: str
    rank: str
    count: str


def two_slots(codes: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return a table that holds each code's place in one of two slots.

    In a table of 2^b slots, a code's slots are at its lowest b bits and at the b bits from bit 32
    on. A lookup compares its own code with the code at the place it finds, so it does no harm that
    an empty slot says 0.
    """
    # Codes push one another to their other slot (cuckoo hashing). In a table that is at most half
    # full this ends soon for nearly all sets of codes that are hashes; for the rest, a larger table
    # helps. The largest has at least 512 slots for each code.
    least = max(codes.size, 1).bit_length() + 1
    for bits in range(least, least + 9):
        mask = np.uint64((1 << bits) - 1)
        whole = codes.view(np.uint64)
        slots = np.array([whole & mask, (whole >> np.uint64(32)) & mask], dtype=np.int64)
        owner = np.full(1 << bits, -1, dtype=np.int32)
        choice = np.zeros(codes.size, dtype=np.int8)
        left = np.arange(codes.size, dtype=np.int32)
        for _ in range(4 * bits):
            wanted = slots[choice[left], left]
            pushed = np.unique(owner[wanted])
            owner[wanted] = left  # if several want one slot, the last has it
            left = np.concatenate([left[owner[wanted] != left], pushed[pushed >= 0]])
            choice[left] ^= 1
            if not left.size:
                return np.maximum(owner, 0)
    raise EngineError("the hashes of some items collide in a lookup table; use another engine")
