"""How far to go: one path from few items to all of them, and from there to less noise.

Along the path the load rises, and with it the loss of heavy users. The path is public: it follows
from noisy counts and the target.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from headcount.privacy.mechanisms.rationed.beliefs import Beliefs
from headcount.privacy.mechanisms.rationed.estimates import variances
from headcount.privacy.mechanisms.rationed.prices import Centring, enough, needed
from headcount.privacy.mechanisms.rationed.sizes import Floats
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from headcount.privacy.questions import GRID, Integers

# Costs are rounded up, so that nobody loses anything only with a little more noise than computed.
_ROUNDING = 1 + 1e-4
# By how much σ may differ from that with which counts meet the intended error.
_SCALES = [TUNING.step ** (power / 2) for power in (1, 0, -1, -2)]


@dataclass(frozen=True)
class Point:
    """A place on the path.

    Attributes:
        kept: the items that are counted, by falling estimate.
        sigmas: σ of their counts.
        load: what all users' items cost together, in units of what a user can afford without loss.
        full: what a user with all counted items needs, in rations.
        centring: how the counts are centred.
        spare: whether there is less noise than the target requires, because budget is left over.
    """

    kept: Integers
    sigmas: Floats
    load: float
    full: float
    centring: Centring
    spare: bool = False

    def most_lost(self, weight: float) -> float:
        """Return what a user with all items loses, given the sum of the items' weights."""
        return float(GRID * weight * (1 - max(self.full, 1.0) ** -0.5))


def path(beliefs: Beliefs, r: float, least: float) -> list[Point]:
    """Return the points in order of rising load.

    Some points have more and more items, with about the noise that the target allows; others, in
    smaller steps, have just enough noise that nobody loses anything: beyond them something may be
    lost. The last ones have all items and less and less noise, until no σ can fall further.
    """
    found = beliefs.order.size
    number_scales = [
        *product(_numbers(found, TUNING.step), _SCALES),
        *_lossless(beliefs, r, least, _numbers(found, TUNING.step**0.25)),
    ]
    points = [
        _point(beliefs, beliefs.sigmas(r, number, scale), least) for number, scale in number_scales
    ]
    scale = _SCALES[-1]
    point = _point(beliefs, beliefs.sigmas(r, found, scale), least)
    while (point.sigmas > least).any():
        scale /= TUNING.step
        point = _point(beliefs, beliefs.sigmas(r, found, scale), least)
        points.append(replace(point, spare=True))
    return sorted(points, key=lambda point: point.load)


def _numbers(found: int, step: float) -> list[int]:
    """Return numbers of items, falling by such steps to an eighth of those found."""
    cuts = range(math.ceil(math.log(8) / math.log(step)) + 1)
    return sorted({math.ceil(found / step**cut) for cut in cuts})


def _lossless(
    beliefs: Beliefs, r: float, least: float, numbers: list[int]
) -> Iterator[tuple[int, float]]:
    """Yield factors for σ with which nobody loses anything, where they are not far from 1.

    Allowing up to 1.6 times the noise changed nothing.
    """
    for number in numbers:
        _, full = Centring.of(np.maximum(beliefs.sigmas(r, number), least), least)
        scale = math.sqrt(full) / 2 * _ROUNDING
        if _SCALES[-1] <= scale <= 1 / _SCALES[-1]:
            yield number, scale


def _point(beliefs: Beliefs, aimed: Floats, least: float) -> Point:
    kept = beliefs.order[: aimed.size]
    sigmas = np.maximum(aimed, least)
    each = (least / sigmas) ** 2
    centring, full = Centring.of(sigmas, least)
    estimates, _ = beliefs.first(aimed.size)
    load = float(estimates @ each) / enough(full, centring.centre)
    most = float(needed(each.sum(), full, centring.centre))
    return Point(kept, sigmas, load, most, centring)


def best(
    points: list[Point],
    beliefs: Beliefs,
    losses: Floats,
    errors: Floats,
    r: float,
    furthest: int,
    more: float = 1.0,
) -> int:
    """Return the place of the point that promises the most items within the target.

    At most a small share of the counts may be lost on average, since some items lose several times
    as much. Among points that promise equally many items, the one with the smallest errors is
    returned. Less noise than the target requires must be `harmless`: a small group whose items
    nobody else has loses far more than the average.

    Args:
        points: the points of the path.
        beliefs: what is known about the items.
        losses: the mean loss at each point.
        errors: the errors of these losses.
        r: the target.
        furthest: the last place at which there may be less noise than the target requires even
            though users may lose something.
        more: the ratio of noise to planned noise, as other questions may have been asked.
    """
    promised, squares = {}, {}
    # Only eligible points are evaluated: with many items each takes a while.
    for place, (point, loss, error) in enumerate(
        zip(points, losses.tolist(), errors.tolist(), strict=True)
    ):
        lossy = point.spare and point.full > 1
        if lossy and not (place <= furthest and harmless(point.kept.size, loss, r)):
            continue
        if loss > TUNING.most_loss * r and place > 0:
            continue
        estimates, expected = beliefs.first(point.kept.size)
        noise = (more * point.centring.noise(point.sigmas) / estimates) ** 2
        squared = variances(expected, noise, loss, error)
        promised[place] = number_released(np.sqrt(squared), r)
        squares[place] = float(squared.mean())
    most = max(promised.values())
    good = [place for place, number in promised.items() if number == most]
    return min(good, key=lambda place: squares[place])


def harmless(number: int, loss: float, r: float) -> bool:
    """Whether one of so many items would be within the target even if it bore the whole loss."""
    return number * loss <= r


def released(errors: Floats, r: float) -> Integers:
    """Return the places of the items to release, by their relative standard errors.

    As many as possible, the most precise first, such that the intended share is within the target.
    """
    return np.argsort(errors, kind="stable")[: number_released(errors, r)]


def number_released(errors: Floats, r: float) -> int:
    """Return how many items `released` would return: a sort is faster than an argsort."""
    within = np.cumsum(within_target(np.sort(errors), r))
    enough = np.flatnonzero(within >= TUNING.within * np.arange(1, errors.size + 1))
    return int(enough[-1]) + 1 if enough.size else 0


_STEPS = np.linspace(0, 6, 1201)
_WITHIN = np.array([math.erf(z / math.sqrt(2)) for z in _STEPS])


def within_target(errors: Floats, r: float) -> Floats:
    """Return, for each standard error, the chance that a normal error is within the target."""
    chances: Floats = np.interp(r / np.maximum(errors, 1e-12), _STEPS, _WITHIN)
    return chances
