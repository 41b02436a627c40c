"""From numbers to places in a picture, and the numbers that are written along it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Pictures are drawn on a square of this side, which the page stretches to the room there is.
SIDE = 1000

#: As many numbers along a side as can be told apart on a phone.
_MOST_STEPS = 6

Scale = Callable[[float], float]
Point = tuple[float, float]


@dataclass(frozen=True)
class Tick:
    """A number along a picture: where it is, in per cent of the length, and what it says."""

    at: float
    label: str


def linear(low: float, high: float) -> Scale:
    """Return the share of the way from ``low`` to ``high`` at which a number lies."""
    width = (high - low) or 1.0
    return lambda value: (value - low) / width


def logarithmic(low: float, high: float) -> Scale:
    """Return the same on a logarithmic scale; what is below ``low`` lies at its beginning."""
    along = linear(math.log(low), math.log(high))
    return lambda value: along(math.log(max(value, low)))


def steps_around(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten that enclose a range; only the powers, if many do."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    first -= 10.0**first > low  # a logarithm may be rounded past a whole number
    last += 10.0**last < high
    steps = [m * 10.0**power for power in range(first, last + 1) for m in (1, 2, 5)]
    begin = max(n for n, step in enumerate(steps) if step <= low)
    end = min(n for n, step in enumerate(steps) if step >= high)
    within = steps[begin : max(end, begin + 1) + 1]
    if len(within) <= _MOST_STEPS:
        return within
    stride = math.ceil((last - first) / (_MOST_STEPS - 1))
    return [10.0**power for power in range(first, last + stride, stride)]


def line(points: Sequence[Point]) -> str:
    """Return the path through points; a point is how far right and down it is, as shares."""
    return "M" + "L".join(f"{_place(x)} {_place(y)}" for x, y in points) if points else ""


def band(above: Sequence[Point], below: Sequence[Point]) -> str:
    """Return the path around the area between two lines."""
    return f"{line([*above, *reversed(below)])}Z" if above else ""


def percent(share: float) -> float:
    """Return a share as per cent, with the digits that a screen can show."""
    return round(100 * share, 2)


def _place(share: float) -> str:
    return f"{share * SIDE:.1f}".removesuffix(".0")
