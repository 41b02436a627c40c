"""How far to go: one path from few items to all of them, and from there to less noise.

Along the path the load rises, and with it the loss of heavy users. The path is public: it follows
from noisy counts and the target.
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
from headcount.privacy.questions import GRID, Integers


@dataclass(frozen=True)
class Point:
    """A place on the path.

    Attributes:
        kept: the items that are counted, by falling estimate.
        steps: σ of their counts, in steps: compact, as a hundred points have many items each.
        least: σ at which one item takes a user's whole ration; no σ is below it.
        load: what all users' items cost together, in units of what a user can afford without loss.
        full: what a user with all counted items needs, in rations.
        centring: how the counts are centred.
        spare: whether there is less noise than the target requires, because budget is left over.
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
        """σ of the count of each kept item."""
        return np.maximum(of_steps(self.steps), self.least)

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
    """Return numbers of items, falling by such steps to a small part of those found."""
    least = TUNING.cut_step ** (1 - TUNING.cuts)
    cuts = range(math.floor(-math.log(least) / math.log(step) + 1e-9) + 1)
    return sorted({math.ceil(found / step**cut) for cut in cuts})


def _lossless(
    beliefs: Beliefs, r: float, least: float, numbers: list[int]
) -> Iterator[tuple[int, float]]:
    """Yield factors for σ with which nobody loses anything, where they are not far from 1.

    The factor `sigma_step` allows for σ being rounded down. Allowing up to 1.6 times the noise
    changed nothing.
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

    A point is eligible only if items of heavy users come out hardly lower there than others. Among
    points that promise equally many items, the one with the smallest errors is returned. Less noise
    than the target requires must be `harmless`: a small group whose items nobody else has loses far
    more than the average.

    Args:
        points: the points of the path.
        beliefs: what is known about the items.
        losses: the mean loss at each point.
        errors: the errors of these losses.
        lean: how much more is lost per standard deviation of heaviness, relative to the loss.
        r: the target.
        furthest: the last place at which there may be less noise than the target requires even
            though users may lose something.
        more: the ratio of noise to planned noise, as other questions may have been asked.
    """
    biases, promised, squares = {}, {}, {}
    # Only eligible points are evaluated: with many items each takes a while.
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
    """Return the relative variances that will be stated for the counts of a point.

    Args:
        point: a point of the path.
        beliefs: what is known about the items.
        loss: the mean loss there.
        lean: how much more is lost per standard deviation of heaviness.
        error: the error of the loss.
        more: the ratio of noise to planned noise.
    """
    noise, expected = _noise(point, beliefs, more)
    return variances(expected, noise, loss, lean, error)


def _noise(point: Point, beliefs: Beliefs, more: float) -> tuple[Floats, Expected]:
    """Return the relative variances of the noise at a point, and the predictions there."""
    estimates, expected = beliefs.first(point.kept.size)
    return (more * point.centring.noise(point.sigmas) / estimates) ** 2, expected


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
