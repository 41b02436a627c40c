"""Rationed release: every user has the whole budget as a ration for their own items.

Items are found by weights of norm 1 per user, then counted with noise proportional to the count.
A user over their ration counts for less than one in each item. `rationed.md`, next to this file,
proves what `rationed_release` claims. The other modules estimate from noisy answers, at no cost.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.gaussian import sigma_for
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.rationed.beliefs import Beliefs, Found, coarse_noise
from headcount.privacy.mechanisms.rationed.estimates import estimated
from headcount.privacy.mechanisms.rationed.forecast import lost_at, second_share
from headcount.privacy.mechanisms.rationed.hidden import HiddenLosers
from headcount.privacy.mechanisms.rationed.losses import (
    FINE,
    Curve,
    Losers,
)
from headcount.privacy.mechanisms.rationed.path import (
    Point,
    best,
    path,
    released,
)
from headcount.privacy.mechanisms.rationed.prices import Prices
from headcount.privacy.mechanisms.rationed.queries import PaidQueries
from headcount.privacy.mechanisms.rationed.sizes import Floats, Sizes
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from headcount.privacy.questions import GRID, Population

#: The largest clipping bound, as engines clip in 64 bits; nobody loses as much as this.
_MOST_CLIP = 2.0**53


@dataclass(frozen=True)
class RationedCounts:
    """The transcript of a run. All of it may be published.

    Attributes:
        positions: which of the found items are released, highest estimates first.
        estimates: their counts, estimated from all measurements.
        errors: the standard errors of the estimates.
        noisy: the last measurement of the sums of their users' shares: what is lost is missing.
        sigmas: σ of that noise.
        spent: what the filter recorded.
        spent_on: the same, by what it was for.
    """

    positions: NDArray[np.int64]
    estimates: NDArray[np.float64]
    errors: NDArray[np.float64]
    noisy: NDArray[np.float64]
    sigmas: NDArray[np.float64]
    spent: Cost
    spent_on: dict[str, Cost]


def rationed_release(
    population: Population,
    r: float,
    budget: Budget,
    gate: Gate,
    progress: Callable[[str], None] = lambda message: None,
    sizes: Sizes | None = None,
) -> RationedCounts:
    """Find items and release their counts.

    Formal guarantee: the result, all of it, is ``budget.delta_selection``-approximate
    ``budget.rho``-CDP with respect to adding or removing one user (rationed.md).

    Edge cases: whether anything is found is public, so a run that finds nothing ends.

    Args:
        population: who has what.
        r: the target relative error.
        budget: what may be spent.
        gate: answers with noise; what it has left is used.
        progress: called with a description of the current step, which may be shown.
        sizes: how many users have how many items, if that has been asked already.
    """
    asking = PaidQueries(population, gate)
    rho, delta = gate.left.rho, gate.left.delta
    found = Found()
    # Reported once: later steps, and their number, follow from noisy answers, which progress would
    # reveal if the run then failed.
    progress("finding and counting items")
    sizes = sizes or asking.sizes(TUNING.sizes * rho)
    weights, sigma = asking.discover(TUNING.first_round * rho, delta / 2, sizes)
    found.add(weights, sigma, sizes)
    left = asking.sizes(TUNING.sizes * rho)
    share = second_share(weights, sizes, left, float(rho), r)
    if share:
        weights, sigma = asking.discover(share * rho, delta / 2, left)
        found.add(weights, sigma, left)
    if not found.number:
        return _nothing(asking.gate)
    rough = found.rough_counts()
    noise = coarse_noise(found, rough, sigma_for(TUNING.coarse * rho))
    # Not centred: an error common to all goes unnoticed. It cost 4 % on yelp_5core at ρ = 0.1.
    coarse = asking.counts(noise, TUNING.coarse * rho)
    beliefs = Beliefs.from_coarse(found, coarse, noise)
    search = _Search(asking, beliefs, sizes, r, rho)
    point, lost, unsure = search.run()
    # Costs, and so losses, stay as in the questions; the remaining budget decides the noise.
    rest = asking.gate.left.rho
    scale = math.sqrt(search.ration / rest)
    sigmas = np.maximum(scale * point.sigmas, sigma_for(rest))
    chosen = np.full(found.number, np.inf)
    chosen[point.kept] = sigmas
    centring = point.centring.scaled(scale)
    measured = asking.counts(chosen, rest, centring)[point.kept]
    sigmas = centring.noise(sigmas)
    estimates, errors = estimated(found, point.kept, measured, sigmas, lost, unsure)
    good = released(errors / estimates, r)
    good = good[np.argsort(-estimates[good], kind="stable")]
    return RationedCounts(
        positions=point.kept[good],
        estimates=estimates[good],
        errors=errors[good],
        noisy=measured[good],
        sigmas=sigmas[good],
        spent=asking.gate.spent,
        spent_on=asking.gate.spent_on,
    )


class _Search:
    """Questions about the loss at points of the path, and what follows from the answers."""

    def __init__(
        self, asking: PaidQueries, beliefs: Beliefs, sizes: Sizes, r: float, rho: Fraction
    ) -> None:
        self.asking, self.beliefs, self.r = asking, beliefs, r
        self.rho = rho
        asked = TUNING.questions * TUNING.users_asked
        #: The planned ration for the counts. Costs are parts of it, whatever is left in the end.
        self.ration = asking.gate.left.rho - asked * rho
        self.points = path(beliefs, r, sigma_for(self.ration))
        loads = np.array([point.load for point in self.points])
        self.before = Curve(
            loads, TUNING.most_loss * r, lost_at(loads, sizes) if sizes.users.any() else None
        )
        #: What a user with every item loses at each point, as a share of the whole; 0 where budget
        #: is left over, which `harmless` handles.
        self.most_lost = np.array([0.0 if p.spare else self._most_lost(p) for p in self.points])
        self.asked: list[tuple[int, Losers]] = []

    def run(self) -> tuple[Point, float, float]:
        """Return how far to go, the mean share that is lost there, and its error."""
        for _ in range(TUNING.questions):
            place = self._best()
            if self._nobody_loses(place):
                break
            self._ask_users(place)
        place = self._best(doubt=1.0)
        losses, errors = self._expected()
        return self.points[place], float(losses[place]), float(errors[place])

    def _nobody_loses(self, place: int) -> bool:
        """Whether even a user with every item is within the ration."""
        return self.points[place].full <= 1

    def _best(self, doubt: float = 0.0) -> int:
        losses, errors = self._expected()
        more = math.sqrt(self.ration / self.asking.gate.left.rho)
        furthest = (
            max((place for place, _ in self.asked), default=-1) if doubt else len(self.points)
        )
        return best(self.points, self.beliefs, losses, doubt * errors, self.r, furthest, more)

    def _expected(self) -> tuple[Floats, Floats]:
        """Return the expected mean loss at each point, and its standard deviation.

        Where a user with every item is within the ration, nobody loses.
        """
        curve = self.before
        for place, losers in self.asked:
            curve = curve.learned(place, *losers.loss())
        losses, errors = curve.expected()
        more, unsure = HiddenLosers([losers for _, losers in self.asked]).losses(self.most_lost)
        nobody = np.array([point.full <= 1 for point in self.points])
        return np.where(nobody, 0.0, losses + more), np.where(nobody, 0.0, np.hypot(errors, unsure))

    def _most_lost(self, point: Point) -> float:
        weights = _weights(self.beliefs, point)
        everything = GRID * float(weights @ self.beliefs.estimates)
        return point.most_lost(float(weights.sum())) / everything

    def _ask_users(self, place: int) -> None:
        point = self.points[place]
        weights = _weights(self.beliefs, point)
        losers = self.asking.losers(
            _prices(self.beliefs, point, self.ration),
            np.rint(weights).astype(np.int64),
            float(weights @ self.beliefs.estimates),
            point.most_lost(float(weights.sum())),
            TUNING.users_asked * self.rho,
        )
        # A user who loses much where more items are counted loses in proportion where fewer are.
        sizes = [(earlier.top, self.points[n].kept.size) for n, earlier in self.asked]
        tops = [top - max(0, round(math.log2(n / point.kept.size))) for top, n in sizes]
        losers = replace(losers, at_least=max([losers.at_least, *tops]))
        self.asked.append((place, losers))


def _weights(beliefs: Beliefs, point: Point) -> NDArray[np.float64]:
    """Return weights that give each kept item the same part in a mean loss."""
    weights = np.zeros(beliefs.estimates.size)
    estimates = beliefs.estimates[point.kept]
    weights[point.kept] = np.maximum(FINE * estimates[-1] / estimates, 1.0)
    return weights


def _prices(beliefs: Beliefs, point: Point, ration: Fraction) -> Prices:
    sigmas = np.full(beliefs.estimates.size, np.inf)
    sigmas[point.kept] = point.sigmas
    return Prices.of(sigmas, ration, point.centring)


def _nothing(paid: Gate) -> RationedCounts:
    none = np.zeros(0)
    return RationedCounts(
        np.zeros(0, dtype=np.int64), none, none, none, none, paid.spent, paid.spent_on
    )
