"""Amounts of released items, each user's scaled into a ration that is chosen under privacy.

`sums.md`, beside this file, has the proof.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.accounting.gaussian import ensure_covers, measure_cost, sigma_for
from headcount.privacy.mechanisms.base import Measure, Progress
from headcount.privacy.mechanisms.further.aggregates import ROWS, Aggregates, mean_of, sum_of
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
from headcount.privacy.randomness import Entropy
from headcount.views.protocol import EXPECTED, Amounts, Quantity, Ration, Sensitivity

#: The share of what a quantity gets that goes to each histogram it needs. A twentieth makes the
#: noise of its sums 3 % larger; at ρ = 1/2 a histogram then hides about 14 users.
HISTOGRAM_SHARE = Fraction(1, 20)


@dataclass(frozen=True)
class Measured:
    """A quantity of each released item.

    Attributes:
        estimates: with what is lost added.
        errors: the standard errors of these.
        noisy: as it was measured.
        sigmas: σ of that noise.
        chosen: the ration.
    """

    estimates: Floats
    errors: Floats
    noisy: Floats
    sigmas: Floats
    chosen: Chosen


class Sums:
    """Releases what is asked for, one question after the other.

    Args:
        aggregates: what is asked for.
        amounts: what each user has.
        rho: what all quantities together may cost.
        entropy: for the noise.
        filter_: asked before each step.
    """

    def __init__(
        self,
        aggregates: Aggregates,
        amounts: Amounts,
        rho: Fraction,
        entropy: Entropy,
        filter_: PrivacyFilter,
    ) -> None:
        self._asked, self._amounts = aggregates, amounts
        self._each = rho / len(aggregates.quantities)
        self._entropy, self._filter = entropy, filter_

    def release(
        self,
        released: Any,  # noqa: ANN401 (as the view has names)
        counts: Measure,
        progress: Progress,
    ) -> tuple[tuple[Measure, ...], dict[str, object]]:
        """Release them for the items that were released; return them, and what was chosen.

        Formal guarantee: ρ-CDP for the ρ that was given, whatever the values are (sums.md).

        Edge cases: with no items nothing is asked and nothing is spent.
        """
        quantities = self._asked.quantities
        if not counts.estimates.size:
            none = np.zeros(0)
            made = [Measured(none, none, none, none, _NOTHING) for _ in quantities]
            return self._named(dict(zip(quantities, made, strict=True))), {}
        grids = []
        for quantity in quantities:
            progress(f"looking how large amounts are: {quantity.words}")
            grids.append(self._grid(quantity))
        divisors = divisors_for(counts.estimates, counts.errors)
        progress("adding up what each user has")
        self._amounts.measure(quantities, grids, released, divisors)
        found = {}
        for place, (quantity, grid) in enumerate(zip(quantities, grids, strict=True)):
            progress(f"adding up: {quantity.words}")
            chosen = self._chosen(place, quantity, counts)
            found[quantity] = self._measured(
                place, quantity, chosen, divisors.astype(np.float64) * grid
            )
        chosen_for = {
            quantity.words: {
                "grid": grid,
                "lost": round(found[quantity].chosen.lost, 6),
                "hidden_users": round(found[quantity].chosen.hidden),
            }
            for quantity, grid in zip(quantities, grids, strict=True)
        }
        return self._named(found), {"rations": chosen_for}

    def _grid(self, quantity: Quantity) -> float:
        """Return the grid of a quantity's values: a public one, or from a histogram."""
        largest = self._asked.largest(quantity)
        if largest is None:
            noisy, sigma = self._histogram(lambda: self._amounts.magnitudes(quantity, MAGNITUDES))
            grid = grid_from(noisy, sigma)
        else:
            grid = grid_below(largest)
        return grid if quantity.kind == "sum" else min(max(grid, 1 / EXPECTED), 1.0)

    def _chosen(self, place: int, quantity: Quantity, counts: Measure) -> Chosen:
        """Return the ration of a quantity, from a histogram of norms."""
        shift = Ration.shift_for(counts.estimates.size)
        noisy, sigma = self._histogram(lambda: self._amounts.norms(place, shift, SQUARED_NORMS))
        variance = float(1 / (2 * self._for_sums(quantity)))
        return ration_from(noisy, sigma, counts.estimates, shift, variance)

    def _histogram(self, ask: Callable[[], Sequence[int]]) -> tuple[list[int], float]:
        """Return a noisy histogram of users, each of whom is in one bin, and σ of its noise."""
        sigma = sigma_for(self._each * HISTOGRAM_SHARE)
        cost = Cost(measure_cost(sigma))
        ensure_covers(cost.rho, sigma, Sensitivity.users_in_bins())
        self._filter.reserve(cost)
        noisy = self._entropy.discrete_gaussian(bins_of(ask()), sigma)
        self._filter.settle(cost)
        return noisy, sigma

    def _for_sums(self, quantity: Quantity) -> Fraction:
        """Return what is left of a quantity's share after its histograms."""
        unknown = self._asked.largest(quantity) is None
        return self._each * (1 - HISTOGRAM_SHARE * (2 if unknown else 1))

    def _measured(self, place: int, quantity: Quantity, chosen: Chosen, units: Floats) -> Measured:
        squared = chosen.ration.squared
        sigma = sigma_for(self._for_sums(quantity), squared)
        cost = Cost(measure_cost(sigma, squared))
        ensure_covers(cost.rho, sigma, Sensitivity.scaled_sums(squared))
        self._filter.reserve(cost)
        sums = self._amounts.scaled_sums(place, chosen.ration).tolist()
        noisy = np.array(self._entropy.discrete_gaussian(sums, sigma), dtype=np.float64)
        self._filter.settle(cost)
        # All that is added for what is lost counts as uncertain too.
        added = noisy * chosen.lost
        variance = (sigma * (1 + chosen.lost)) ** 2 + added**2 + chosen.spread
        return Measured(
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
            made.append(_measure(sum_of(column), found[asked.summed(column)], lowest=lowest))
        for column in asked.means:
            total, rows = found[asked.summed(column)], found[Quantity("present", column)]
            made.append(_mean(mean_of(column), asked.summed(column), total, rows))
        return tuple(made)


_NOTHING = Chosen(Ration(0, 0), 0.0, 0.0, 0.0)


def _measure(
    name: str, of: Measured, *, whole: bool = False, lowest: float | None = None
) -> Measure:
    return Measure(name, of.estimates, of.errors, of.noisy, of.sigmas, whole, lowest)


def _mean(name: str, quantity: Quantity, total: Measured, rows: Measured) -> Measure:
    """Return the ratio of two released numbers, with what the errors of both make of its own.

    To first order a ratio m = s/r is off by (error of s − m·error of r)/r. Where r is not known
    better than to its own size, it is taken to be as large as its error.
    """
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
