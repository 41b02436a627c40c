"""How far to go: one path from few items to all of them, and from there to less noise.

Along the path the load rises, and with it what heavy users lose. All of it is public: it follows
from noisy counts and from the target.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from headcount.privacy.mechanisms.rationed.beliefs import Beliefs, Expected, Steps, of_steps
from headcount.privacy.mechanisms.rationed.estimates import bias, variances
from headcount.privacy.mechanisms.rationed.prices import Centring, enough, needed
from headcount.privacy.mechanisms.rationed.sizes import Floats
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from headcount.views.protocol import GRID, Integers


@dataclass(frozen=True)
class Point:
    """A place on the path.

    Attributes:
        kept: the items that are counted, by falling estimate.
        steps: σ of their counts, in steps; there are a hundred points, and many items.
        least: with which an item takes a user's whole ration: σ is never below it.
        load: what users' items cost in all, in units of what a user may have and lose nothing.
        full: what a user needs who has all that are counted, in rations.
        centring: how the counts are centred.
        spare: whether there is less noise than the target asks for, because budget is left over.
    """

    kept: Integers
    steps: Steps
    least: float
    load: float
    full: float
    centring: Centring
    spare: bool = False

    @property
    def sigmas(self) -> Floats:
        """σ of the count of each item that is counted."""
        return np.maximum(of_steps(self.steps), self.least)

    def most_lost(self, weight: float) -> float:
        """Return what a user loses who has all items, whose weights add up to this."""
        return float(GRID * weight * (1 - max(self.full, 1.0) ** -0.5))


def path(beliefs: Beliefs, r: float, least: float) -> list[Point]:
    """Return the points, the load rising.

    More and more items, with the noise that the target allows or a little less or more; and with
    as much noise as it takes for nobody to lose anything, in smaller steps: beyond these points
    something may be lost. With all items, less and less noise, until no σ can fall.
    """
    found = beliefs.order.size
    number_scales = [
        *product(_numbers(found, TUNING.cut_step), TUNING.scales),
        *_lossless(beliefs, r, least, _numbers(found, math.sqrt(math.sqrt(TUNING.cut_step)))),
    ]
    points = [
        _point(beliefs, beliefs.steps(r, number, scale), least) for number, scale in number_scales
    ]
    scale = TUNING.scales[-1]
    point = _point(beliefs, beliefs.steps(r, found, scale), least)
    while (point.sigmas > least).any():
        scale /= TUNING.scale_step
        point = _point(beliefs, beliefs.steps(r, found, scale), least)
        points.append(replace(point, spare=True))
    return sorted(points, key=lambda point: point.load)


def _numbers(found: int, step: float) -> list[int]:
    """Return numbers of items in such steps, down to a small part of those found."""
    least = TUNING.cut_step ** (1 - TUNING.cuts)
    cuts = range(math.floor(-math.log(least) / math.log(step) + 1e-9) + 1)
    return sorted({math.ceil(found / step**cut) for cut in cuts})


def _lossless(
    beliefs: Beliefs, r: float, least: float, numbers: list[int]
) -> Iterator[tuple[int, float]]:
    """Return by what factor σ must be larger for nobody to lose anything, if it is not far from 1.

    σ is rounded down, which the step allows for. With up to 1.6 times the noise nothing changed.
    """
    for number in numbers:
        _, full = Centring.of(np.maximum(of_steps(beliefs.steps(r, number)), least), least)
        scale = TUNING.sigma_step * math.sqrt(full) / 2
        if TUNING.scales[-1] <= scale <= 1 / TUNING.scales[-1]:
            yield number, scale


def _point(beliefs: Beliefs, steps: Steps, least: float) -> Point:
    kept = beliefs.order[: steps.size]
    sigmas = np.maximum(of_steps(steps), least)
    each = (least / sigmas) ** 2
    centring, full = Centring.of(sigmas, least)
    estimates, _ = beliefs.first(steps.size)
    load = float(estimates @ each) / enough(full, centring.centre)
    most = float(needed(each.sum(), full, centring.centre))
    return Point(kept, steps, least, load, most, centring)


def best(
    points: list[Point],
    beliefs: Beliefs,
    losses: Floats,
    errors: Floats,
    lean: float,
    r: float,
    furthest: int,
    more: float = 1.0,
) -> int:
    """Return the place of the point that promises the most items within the target.

    Only points count where items of heavy users come out hardly lower than others. Of several that
    promise as many, the one with the smallest errors. Less noise than the target asks for must hurt
    nobody (`harmless`): a small group whose items nobody else has loses far more than the average.

    Args:
        points: of the path.
        beliefs: about the items.
        losses: what is lost at each of them on average.
        errors: of that.
        lean: how much more is lost for each standard deviation of heaviness, in parts of the loss.
        r: the target.
        furthest: the last place that may have less noise than the target asks for, if users may
            lose something there.
        more: by what factor there will be more noise, as other questions were asked than planned.
    """
    biases, promised, squares = {}, {}, {}
    # Those alone are looked at that may be chosen: with many items each takes a while.
    for place, (point, loss, error) in enumerate(
        zip(points, losses.tolist(), errors.tolist(), strict=True)
    ):
        lossy = point.spare and point.full > 1
        if lossy and not (place <= furthest and harmless(point.kept.size, loss, r)):
            continue
        noise, expected = _noise(point, beliefs, more)
        squared = variances(expected, noise, loss, lean * loss, error)
        biases[place] = bias(expected, noise, loss, lean * loss)
        promised[place] = number_released(np.sqrt(squared), r)
        squares[place] = float(squared.mean())
    most_bias = max(TUNING.bias * r, min(biases.values()))
    fair = [place for place, lower in biases.items() if lower <= most_bias]
    most = max(promised[place] for place in fair)
    good = [place for place in fair if promised[place] == most]
    return min(good, key=lambda place: squares[place])


def stated(
    point: Point, beliefs: Beliefs, loss: float, lean: float, error: float, more: float
) -> Floats:
    """Return the relative variances that the counts of a point will be stated with.

    Args:
        point: of the path.
        beliefs: about the items.
        loss: what is lost there on average.
        lean: how much more for each standard deviation of heaviness.
        error: how far off the loss may be.
        more: by what factor there will be more noise.
    """
    noise, expected = _noise(point, beliefs, more)
    return variances(expected, noise, loss, lean, error)


def _noise(point: Point, beliefs: Beliefs, more: float) -> tuple[Floats, Expected]:
    """Return the relative variances of the noise at a point, and what is expected there."""
    estimates, expected = beliefs.first(point.kept.size)
    return (more * point.centring.noise(point.sigmas) / estimates) ** 2, expected


def harmless(number: int, loss: float, r: float) -> bool:
    """Whether one of so many items would be within the target that alone lost all that is lost."""
    return number * loss <= r


def released(errors: Floats, r: float) -> Integers:
    """Return the places of items to release, by their relative standard errors.

    As many as possible, the surest first, so that the share within the target is as aimed at.
    """
    return np.argsort(errors, kind="stable")[: number_released(errors, r)]


def number_released(errors: Floats, r: float) -> int:
    """Return how many items `released` would return. Numbers sort faster than their places."""
    within = np.cumsum(within_target(np.sort(errors), r))
    enough = np.flatnonzero(within >= TUNING.within * np.arange(1, errors.size + 1))
    return int(enough[-1]) + 1 if enough.size else 0


_STEPS = np.linspace(0, 6, 1201)
_WITHIN = np.array([math.erf(z / math.sqrt(2)) for z in _STEPS])


def within_target(errors: Floats, r: float) -> Floats:
    """Return the chance of each error to be within the target, if it is normal."""
    chances: Floats = np.interp(r / np.maximum(errors, 1e-12), _STEPS, _WITHIN)
    return chances
