"""What a mechanism may ask about who has what, in whole numbers. The answers are private."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

#: The unit of a contribution in `clipped_sums` and `lost`: a whole user counts for this much.
GRID = 2**10
#: What a user's costs may add up to before the user counts for less than one.
RATION = 2**40

# Whole numbers in place of amounts; sums.md says why they are as large as this.
#: The largest amount that is expected of a user and an item becomes this.
EXPECTED = 2**32
#: No row counts for more than this, however large its value.
LARGEST_VALUE = 2**40
#: No user counts for more rows of an item than this, so that EXPECTED times them stays in 64 bits.
MOST_ROWS = 2**29
#: No amount of a user for an item is larger than this, once it is divided by the item's divisor.
LARGEST_AMOUNT = 2**34
#: No ration is larger than this: amounts of 2³³ users, more than there are people, fit in 64 bits.
LARGEST_RATION = 2**30
#: The unit of the factor that a user's amounts are scaled by, as a power of two.
FACTOR_BITS = 16


class Sensitivity:
    """How far one user, added or removed, moves an answer at most: the square of the l2 norm.

    Mechanisms compare what they are about to charge with this, given the very arguments that they
    ask with (`accounting.gaussian.ensure_covers`).
    """

    @staticmethod
    def users_in_bins() -> int:
        """Of histograms of users, as differences of neighbouring bounds: a user is in one bin."""
        return 1

    @staticmethod
    def users() -> int:
        """Of each number of `Everybody`: a user is counted once, or not."""
        return 1

    @staticmethod
    def weights(unit: int) -> int:
        """Of `weights`: n weights of at most ⌊√(unit² // n)⌋ each."""
        return unit**2

    @staticmethod
    def clipped_sums() -> int:
        """Of `clipped_sums`: (base + the costs of the user's items)·share², whatever these are."""
        return GRID**2 * RATION

    @staticmethod
    def lost(most: Sequence[int]) -> int:
        """Of `lost`: each feature by its own bound."""
        return sum(each**2 for each in most)

    @staticmethod
    def scaled_sums(ration_squared: int) -> int:
        """Of `Amounts.scaled_sums`: each user's amounts have at most this squared norm."""
        return ration_squared

    @staticmethod
    def bounded_counts(max_items_per_user: int) -> int:
        """Of `bounded_counts`: so many counts by 1 each."""
        return max_items_per_user


@dataclass(frozen=True)
class ItemWeights:
    """The answer of `Population.weights`: a weight for each of some items that are not found yet.

    Attributes:
        values: the weights, in an order of the population's own.
        items: the items in the same order, in a form that only the population itself knows.
    """

    values: Integers
    items: Any


@dataclass(frozen=True)
class ClippedSums:
    """The answer of `Population.clipped_sums`.

    Attributes:
        items: for each found item, the sum of its users' shares.
        users: the sum of the shares of all users, whatever they have; 0 if there is no base.
    """

    items: Integers
    users: int


class Population(Protocol):
    """Distinct pairs of users and items, and the items that have been found so far.

    What has been found is public, and is known to a population by the order it was found in.
    """

    def sizes(self, at_least: Sequence[int]) -> list[int]:
        """How many users have at least so many items that are not found yet, for each bound."""

    def weights(self, unit: int, max_items_per_user: int, at_least: int) -> ItemWeights:
        """For items not found yet, the sum of their users' weights.

        A user with n such items gives ⌊√(unit² // n)⌋ to each of them, or nothing at all if n
        exceeds ``max_items_per_user``. Each weight is a whole number before it is added. Sums below
        ``at_least``, which is 1 or more, are left out.
        """

    def found(self, weights: ItemWeights, places: Sequence[int]) -> None:
        """Add items to those found: the ones at these places of an answer of `weights`."""

    def clipped_sums(self, costs: Integers, base: int = 0) -> ClippedSums:
        """For each found item, the sum of its users' shares; with a base also that of all users.

        C is ``base``, which is at most RATION, and the costs of a user's items; the share of the
        user in each of them is the largest whole number a ≤ GRID with a²·C ≤ GRID²·RATION, which is
        ⌊√min(GRID², GRID²·RATION // C)⌋. Items of cost 0 get 0. All costs together with the base
        are below 2⁶³, so C must be added in whole numbers of 64 bits, not in floating point.
        """

    def losers(
        self, costs: Integers, weights: Integers, at_least: Sequence[int], base: int = 0
    ) -> list[int]:
        """How many users lose at least so much, for each bound, which is 1 or more.

        A user loses (GRID − a)·Σ weight over their items of some cost, with a as in
        `clipped_sums`. Weights are not negative.
        """

    def lost(
        self, costs: Integers, features: Sequence[Integers], most: Sequence[int], base: int = 0
    ) -> list[int]:
        """For each feature, the sum over users of what they lose of it.

        That is (GRID − a)·Σ feature over the user's items of some cost, with a as in
        `clipped_sums`, and between −m and m of one user, m being the feature's ``most``.
        """


class NamedCounts(Protocol):
    """Counts of items: true ones, private; in an order that the view has."""

    @property
    def values(self) -> Integers:
        """The counts."""

    @property
    def users(self) -> int | None:
        """How many users there are, if that was asked for and can be had.

        Sensitivity: one more user raises it by exactly 1, if any count moves.
        """

    def named(self, positions: Integers) -> Any:  # noqa: ANN401 (as the view has names)
        """Return the names of items that are released, one row each."""


class Pairs(Population, Protocol):
    """A population that knows its items by their names."""

    def highest_counts(self, limit: int) -> NamedCounts:
        """Return the highest ``limit`` counts of distinct users, of the same snapshot."""

    def found_named(self, positions: Integers) -> Any:  # noqa: ANN401
        """Return the names of found items, given by their places among those found."""


class Everybody(Protocol):
    """All users who have an item, by their exact ids."""

    def users(self) -> int:
        """How many there are."""

    def with_other_items(self, released: Any) -> int:  # noqa: ANN401 (as the view has names)
        """How many have an item that is none of those released, which are public."""


@dataclass(frozen=True)
class Quantity:
    """What is added up for each user and item.

    Attributes:
        kind: rows, rows with a value in a column, or the values themselves.
        column: the column; None for rows.
        bounds: what values are clipped to, if that was given.
        centre: what is taken off each value.
    """

    kind: Literal["rows", "present", "sum"]
    column: str | None = None
    bounds: tuple[float, float] | None = None
    centre: float = 0.0

    @property
    def words(self) -> str:
        """What it is, for people."""
        if self.kind == "rows":
            return "rows"
        return f"{'values' if self.kind == 'sum' else 'rows with a value'} of {self.column}"


@dataclass(frozen=True)
class Ration:
    """How large a user's amounts may be together: their l2 norm is at most 2^(shift + bits/2).

    Attributes:
        shift: norms are computed in units of 2^shift, rounded up, so that they fit in 64 bits.
        bits: of the largest squared norm in these units.
    """

    shift: int
    bits: int

    @property
    def squared(self) -> int:
        """The largest squared norm that is left as it is."""
        return 1 << (2 * self.shift + self.bits)

    @staticmethod
    def shift_for(items: int) -> int:
        """Return the least shift with which the squared norm of so many items is below 2⁶³."""
        shift = 0
        while items * max(1, LARGEST_AMOUNT // 2**shift) ** 2 >= 2**63:
            shift += 1
        return shift


class Amounts(Protocol):
    """What each user has of each item: whole numbers, of one snapshot with everything else.

    A value is finite, or it is none: NULL, NaN and infinities count for nothing. Nor do rows of
    items that were not released. Which were is public when this is asked, so that each user is in
    one bin of what `magnitudes`, `middles` and `norms` count, or in none.
    """

    def magnitudes(
        self,
        quantity: Quantity,
        released: Any,  # noqa: ANN401 (as the view has names)
        at_least: Sequence[float],
    ) -> list[int]:
        """How many users may have at least so much of a released item, for each bound.

        A user may have as much as the rows of the item, MOST_ROWS of them at most, times how far
        the value farthest from 0 is, clipped and with the centre taken off: or rows, if these are
        what is added up. Rows without a value do not count, nor do users who have no others.
        """

    def middles(
        self,
        quantity: Quantity,
        released: Any,  # noqa: ANN401 (as the view has names)
        at_least: Sequence[float],
    ) -> list[int]:
        """How many users' middle value is at least so large, for each bound.

        It is that of all values of the user, over all released items, clipped: the lower one of the
        two in the middle, if their number is even. Users without a value do not count.
        """

    def measure(
        self,
        quantities: Sequence[Quantity],
        grids: Sequence[float],
        released: Any,  # noqa: ANN401 (as the view has names)
        divisors: Integers,
    ) -> None:
        """Fix, for each released item and each user who has it, whole numbers for some quantities.

        Each value, clipped and with the centre taken off, becomes the nearest multiple of its grid,
        a power of two, and at most LARGEST_VALUE of them; these are added exactly. Where rows are
        added up, the grid is from 1/EXPECTED to 1, and a row becomes 1/grid. What comes out
        is divided by the item's divisor, to the nearest whole number, and is at most
        LARGEST_AMOUNT.
        """

    def norms(self, place: int, shift: int, at_least: Sequence[int]) -> list[int]:
        """How many users' amounts have at least so large a squared norm, for each bound.

        It is of the quantity at a place of those measured, and the sum over the user's items of
        ⌈|amount| / 2^shift⌉². Users who have a released item are counted.
        """

    def scaled_sums(self, place: int, ration: Ration) -> Integers:
        """For each released item, the sum of its users' amounts, each user's scaled into a ration.

        With C the squared norm of `norms`, and F = 2^FACTOR_BITS, a user's factor is a whole number
        a ≤ F with a²·C ≤ F²·2^bits, and what counts of an amount is a·amount / F, rounded toward 0.
        """


class DataView(Protocol):
    """What a mechanism may have of the data. Which of these it asks for, it asks for once."""

    @property
    def several_passes(self) -> bool:
        """Whether `pairs` can be had."""

    def highest_counts(self, limit: int, *, with_users: bool = False) -> NamedCounts:
        """Return the highest ``limit`` counts of distinct users, in falling order.

        Sensitivity: one more user raises any set of the counts by exactly 1 and lowers none.

        Args:
            limit: how many.
            with_users: whether `NamedCounts.users` is wanted too, of the same rows.
        """

    def bounded_counts(self, max_items_per_user: int, at_least: int) -> NamedCounts:
        """Return the counts when only so many items of each user count; low ones are left out.

        Sensitivity: one more user raises at most ``max_items_per_user`` of them by 1 and lowers
        none. Their order depends on the names of the items only.
        """

    def pairs(self) -> Pairs:
        """Return who has what, of one snapshot."""

    def known_pairs(self) -> tuple[Pairs, int, int]:
        """Return who has which items of a public list, all of them found.

        And how many items there are, and how many of them one user can have at most.

        Rows about other items have no influence on any answer.
        """


class SnapshotView(DataView, Protocol):
    """A view that answers everything from one state of the data."""

    def everybody(self) -> Everybody:
        """Return all users."""

    def amounts(self) -> Amounts:
        """Return what each user has of each item."""
