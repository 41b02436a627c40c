"""Chart scales: from numbers to positions, and the tick labels along an axis."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Charts are drawn on a square with sides this long, which the page stretches to fit.
SIDE = 1000

#: As many tick labels along an axis as can be read on a phone.
_MOST_STEPS = 6

Scale = Callable[[float], float]
Point = tuple[float, float]


@dataclass(frozen=True)
class Tick:
    """A tick label along an axis: its position, in per cent of the length, and its text."""

    at: float
    label: str


def linear(low: float, high: float) -> Scale:
    """Return a scale: how far a number lies on the way from ``low`` to ``high``, as a share."""
    width = (high - low) or 1.0
    return lambda value: (value - low) / width


def logarithmic(low: float, high: float) -> Scale:
    """Return a logarithmic scale; numbers below ``low`` lie at its beginning."""
    along = linear(math.log(low), math.log(high))
    return lambda value: along(math.log(max(value, low)))


def steps_around(low: float, high: float) -> list[float]:
    """Return steps of 1, 2 and 5 times powers of ten around a range; only powers if too many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    first -= 10.0**first > low  # rounding may take a logarithm past an integer
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
    """Return the path through points, each given as shares to the right and down."""
    return "M" + "L".join(f"{_place(x)} {_place(y)}" for x, y in points) if points else ""


def band(above: Sequence[Point], below: Sequence[Point]) -> str:
    """Return the path around the area between two lines."""
    return f"{line([*above, *reversed(below)])}Z" if above else ""


def percent(share: float) -> float:
    """Return a share in per cent, with as many digits as a screen can show."""
    return round(100 * share, 2)


def _place(share: float) -> str:
    return f"{share * SIDE:.1f}".removesuffix(".0")
