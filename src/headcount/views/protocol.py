"""What a mechanism may ask about who has what, in whole numbers. The answers are private."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

#: The unit of a contribution in `clipped_sums` and `lost`: a whole user counts for this much.
GRID = 2**10
#: What a user's costs may add up to before the user counts for less than one.
RATION = 2**40


class Population(Protocol):
    """Distinct pairs of users and items, and the items that have been found so far.

    What has been found is public, and is known to a population by the order it was found in.
    """

    def sizes(self, at_least: Sequence[int]) -> list[int]:
        """How many users have at least so many items that are not found yet, for each bound."""

    def weights(self, unit: int, most_items: int, at_least: int) -> Integers:
        """For items not found yet, in an order of its own, the sum of their users' weights.

        A user with n such items gives ⌊√(unit² // n)⌋ to each of them, or nothing at all if n
        exceeds ``most_items``. Each weight is a whole number before it is added. Sums below
        ``at_least``, which is 1 or more, are left out.
        """

    def found(self, places: Sequence[int]) -> None:
        """Add items, given by their places in the last answer of `weights`, to those found."""

    def clipped_sums(self, costs: Integers) -> Integers:
        """For each found item, the sum of its users' shares.

        The costs of a user's items add up to C; the share of the user in each of them is the
        largest whole number a ≤ GRID with a²·C ≤ GRID²·RATION, which is
        ⌊√min(GRID², GRID²·RATION // C)⌋. Items of cost 0 get 0. All costs together are below
        2⁶³, so C must be added in whole numbers of 64 bits, not in floating point.
        """

    def lost(self, costs: Integers, among: NDArray[np.bool_], most: int) -> int:
        """Return the sum over users of (GRID − a)·t, at most ``most`` each.

        a is as in `clipped_sums`, and t counts the user's items ``among`` those of some cost.
        """
