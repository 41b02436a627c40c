"""Users with their items in an array, kept by an engine: one row for each user."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headcount.errors import EngineError


class GroupedUsers(ABC):
    """One row for each user, with all items of theirs in an array, each once.

    Attributes:
        table: an Ibis table with the one column ``items``: codes of items, whole numbers. It has no
            rows but those of users, and a user who is left without items may have one or none.
    """

    table: Any

    @abstractmethod
    def sums(self, values: Mapping[str, NDArray[np.int64]], error_prefix: str) -> Any:  # noqa: ANN401
        """Return the table with one more column for each name: a sum over the user's items.

        Args:
            values: what is added up, by the codes of the items, which are places then (`only`).
            error_prefix: begins the error if it fails.
        """

    @abstractmethod
    def only(self, codes: NDArray[np.int64], error_prefix: str) -> "GroupedUsers":
        """Keep some items alone; from then on their codes are their places among these."""

    @abstractmethod
    def without(self, codes: NDArray[np.int64], error_prefix: str) -> "GroupedUsers":
        """Keep all items but some."""


@dataclass(frozen=True)
class GroupedRows:
    """Rows of users and items, each user's together.

    Attributes:
        users: who has what.
        items: an Ibis table, a row for each item: the item columns, and those below.
        code: the column with the codes: equal items have equal ones, and others have others.
        rank: a column of whole numbers that rise with the items, in the engine's own order.
        count: the column that says how many users an item has.
    """

    users: GroupedUsers
    items: Any
    code: str
    rank: str
    count: str


def two_slots(codes: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return a table in which each code has its place in one of two slots.

    A table of 2^b slots has the place of a code at its lowest b bits or at the b bits from bit 32
    on. Who asks compares the code at the place that is there with their own; an empty slot says 0,
    which is no harm then.
    """
    # Codes push one another to the other slot. In a table that is at most half full this ends soon,
    # for nearly all sets of codes that are hashes; a larger table parts those that it does not for.
    # The largest has 512 slots or more for each code.
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
            owner[wanted] = left  # of several that want one slot the last has it
            left = np.concatenate([left[owner[wanted] != left], pushed[pushed >= 0]])
            choice[left] ^= 1
            if not left.size:
                return np.maximum(owner, 0)
    raise EngineError("two items have the same hash; use another engine")
