"""The bars that the methods have to clear, and what was measured: one line for each bar."""

import math
from collections.abc import Callable, Iterable
from statistics import fmean

from experiments.cells import ENOUGH, Cell, Cells

#: The share of counts that must be within the target.
WITHIN = 0.905
#: How often intervals must contain the truth, at least and at most.
COVERED = (0.94, 0.99)
#: The largest mean relative error of the items with the lightest, or the heaviest, users.
LEANING = 0.03
#: The largest mean relative error of all counts of one release.
OFF = 0.015
#: How much the number of released items may vary from run to run.
SPREAD = 0.1
#: How many times as many accurate items as the paper's algorithm, as a geometric mean.
TIMES_PAPER = 4.2
#: The least share of the best method's accurate items, and of an oracle's at ρ ≥ 0.5: in the worst
#: cell, and in the mean.
OF_BEST, OF_ORACLE, OF_ORACLE_MEAN = 0.95, 0.6, 0.75

Place = tuple[str, float]


def bars(found: Cells, oracle: str, paper: str, ours: Iterable[str], default: str) -> list[str]:
    """Return one line for each bar: the bar, what was measured, and where the bar is missed."""
    lines = [line for method in ours for line in _honesty(found, method)]
    places = sorted({(name, rho) for name, rho, _ in found})
    methods = {method for _, _, method in found} - {oracle}

    def ratios(to: Callable[[Place], float]) -> dict[Place, float]:
        pairs = {place: (found[_key(place, default)].accurate, to(place)) for place in places}
        return {place: mine / other for place, (mine, other) in pairs.items() if mine and other}

    against_paper = ratios(lambda place: found[_key(place, paper)].accurate)
    best = ratios(lambda place: max(found[_key(place, method)].accurate for method in methods))
    possible = ratios(lambda place: found[_key(place, oracle)].accurate)
    possible = {
        place: ratio
        for place, ratio in possible.items()
        if place[1] >= 0.5 and found[_key(place, oracle)].released >= ENOUGH
    }
    return [
        *lines,
        f"{default} against {paper}, accurate items: geometric mean "
        f"{_geometric(against_paper.values()):.2f} (at least {TIMES_PAPER})",
        f"{default} against the best method in hindsight: at least {_least(best)} "
        f"({OF_BEST}){_missed(best, lambda ratio: ratio < OF_BEST)}",
        f"{default} against the oracle, ρ ≥ 0.5: at least {_least(possible)} ({OF_ORACLE}), mean "
        f"{fmean(possible.values()) if possible else math.nan:.2f} ({OF_ORACLE_MEAN})"
        f"{_missed(possible, lambda ratio: ratio < OF_ORACLE)}",
    ]


def _honesty(found: Cells, method: str) -> list[str]:
    """Say how accurate a method's stated errors are, where it releases enough items."""
    mine = {(name, rho): cell for (name, rho, each), cell in found.items() if each == method}
    enough = {place: cell for place, cell in mine.items() if cell.released >= ENOUGH}
    if not enough:
        return []

    def line(
        what: str, asked: str, value: Callable[[Cell], float], wrong: Callable[[float], bool]
    ) -> str:
        values = {place: value(cell) for place, cell in enough.items()}
        low, high = min(values.values()), max(values.values())
        return f"{method}: {what} {low:.3f} to {high:.3f} ({asked}){_missed(values, wrong)}"

    low, high = COVERED
    return [
        line("within", f"at least {WITHIN}", lambda cell: cell.within, lambda v: v < WITHIN),
        line("coverage", f"{low} to {high}", lambda c: c.covered, lambda v: not low <= v <= high),
        line("fifths by users", f"at most {LEANING}", lambda c: c.leaning, lambda v: v > LEANING),
        line("all together off by", f"at most {OFF}", lambda c: c.off, lambda v: v > OFF),
        line("spread", f"at most {SPREAD}", lambda c: c.spread, lambda v: v > SPREAD),
    ]


def _key(place: Place, method: str) -> tuple[str, float, str]:
    return (*place, method)


def _geometric(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(fmean(logs)) if logs else math.nan


def _least(ratios: dict[Place, float]) -> str:
    return f"{min(ratios.values()):.2f}" if ratios else "–"


def _missed(values: dict[Place, float], wrong: Callable[[float], bool]) -> str:
    """Name the places where a bar is missed, with the value there."""
    missed = {place: value for place, value in values.items() if wrong(value)}
    if not missed:
        return ""
    named = (f"{name} ρ = {rho:g}: {value:.3f}" for (name, rho), value in missed.items())
    return f"; missed in {len(missed)} of {len(values)}: {', '.join(named)}"
