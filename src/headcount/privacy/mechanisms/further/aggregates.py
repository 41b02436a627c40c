"""Rows, sums and means of what the users of an item have (sums.md)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from headcount.errors import SettingsError
from headcount.privacy.questions import MOST_ROWS, Quantity

#: Bounds are numbers within the range of a 32-bit float.
_LARGEST_BOUND, _LEAST_RANGE = 2.0**127, 2.0**-126
ROWS = "rows"


@dataclass(frozen=True)
class Aggregates:
    """What else is released about each item. Nothing in it is data.

    Attributes:
        rows: whether the number of rows is released.
        sums: the columns whose sums are released.
        means: the columns whose means are released.
        bounds: what the values of a column are clipped to.
        max_rows: how many rows per user and item count; None for all.

    Raises:
        SettingsError: what is asked for makes no sense.
    """

    rows: bool = False
    sums: tuple[str, ...] = ()
    means: tuple[str, ...] = ()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    max_rows: int | None = None

    def __post_init__(self) -> None:
        for name, columns in {"sum": self.sums, "mean": self.means}.items():
            if len(set(columns)) < len(columns):
                raise SettingsError(f"a column is named twice for its {name}")
        for column, limits in self.bounds.items():
            if column not in self.columns:
                raise SettingsError(
                    f"bounds are given for the column {column!r}, of which neither the sum nor the "
                    "mean is asked for"
                )
            _check_bounds(column, limits)
        names = self.column_names
        if len(set(names)) < len(names):
            raise SettingsError("two of these would have the same column in the result")
        most = self.max_rows
        if most is None:
            return
        if not self:
            raise SettingsError("a bound on the rows of a user is only for rows, sums and means")
        if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_ROWS:
            raise SettingsError(
                f"max_rows_per_user_item must be a whole number from 1 to {MOST_ROWS:,}"
            )

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return self.rows or bool(self.columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of numbers that are read."""
        return tuple(dict.fromkeys((*self.sums, *self.means)))

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """What is measured: each of these gets the same share of the budget."""
        wanted = [Quantity("rows")] if self.rows else []
        wanted += [self.summed(column) for column in self.columns]
        return tuple(wanted + [Quantity("present", column) for column in self.means])

    def summed(self, column: str) -> Quantity:
        """Return what is measured for the sum or the mean of a column.

        If only the mean is wanted and values have bounds, it is how far values are from the middle
        of these: at most half their width.
        """
        bounds = self.bounds.get(column)
        centre = 0.0 if bounds is None or column in self.sums else sum(bounds) / 2
        return Quantity("sum", column, bounds, centre)

    def has_unknown_centre(self, quantity: Quantity) -> bool:
        """Whether the number that the values of a mean are near has yet to be found.

        If only the mean is wanted, the middle of the bounds is public. If the sum is wanted too,
        its values may be far from that.
        """
        column = quantity.column
        known = quantity.bounds is not None and column not in self.sums
        return quantity.kind == "sum" and column in self.means and not known

    def largest(self, quantity: Quantity) -> float | None:
        """Return the most that a user may have of an item, if that is public."""
        if self.max_rows is None or (quantity.kind == "sum" and quantity.bounds is None):
            return None
        limits = quantity.bounds or (0.0, 1.0)  # a row is one row
        return self.max_rows * max(abs(limit - quantity.centre) for limit in limits)

    @property
    def share(self) -> Fraction:
        """The share of ρ for all quantities: finding and counting items gets as much as each."""
        return Fraction(len(self.quantities), len(self.quantities) + 1)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names of what is released."""
        rows = [ROWS] if self.rows else []
        return (*rows, *map(sum_of, self.sums), *map(mean_of, self.means))

    @property
    def column_names(self) -> list[str]:
        """All columns that this may add to the result."""
        return [
            each
            for name in self.names
            for each in (
                name,
                *(f"{name}_{part}" for part in ("std_error", "lower", "upper", "noisy_std_error")),
                f"noisy_{name}",
            )
        ]

    @property
    def steps(self) -> tuple[str, ...]:
        """What is done for it, in the field's terms."""
        noise, made = "discrete Gaussian noise on", []
        for quantity in self.quantities:
            what = quantity.words
            if self.has_unknown_centre(quantity):
                made.append(f"{noise} histograms of users by the middle one of their {what}")
            if self.largest(quantity) is None:
                made.append(f"{noise} a histogram of users by the most they may have of {what}")
            made.append(f"{noise} a histogram of users by the l2 norm of their {what}")
            made.append(f"{noise} the sums of {what}, each user's scaled into one l2 norm")
        return tuple(made)

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What is done to the answers, in the field's terms."""
        if not self:
            return ()
        lost = "what users lose beyond their norm estimated from the histograms, and added"
        return (lost, *(["means as ratios of two noisy sums"] if self.means else []))

    @property
    def settings(self) -> dict[str, object]:
        """What a release states about it."""
        return {"aggregates": self.to_dict()}

    def to_dict(self) -> dict[str, object]:
        """Return what is asked for as plain values."""
        return {
            "released": list(self.names),
            "bounds": {column: list(limits) for column, limits in self.bounds.items()},
            "max_rows_per_user_item": self.max_rows,
        }


def sum_of(column: str) -> str:
    """Return what the sum of a column is called."""
    return f"sum_{column}"


def mean_of(column: str) -> str:
    """Return what the mean of a column is called."""
    return f"mean_{column}"


def _check_bounds(column: str, limits: Sequence[float]) -> None:
    numbers = isinstance(limits, list | tuple) and len(limits) == 2
    if not numbers or not all(_is_number(limit) for limit in limits):
        raise SettingsError(f"the bounds of {column!r} must be two finite numbers")
    low, high = limits
    if low == high:
        raise SettingsError(
            f"the bounds of {column!r} are both {low:g}: give the lowest value, then the highest"
        )
    if low > high:
        raise SettingsError(
            f"the bounds of {column!r} are {low:g} and then {high:g}, the highest value first: "
            "swap the two"
        )
    if max(abs(low), abs(high)) > _LARGEST_BOUND or high - low < _LEAST_RANGE:
        raise SettingsError(f"the bounds of {column!r} must lie within ±2^127, and further apart")


def _is_number(limit: object) -> bool:
    return (
        isinstance(limit, int | float)
        and not isinstance(limit, bool)
        and abs(limit) <= 2**1023
        and math.isfinite(limit)
    )
