"""Amounts of released items, each user's scaled into a ration that is chosen privately.

`sums.md`, next to this file, has the proof.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from headcount.privacy.accounting.gaussian import sigma_for
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import Measure, Progress
from headcount.privacy.mechanisms.further.aggregates import ROWS, Aggregates, mean_of, sum_of
from headcount.privacy.mechanisms.further.centres import (
    ANYWHERE,
    CENTRE_SHARE,
    CLOSER_LOOKS,
    found_closer,
    found_first,
)
from headcount.privacy.mechanisms.further.rations import (
    MAGNITUDES,
    SQUARED_NORMS,
    Chosen,
    Floats,
    bins_of,
    divisors_for,
    grid_below,
    grid_from,
    ration_from,
)
from headcount.privacy.questions import (
    EXPECTED,
    USERS_IN_BINS,
    Amounts,
    Quantity,
    Ration,
    scaled_sums,
)

#: The share of what a quantity gets that goes to each histogram of how large amounts are. A
#: twentieth makes the noise of its sums 3 % larger; at ρ = 1/2 the histogram's noise then hides
#: about 19 users.
HISTOGRAM_SHARE = Fraction(1, 20)


@dataclass(frozen=True)
class Measured:
    """A quantity of each released item.

    Attributes:
        quantity: what it is, with the centre that was found.
        estimates: its estimates, with what was lost added back.
        errors: their standard errors.
        noisy: as it was measured.
        sigmas: σ of that noise.
        chosen: the ration.
    """

    quantity: Quantity
    estimates: Floats
    errors: Floats
    noisy: Floats
    sigmas: Floats
    chosen: Chosen


class Sums:
    """Releases what is asked for, one question after another.

    Args:
        aggregates: what is asked for.
        amounts: what each user has.
        rho: what all quantities together may cost.
        gate: answers questions with noise.
    """

    def __init__(
        self,
        aggregates: Aggregates,
        amounts: Amounts,
        rho: Fraction,
        gate: Gate,
    ) -> None:
        self._asked, self._amounts = aggregates, amounts
        self._each = rho / len(aggregates.quantities)
        # What is left of that for each, in the order of the quantities.
        self._left = [self._each] * len(aggregates.quantities)
        self._gate = gate

    def release(
        self,
        released: Any,  # noqa: ANN401 (as the view has names)
        counts: Measure,
        progress: Progress,
    ) -> tuple[tuple[Measure, ...], dict[str, object]]:
        """Release the quantities of the released items; return them, and what was chosen.

        Formal guarantee: ρ-CDP for the ρ that was given, whatever the values are (sums.md).

        Edge cases: with no items nothing is asked and nothing is spent.
        """
        progress("adding up what each user has")  # once, as what follows depends on what was found
        asked = self._asked.quantities
        if not counts.estimates.size:
            none = np.zeros(0)
            made = [Measured(each, none, none, none, none, _NOTHING) for each in asked]
            return self._named(dict(zip(asked, made, strict=True))), {}
        quantities, grids = [], []
        for place, each in enumerate(asked):
            quantity = self._centred(place, each, released)
            quantities.append(quantity)
            grids.append(self._grid(place, quantity, released))
        divisors = divisors_for(counts.estimates, counts.errors)
        self._amounts.measure(quantities, grids, released, divisors)
        found = {}
        for place, (quantity, grid) in enumerate(zip(quantities, grids, strict=True)):
            chosen = self._chosen(place, counts)
            found[asked[place]] = self._measured(
                place, quantity, chosen, divisors.astype(np.float64) * grid
            )
        chosen_for = {
            each.quantity.words: {
                **({"centre": each.quantity.centre} if each.quantity.kind == "sum" else {}),
                "grid": grid,
                "lost": round(each.chosen.lost, 6),
                "hidden_users": round(each.chosen.hidden),
            }
            for each, grid in zip(found.values(), grids, strict=True)
        }
        return self._named(found), {"rations": chosen_for}

    def _centred(
        self,
        place: int,
        quantity: Quantity,
        released: Any,  # noqa: ANN401 (as the view has names)
    ) -> Quantity:
        """Return a quantity with a centre, found in histograms of users by their middle values."""
        if not self._asked.has_unknown_centre(quantity):
            return quantity

        def look(bounds: Sequence[float]) -> tuple[list[int], float]:
            return self._histogram(
                place, CENTRE_SHARE, lambda: self._amounts.middles(quantity, released, bounds)
            )

        found = found_first(*look(ANYWHERE))
        for _ in range(CLOSER_LOOKS):
            if found.closer is None:
                break
            found = found_closer(found.closer, found.centre, *look(found.closer))
        return replace(quantity, centre=found.centre)

    def _grid(
        self,
        place: int,
        quantity: Quantity,
        released: Any,  # noqa: ANN401 (as the view has names)
    ) -> float:
        """Return the grid of a quantity's values: a public one, or one from a histogram."""
        largest = self._asked.largest(quantity)
        if largest is None:
            noisy, sigma = self._histogram(
                place,
                HISTOGRAM_SHARE,
                lambda: self._amounts.magnitudes(quantity, released, MAGNITUDES),
            )
            grid = grid_from(noisy, sigma)
        else:
            grid = grid_below(largest)
        return grid if quantity.kind == "sum" else min(max(grid, 1 / EXPECTED), 1.0)

    def _chosen(self, place: int, counts: Measure) -> Chosen:
        """Return the ration of a quantity, from a histogram of norms."""
        shift = Ration.shift_for(counts.estimates.size)
        noisy, sigma = self._histogram(
            place, HISTOGRAM_SHARE, lambda: self._amounts.norms(place, shift, SQUARED_NORMS)
        )
        variance = float(1 / (2 * self._left[place]))
        return ration_from(noisy, sigma, counts.estimates, shift, variance)

    def _histogram(
        self, place: int, share: Fraction, ask: Callable[[], Sequence[int]]
    ) -> tuple[list[int], float]:
        """Return a noisy histogram of users, each of whom is in one bin, and σ of its noise.

        It costs its share of what the quantity at ``place`` gets.
        """
        sigma = sigma_for(self._each * share)
        noisy = self._gate.noisy(
            lambda: bins_of(ask()), USERS_IN_BINS, sigma, self._purpose(place)
        ).tolist()
        self._left[place] -= self._each * share
        return noisy, sigma

    def _purpose(self, place: int) -> str:
        return f"adding up {self._asked.quantities[place].words}"

    def _measured(self, place: int, quantity: Quantity, chosen: Chosen, units: Floats) -> Measured:
        squared = chosen.ration.squared
        sigma = sigma_for(self._left[place], squared)
        noisy = self._gate.noisy(
            lambda: self._amounts.scaled_sums(place, chosen.ration),
            scaled_sums(squared),
            sigma,
            self._purpose(place),
        ).astype(np.float64)
        added = noisy * chosen.lost
        # All that may be lost counts as uncertain, including what is added back for it.
        unsure = noisy * chosen.unsure
        variance = (sigma * (1 + chosen.lost)) ** 2 + unsure**2 + chosen.spread
        return Measured(
            quantity,
            (noisy + added) * units,
            np.sqrt(variance) * units,
            noisy * units,
            sigma * units,
            chosen,
        )

    def _named(self, found: "dict[Quantity, Measured]") -> tuple[Measure, ...]:
        """Return what was asked for, made from what was measured."""
        asked, made = self._asked, []
        if asked.rows:
            made.append(_measure(ROWS, found[Quantity("rows")], whole=True, lowest=0))
        for column in asked.sums:
            bounds = asked.bounds.get(column)
            lowest = 0.0 if bounds is not None and bounds[0] >= 0 else None
            total = found[asked.summed(column)]
            if column in asked.means:
                total = _about_zero(total, found[Quantity("present", column)])
            made.append(_measure(sum_of(column), total, lowest=lowest))
        for column in asked.means:
            total, rows = found[asked.summed(column)], found[Quantity("present", column)]
            made.append(_mean(mean_of(column), total, rows))
        return tuple(made)


_NOTHING = Chosen(Ration(0, 0), 0.0, 0.0, 0.0, 0.0)


def _measure(
    name: str, of: Measured, *, whole: bool = False, lowest: float | None = None
) -> Measure:
    return Measure(name, of.estimates, of.errors, of.noisy, of.sigmas, whole, lowest)


def _about_zero(total: Measured, rows: Measured) -> Measured:
    """Return the sum of values: of their distances from the centre, plus the centre times rows.

    For values around a centre, the combined noise of both is about that of a sum of the values
    themselves (sums.md).
    """
    centre = total.quantity.centre
    return replace(
        total,
        estimates=total.estimates + centre * rows.estimates,
        errors=np.hypot(total.errors, centre * rows.errors),
        noisy=total.noisy + centre * rows.noisy,
        sigmas=np.hypot(total.sigmas, centre * rows.sigmas),
    )


def _mean(name: str, total: Measured, rows: Measured) -> Measure:
    """Return the ratio of two released numbers, with the error that follows from theirs.

    To first order a ratio m = s/r is off by (error of s − m·error of r)/r. Where r is smaller than
    its error, it is taken to be as large as that.
    """
    quantity = total.quantity
    below = np.maximum(rows.estimates, rows.errors)
    ratio = total.estimates / below if below.size else below
    error = np.hypot(total.errors, ratio * rows.errors) / below
    noisy_error = np.hypot(total.sigmas, ratio * rows.sigmas) / below
    centred = ratio + quantity.centre
    if quantity.bounds is not None:
        low, high = quantity.bounds
        centred = np.clip(centred, low, high)
        error = np.minimum(error, high - low)
    return Measure(name, centred, error, ratio + quantity.centre, noisy_error)
