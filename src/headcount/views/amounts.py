"""What each user has of each item, in whole numbers, on the engine that keeps the rows (sums.md).

All of it is exact: each row's value becomes a whole number, and from then on only whole numbers are
added, divided and compared. So no user's amount depends on the order in which an engine works, nor
through that on anybody else's rows.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from headcount.arrays import to_arrow, to_numpy
from headcount.engines.base import Expression
from headcount.privacy.questions import (
    FACTOR_BITS,
    LARGEST_AMOUNT,
    LARGEST_VALUE,
    MOST_ROWS,
    Integers,
    Quantity,
    Ration,
)
from headcount.views.histogram import unused_name
from headcount.views.integers import as_number, root_of, whole
from headcount.views.passes import Passes

if TYPE_CHECKING:
    import pyarrow as pa

#: Floats beyond this are infinite, and NaN exceeds any number on the engines that keep rows.
_LARGEST_FLOAT = float(np.finfo(np.float64).max)
# Larger sizes are treated as this one; MOST_ROWS times it is still a finite float.
_LARGEST_SIZE = 2.0**200
# Twice this plus a divisor stays below 2⁶³.
_LARGEST_SUM = 2**61
# Up to this many bits of a squared norm, factors lose no digits; beyond it they do.
_EXACT_BITS = 62 - 2 * FACTOR_BITS


class EngineAmounts:
    """The `headcount.privacy.questions.Amounts` of rows on an engine."""

    def __init__(self, passes: Passes, max_rows: int | None = None) -> None:
        """Use the rows that were kept.

        Args:
            passes: passes that keep all rows, not only pairs.
            max_rows: how many rows per user and item count; None for all. Which ones count is a
                fixed function of the user's own rows, pseudo-random so that no value is favoured.
        """
        self._passes = passes
        self._max_rows = max_rows
        self._items = 0
        self._released: pa.Table | None = None
        self._middles: dict[Quantity, Expression] = {}

    def _rows_of(self, released: "pa.Table") -> Expression:
        """Return the rows of released items that count: those of others have no influence."""
        if self._released is not released:
            passes = self._passes
            listed = passes.public(released.select(passes.items))
            rows = passes.rows.semi_join(listed, passes.items)
            if self._max_rows is not None and passes.values:
                rows = self._limited(rows, self._max_rows)
            self._released, self._rows, self._middles = released, rows, {}
        return self._rows

    def _limited(self, rows: Expression, max_rows: int) -> Expression:
        import ibis

        passes = self._passes
        values = list(passes.values.values())
        taken = [*passes.items, passes.user, *values]
        scattered, place = unused_name("scattered", taken), unused_name("place", taken)
        columns = [rows[name] for name in (passes.user, *values)]
        rows = rows.mutate(**{scattered: passes.scattered(columns)})
        # Rows that tie are equal in everything that counts.
        window = ibis.window(group_by=[passes.user, *passes.items], order_by=[scattered, *values])
        rows = rows.mutate(**{place: ibis.row_number().over(window)})
        kept = rows.filter(rows[place] < max_rows)
        return passes.keep(kept.select(passes.user, *passes.items, *values))

    def magnitudes(
        self, quantity: Quantity, released: "pa.Table", at_least: Sequence[float]
    ) -> list[int]:
        """For each bound, how many users may have at least that much of a released item."""
        import ibis

        passes, rows = self._passes, self._rows_of(released)
        key = [passes.user, *passes.items]
        found = {unused_name("rows", key): ibis._.count().cast("int64")}
        if quantity.kind != "rows":
            value = self._value(rows, quantity)
            rows = rows.filter(_is_finite(value))
            # The largest of some floats is the same in any order; their sum would not be.
            found[unused_name("largest", key)] = _placed(value, quantity).abs().max()
        each = rows.group_by(key).agg(**found)
        number, *sizes = (each[name] for name in found)
        most = ibis.least(number, whole(MOST_ROWS)).cast("float64")
        if quantity.kind == "sum":
            most = most * ibis.least(sizes[0], _float(_LARGEST_SIZE))
        amounts = each.select(person=each[passes.user], most=most)
        largest = amounts.group_by("person").agg(largest=amounts["most"].max())
        return self._reaching(largest, "largest", map(_float, at_least))

    def middles(
        self, quantity: Quantity, released: "pa.Table", at_least: Sequence[float]
    ) -> list[int]:
        """For each bound, how many users' middle value of released items is at least that large."""
        rows = self._rows_of(released)
        if quantity not in self._middles:
            self._middles[quantity] = self._passes.keep(self._middle_values(rows, quantity))
        return self._reaching(self._middles[quantity], "value", map(_float, at_least))

    def _middle_values(self, rows: Expression, quantity: Quantity) -> Expression:
        """Return the middle value of each user who has values: of an even number, the lower one."""
        import ibis

        value = self._value(rows, quantity)
        known = rows.filter(_is_finite(value))
        known = known.select(person=known[self._passes.user], value=_placed(value, quantity))
        # Which of two equal values comes first does not matter: only the value is taken.
        place = ibis.row_number().over(ibis.window(group_by="person", order_by="value"))
        number = known.count().over(ibis.window(group_by="person"))
        placed = known.mutate(place=place, number=number)
        beyond = placed["number"].cast("int64") - whole(2) * placed["place"].cast("int64")
        return placed.filter((beyond == whole(1)) | (beyond == whole(2))).select("person", "value")

    def measure(
        self,
        quantities: Sequence[Quantity],
        grids: Sequence[float],
        released: "pa.Table",
        divisors: Integers,
    ) -> None:
        """Fix whole numbers for quantities, for each released item and each user who has it."""
        passes, rows = self._passes, self._rows_of(released)
        self._items = released.num_rows
        names = [f"amount{number}" for number in range(len(quantities))]
        sums = {
            unused_name(name, [*passes.items, passes.user]): self._added(rows, quantity, grid)
            for name, quantity, grid in zip(names, quantities, grids, strict=True)
        }
        each = rows.group_by([passes.user, *passes.items]).agg(**sums)
        taken = [*each.columns]
        place, divisor = unused_name("place", taken), unused_name("divisor", taken)
        listed = released.select(passes.items)
        listed = listed.append_column(place, to_arrow(np.arange(self._items, dtype=np.int64)))
        listed = listed.append_column(divisor, to_arrow(divisors))
        joined = each.join(passes.public(listed), passes.items)
        amounts = {
            name: self._divided(joined[column], joined[divisor])
            for name, column in zip(names, sums, strict=True)
        }
        chosen = joined.select(person=joined[passes.user], place=joined[place], **amounts)
        self._amounts = passes.keep(chosen)

    def norms(self, place: int, shift: int, at_least: Sequence[int]) -> list[int]:
        """For each bound, how many users' amounts have at least that large a squared norm."""
        return self._reaching(self._norms(place, shift), "squared", map(whole, at_least))

    def scaled_sums(self, place: int, ration: Ration) -> Integers:
        """For each released item, the sum of its users' amounts, scaled into a ration."""
        norms = self._norms(place, ration.shift)
        factors = norms.select("person", factor=self._factor(norms["squared"], ration.bits))
        joined = self._amounts.join(factors, "person")
        amount = joined[f"amount{place}"]
        scaled = self._passes.quotient(amount.abs() * joined["factor"], whole(2**FACTOR_BITS))
        signed = joined.select("place", scaled=_with_sign_of(amount, scaled))
        sums = signed.group_by("place").agg(total=signed["scaled"].sum().cast("int64"))
        answer = self._passes.run(sums)
        result = np.zeros(self._items, dtype=np.int64)
        result[to_numpy(answer["place"])] = to_numpy(answer["total"])
        return result

    def _value(self, rows: Expression, quantity: Quantity) -> Expression:
        return rows[self._passes.values[quantity.column or ""]]

    def _added(self, rows: Expression, quantity: Quantity, grid: float) -> Expression:
        """Return the sum over the rows of a user and an item, as a whole number."""
        import ibis

        if quantity.kind == "sum":
            total = self._passes.exact_sum(_on_grid(self._value(rows, quantity), quantity, grid))
            # Clipped before it is cast: it may need more than 64 bits.
            return ibis.greatest(ibis.least(total, whole(_LARGEST_SUM)), whole(-_LARGEST_SUM)).cast(
                "int64"
            )
        if quantity.kind == "rows":
            number = ibis._.count()
        else:
            number = as_number(_is_finite(self._value(rows, quantity))).sum()
        most = MOST_ROWS if self._max_rows is None else min(MOST_ROWS, self._max_rows)
        return ibis.least(number.cast("int64"), whole(most)) * whole(int(1 / grid))

    def _divided(self, amount: Expression, divisor: Expression) -> Expression:
        """Return a quotient to the nearest whole number, halves away from 0, and capped."""
        import ibis

        nearest = self._passes.quotient(whole(2) * amount.abs() + divisor, whole(2) * divisor)
        return _with_sign_of(amount, ibis.least(nearest, whole(LARGEST_AMOUNT)))

    def _norms(self, place: int, shift: int) -> Expression:
        """Return each user's squared norm, with amounts in units of 2^shift, rounded up."""
        amount = self._amounts[f"amount{place}"].abs()
        part = self._rounded_up(amount, shift)
        parts = self._amounts.select("person", square=part * part)
        return parts.group_by("person").agg(squared=parts["square"].sum().cast("int64"))

    def _factor(self, squared: Expression, bits: int) -> Expression:
        """Return a whole number a ≤ F with a²·squared ≤ F²·2^bits, where F = 2^FACTOR_BITS."""
        import ibis

        exact = min(bits, _EXACT_BITS)
        at_least_one = ibis.greatest(self._rounded_up(squared, bits - exact), whole(1))
        most = self._passes.quotient(whole(2 ** (2 * FACTOR_BITS + exact)), at_least_one)
        return ibis.least(root_of(most), whole(2**FACTOR_BITS))

    def _rounded_up(self, number: Expression, shift: int) -> Expression:
        """Return ⌈number / 2^shift⌉ for a number that is not negative."""
        unit = 2**shift
        return self._passes.quotient(number + whole(unit - 1), whole(unit))

    def _reaching(
        self, users: Expression, column: str, at_least: Iterable[Expression]
    ) -> list[int]:
        """Return, for each bound, how many users, one per row, have at least that in a column."""
        each = {
            f"bound{number}": as_number(users[column] >= bound).sum()
            for number, bound in enumerate(at_least)
        }
        (row,) = self._passes.run(users.aggregate(**each), 1).to_pylist()
        return [int(number or 0) for number in row.values()]  # NULL if there are no users


def _float(number: float) -> Expression:
    import ibis

    return ibis.literal(number, type="float64")


def _is_finite(value: Expression) -> Expression:
    """Return whether a value is a finite number: not NULL, NaN or infinite."""
    largest = _float(_LARGEST_FLOAT)
    return value.notnull() & (value <= largest) & (value >= _float(-_LARGEST_FLOAT))


def _placed(value: Expression, quantity: Quantity) -> Expression:
    """Return a value, clipped to its bounds, minus the centre."""
    import ibis

    if quantity.bounds is not None:
        low, high = map(_float, quantity.bounds)
        value = ibis.greatest(ibis.least(value, high), low)
    return value - _float(quantity.centre) if quantity.centre else value


def _on_grid(value: Expression, quantity: Quantity, grid: float) -> Expression:
    """Return the number of grid steps nearest to a value, at most LARGEST_VALUE.

    Small and large values are singled out before the multiplication, which then can neither
    overflow nor underflow: in PostgreSQL both are errors.
    """
    import ibis

    known, value = value, _placed(value, quantity)
    size = ibis.least(value.abs(), _float(LARGEST_VALUE * grid))
    steps = (size * _float(1 / grid) + _float(0.5)).floor().cast("int64")
    counts = _is_finite(known) & (value.abs() >= _float(grid / 2))
    return ibis.cases((counts, _with_sign_of(value, steps)), else_=whole(0))


def _with_sign_of(number: Expression, size: Expression) -> Expression:
    return (number < 0).ifelse(whole(0) - size, size)
