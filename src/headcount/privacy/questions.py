"""What a mechanism may ask about who has what; the answers are private whole numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.sensitivity import Together, Weighted

Integers = NDArray[np.int64]

#: The unit of a contribution in `clipped_sums` and `lost`: a whole user counts for this much.
GRID = 2**10
#: What a user's costs may add up to before the user counts for less than one.
RATION = 2**40

# Amounts become whole numbers; sums.md explains these sizes.
#: The largest amount expected of a user for an item becomes this.
EXPECTED = 2**32
#: No row counts for more than this, however large its value.
LARGEST_VALUE = 2**40
#: No more rows per user and item count than this, so that EXPECTED times it fits in 64 bits.
MOST_ROWS = 2**29
#: No amount of a user for an item exceeds this after division by the item's divisor.
LARGEST_AMOUNT = 2**34
#: The largest ration: sums over fewer than 2³³ users (8.6 billion) fit in 64 bits.
LARGEST_RATION = 2**30
#: A user's amounts are scaled by a whole multiple of 2 to the minus this.
FACTOR_BITS = 16


# The sensitivity of each answer to adding or removing one user. Mechanisms hand it to the gate with
# the question, computed from the same arguments that they ask with.

#: Of histograms of users, as differences between adjacent bounds: a user is in one bin.
USERS_IN_BINS = Together(1)
#: Of each number of `Everybody`: a user is counted once or not at all.
ONE_USER = Together(1)


def weights_norm(unit: int) -> Together:
    """Of `weights`: n weights of at most ⌊√(unit² // n)⌋ each."""
    return Together(unit**2)


def clipped_sums(costs: Integers, unit: int = 1) -> Weighted:
    """Of `clipped_sums` times a unit: (base + the costs of the user's items)·share² are limited.

    Args:
        costs: of moving each number of the answer by one user.
        unit: what the answer was multiplied with.
    """
    return Weighted(costs, unit**2 * GRID**2 * RATION)


def scaled_sums(ration_squared: int) -> Together:
    """Of `Amounts.scaled_sums`: the squared norm of each user's amounts is at most this."""
    return Together(ration_squared)


def bounded_counts(max_items_per_user: int) -> Together:
    """Of `bounded_counts`: at most this many counts move, by 1 each."""
    return Together(max_items_per_user)


@dataclass(frozen=True)
class ItemWeights:
    """The answer of `Population.weights`: the weights of some items that are not yet found.

    Attributes:
        values: the weights, in the population's own order.
        items: the items in the same order, in a form that only the population understands.
    """

    values: Integers
    items: Any


@dataclass(frozen=True)
class ClippedSums:
    """The answer of `Population.clipped_sums`.

    Attributes:
        items: for each found item, the sum of its users' shares.
        users: the sum of all users' shares, whichever items they have; 0 if there is no base.
    """

    items: Integers
    users: int


class Population(Protocol):
    """Distinct pairs of users and items, and the items that have been found so far.

    The found items are public, and are identified by the order in which they were found.
    """

    def sizes(self, at_least: Sequence[int]) -> list[int]:
        """For each bound, how many users have at least that many items not yet found."""

    def weights(self, unit: int, max_items_per_user: int, at_least: int) -> ItemWeights:
        """For items not yet found, the sum of their users' weights.

        A user with n such items gives ⌊√(unit² // n)⌋ to each of them, or nothing at all if n
        exceeds ``max_items_per_user``. Each weight is a whole number before it is added. Sums below
        ``at_least``, which is 1 or more, are left out.
        """

    def found(self, weights: ItemWeights, places: Sequence[int]) -> None:
        """Add the items at these positions of an answer of `weights` to those found."""

    def clipped_sums(self, costs: Integers, base: int = 0) -> ClippedSums:
        """For each found item, the sum of its users' shares; with a base, also that of all users.

        Let C be ``base``, which is at most RATION, plus the costs of a user's items. The user's
        share in each of them is the largest whole number a ≤ GRID with a²·C ≤ GRID²·RATION, which
        is ⌊√min(GRID², GRID²·RATION // C)⌋. Items of cost 0 get 0. All costs together with the base
        are below 2⁶³, so C must be added up in 64-bit integers, not in floating point.
        """

    def losers(
        self, costs: Integers, weights: Integers, at_least: Sequence[int], base: int = 0
    ) -> list[int]:
        """For each bound, which is 1 or more, how many users lose at least that much.

        A user loses (GRID − a)·Σ weight, over their items of nonzero cost, with a as in
        `clipped_sums`. Weights are not negative.
        """


class NamedCounts(Protocol):
    """True counts of items, which are private, in the view's order."""

    @property
    def values(self) -> Integers:
        """The counts."""

    @property
    def users(self) -> int | None:
        """The number of users, if it was asked for and is available.

        Sensitivity: one more user raises it by exactly 1, if any count moves.
        """

    def named(self, positions: Integers) -> Any:  # noqa: ANN401 (as the view has names)
        """Return the names of items that are released, one row each."""


class Pairs(Population, Protocol):
    """A population that knows its items by name."""

    def highest_counts(self, limit: int) -> NamedCounts:
        """Return the highest ``limit`` counts of distinct users, from the same snapshot."""

    def found_named(self, positions: Integers) -> Any:  # noqa: ANN401
        """Return the names of found items, given their positions among those found."""


class Everybody(Protocol):
    """All users who have an item, by their exact ids."""

    def users(self) -> int:
        """Return how many there are."""

    def with_other_items(self, released: Any) -> int:  # noqa: ANN401 (as the view has names)
        """Return how many have an item that is not among the released ones, which are public."""


@dataclass(frozen=True)
class Quantity:
    """What is added up for each user and item.

    Attributes:
        kind: rows, rows with a value in a column, or the values themselves.
        column: the column; None for rows.
        bounds: what values are clipped to, if bounds were given.
        centre: what is subtracted from each value.
    """

    kind: Literal["rows", "present", "sum"]
    column: str | None = None
    bounds: tuple[float, float] | None = None
    centre: float = 0.0

    @property
    def words(self) -> str:
        """A description for people."""
        if self.kind == "rows":
            return "rows"
        return f"{'values' if self.kind == 'sum' else 'rows with a value'} of {self.column}"


@dataclass(frozen=True)
class Ration:
    """The bound on a user's amounts: their l2 norm is at most 2^(shift + bits/2).

    Attributes:
        shift: norms are computed in units of 2^shift, rounded up, so that they fit in 64 bits.
        bits: log2 of the largest squared norm, in these units.
    """

    shift: int
    bits: int

    @property
    def squared(self) -> int:
        """The largest squared norm that is not scaled down."""
        return 1 << (2 * self.shift + self.bits)

    @staticmethod
    def shift_for(items: int) -> int:
        """Return the least shift for which the squared norm over that many items is below 2⁶³."""
        shift = 0
        while items * max(1, LARGEST_AMOUNT // 2**shift) ** 2 >= 2**63:
            shift += 1
        return shift


class Amounts(Protocol):
    """What each user has of each item: whole numbers, from the same snapshot as everything else.

    Only finite values count: NULL, NaN and infinities are no values. Rows of items that were not
    released do not count either. The released items are public when this is asked, so each user is
    in at most one bin of what `magnitudes`, `middles` and `norms` count.
    """

    def magnitudes(
        self,
        quantity: Quantity,
        released: Any,  # noqa: ANN401 (as the view has names)
        at_least: Sequence[float],
    ) -> list[int]:
        """For each bound, how many users may have at least that much of a released item.

        The most that a user may have of an item is the number of its rows, capped at MOST_ROWS;
        where values are added up, that times the largest distance from 0 of a value, clipped and
        minus the centre. Unless all rows are added up, only rows with a value count, and users who
        have none do not.
        """

    def middles(
        self,
        quantity: Quantity,
        released: Any,  # noqa: ANN401 (as the view has names)
        at_least: Sequence[float],
    ) -> list[int]:
        """For each bound, how many users' middle value is at least that large.

        It is the middle of all of the user's clipped values, over all released items: the lower of
        the two in the middle, if their number is even. Users without a value do not count.
        """

    def measure(
        self,
        quantities: Sequence[Quantity],
        grids: Sequence[float],
        released: Any,  # noqa: ANN401 (as the view has names)
        divisors: Integers,
    ) -> None:
        """Fix whole numbers for some quantities, for each released item and each user who has it.

        Each value, clipped and minus the centre, becomes the nearest whole number of steps of its
        grid, a power of two, and at most LARGEST_VALUE; these are added exactly. Where rows are
        added up, the grid is from 1/EXPECTED to 1, and a row becomes 1/grid. The sum is divided by
        the item's divisor, rounded to the nearest whole number, and is at most LARGEST_AMOUNT.
        """

    def norms(self, place: int, shift: int, at_least: Sequence[int]) -> list[int]:
        """For each bound, how many users' amounts have at least that large a squared norm.

        It is the norm of the quantity at position ``place`` of those measured: the sum over the
        user's items of ⌈|amount| / 2^shift⌉². Users who have a released item are counted.
        """

    def scaled_sums(self, place: int, ration: Ration) -> Integers:
        """For each released item, the sum of its users' amounts, each user's scaled into a ration.

        With C the squared norm of `norms`, and F = 2^FACTOR_BITS, a user's factor is a whole number
        a ≤ F with a²·C ≤ F²·2^bits, and an amount counts as a·amount / F, rounded toward 0.
        """


class DataView(Protocol):
    """What a mechanism may ask of the data. It asks for each of these at most once."""

    @property
    def several_passes(self) -> bool:
        """Whether `pairs` is available."""

    def highest_counts(self, limit: int, *, with_users: bool = False) -> NamedCounts:
        """Return the highest ``limit`` counts of distinct users, in descending order.

        Sensitivity: one more user can raise any set of the counts, each by exactly 1; none falls.

        Args:
            limit: how many.
            with_users: whether `NamedCounts.users` is wanted too, from the same rows.
        """

    def bounded_counts(self, max_items_per_user: int, at_least: int) -> NamedCounts:
        """Return the counts with a bound on the items of each user; low counts are left out.

        Sensitivity: one more user raises at most ``max_items_per_user`` of them by 1 and lowers
        none. Their order depends only on the names of the items.
        """

    def pairs(self) -> Pairs:
        """Return who has what, from one snapshot."""

    def known_pairs(self) -> tuple[Pairs, int, int]:
        """Return who has which items of a public list, all of them already found.

        Also return how many items the list has, and how many of them one user can have at most.
        Rows about other items have no influence on any answer.
        """


class SnapshotView(DataView, Protocol):
    """A view that answers everything from one state of the data."""

    def everybody(self) -> Everybody:
        """Return all users."""

    def amounts(self) -> Amounts:
        """Return what each user has of each item."""
