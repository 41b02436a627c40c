"""The charts of a release: positions and labels, which the templates draw.

They are drawn when the page is made, not by the page itself. So they need no script, they print,
and a reader who cannot see them finds every number in words or in the table.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import date

from headcount.pages.document import Document, Measure
from headcount.pages.scales import Tick, band, line, linear, logarithmic, percent, steps_around
from headcount.privacy.accounting.rounding import shown_above
from headcount.privacy.mechanisms.base import COUNT
from headcount.privacy.mechanisms.further.aggregates import mean_of, sum_of
from headcount.results.guarantee import Guarantee

#: As many as can be read at a glance; the table has all items.
BARS = 20
#: No screen can show many more points side by side.
POINTS = 400
PANELS = 12
_MEAN = "Mean"


@dataclass(frozen=True)
class Bar:
    """One item: its number and interval as text, and positions in per cent."""

    label: str
    value: str
    interval: str
    start: float
    width: float
    low: float
    high: float


@dataclass(frozen=True)
class Bars:
    """The items with the largest numbers; for means, the items with the highest counts.

    ``measure`` is the column of the release. ``kind`` and ``column`` say what it holds, such as
    the sum of a column of the data.
    """

    measure: str
    kind: str
    column: str
    zero: float
    rows: list[Bar]


@dataclass(frozen=True)
class Curve:
    """All items from the most to the least frequent."""

    line: str
    band: str
    ranks: list[Tick]
    counts: list[Tick]


@dataclass(frozen=True)
class Panel:
    """One item over time; a gap is a period without a released count."""

    label: str
    lines: list[str]
    bands: list[str]
    dots: list[tuple[float, float]]
    top: str
    summary: str


@dataclass(frozen=True)
class OverTime:
    """The most frequent items over time, each on its own scale."""

    period: str
    first: str
    last: str
    panels: list[Panel]


@dataclass(frozen=True)
class Share:
    """What ρ or δ is for, and how much of it was used: in words, and in per cent of the whole.

    ``aside`` is what converting ρ into ε takes, which is set aside whatever is released.
    """

    name: str
    words: str
    percent: float
    aside: float = 0.0


@dataclass(frozen=True)
class Part:
    """How much of ρ was spent on one purpose."""

    purpose: str
    used: str
    percent: float


def bars_of(document: Document, measure: Measure) -> Bars | None:
    """Return the bars of the items with the largest numbers.

    The highest of many noisy means belong to the small items that the noise pushed up most. So
    means are shown for the items with the highest counts instead.
    """
    names = document.names()
    kind, column = _kind_and_column(measure.name)
    ranked = document.measures()[0] if kind == _MEAN else measure
    order = sorted(range(len(document)), key=lambda n: -ranked.values[n])[:BARS]
    if not order:
        return None
    if document.is_series:
        order.sort(key=lambda n: names[n])
    low = min(0.0, *(measure.lower[n] for n in order))
    high = max(0.0, *(measure.upper[n] for n in order))
    at = linear(low, high)
    rows = []
    for n in order:
        value, lower, upper = measure.values[n], measure.lower[n], measure.upper[n]
        start, end = sorted((at(0.0), at(value)))
        rows.append(
            Bar(
                names[n],
                measure.texts[n],
                measure.intervals[n],
                percent(start),
                percent(end - start),
                percent(at(lower)),
                percent(at(upper)),
            )
        )
    return Bars(measure.name, kind, column, percent(at(0.0)), rows)


def _kind_and_column(measure: str) -> tuple[str, str]:
    """Return what a released column holds, in a word, and which column of the data it is about."""
    for kind, beginning in (("Sum", sum_of("")), (_MEAN, mean_of(""))):
        if measure.startswith(beginning):
            return kind, measure.removeprefix(beginning)
    return "", measure


def curve_of(measure: Measure) -> Curve | None:
    """Return the rank–count curve with its band, on logarithmic scales.

    There is none if the bars already show every count.
    """
    order = sorted(range(len(measure.values)), key=lambda n: -measure.values[n])
    if len(order) <= BARS:
        return None
    counts = steps_around(max(1.0, min(measure.lower)), max(2.0, *measure.upper))
    along, up = logarithmic(1, len(order)), logarithmic(counts[0], counts[-1])
    shown = sorted({round(len(order) ** (n / (POINTS - 1))) for n in range(POINTS)})
    lines = [
        [(along(rank), 1 - min(1.0, up(values[order[rank - 1]]))) for rank in shown]
        for values in (measure.values, measure.lower, measure.upper)
    ]
    ranks = [10**power for power in range(math.floor(math.log10(len(order))) + 1)]
    return Curve(
        line(lines[0]),
        band(lines[2], lines[1]),
        [Tick(percent(along(rank)), f"{rank:,}") for rank in ranks],
        [Tick(percent(1 - up(count)), f"{count:,.0f}") for count in counts],
    )


def over_time(document: Document) -> OverTime | None:
    """Return the most frequent items over time, if the release has periods."""
    period = document.period()
    if period is None:
        return None
    counts = document.measures()[0]
    series: dict[str, dict[str, int]] = defaultdict(dict)
    totals: dict[str, float] = defaultdict(float)
    for row, (when, item, _) in enumerate(document.by_period(period)):
        series[item][when] = row
        totals[item] += counts.values[row]
    periods = sorted({when for found in series.values() for when in found})
    most = sorted(series, key=lambda item: -totals[item])[:PANELS]
    return OverTime(
        period,
        periods[0],
        periods[-1],
        [_panel(item or COUNT, series[item], periods, counts) for item in most],
    )


def _panel(item: str, rows: dict[str, int], periods: list[str], counts: Measure) -> Panel:
    top = max(1.0, *(counts.upper[row] for row in rows.values()))
    days = [date.fromisoformat(when).toordinal() for when in periods]
    along, up = linear(days[0], days[-1]), linear(0.0, top)
    runs: list[list[tuple[float, int]]] = [[]]
    for day, when in zip(days, periods, strict=True):
        if when in rows:
            runs[-1].append((along(day) if len(days) > 1 else 0.5, rows[when]))
        elif runs[-1]:
            runs.append([])
    runs = [run for run in runs if run]

    def places(values: list[float], run: list[tuple[float, int]]) -> list[tuple[float, float]]:
        return [(x, 1 - max(0.0, up(values[row]))) for x, row in run]

    lowest = min(rows.values(), key=lambda row: counts.values[row])
    highest = max(rows.values(), key=lambda row: counts.values[row])
    return Panel(
        item,
        [line(places(counts.values, run)) for run in runs],
        [band(places(counts.upper, run), places(counts.lower, run)) for run in runs],
        [
            (percent(x), percent(y))
            for run in runs
            if len(run) == 1
            for x, y in places(counts.values, run)
        ],
        f"{top:,.0f}",
        f"{len(rows):,} of {len(periods):,} released, from {counts.texts[lowest]} to "
        f"{counts.texts[highest]}",
    )


def shares_of(document: Document) -> list[Share]:
    """Return what ρ and δ are for, and how much of them was used."""
    guarantee = document.guarantee
    rho = _share("ρ", guarantee.spent["rho"], guarantee.rho, "the noise in all counts and choices")
    return [rho, _share_of_delta(guarantee)]


def _share_of_delta(guarantee: Guarantee) -> Share:
    total, used, split = guarantee.delta, guarantee.spent["delta"], guarantee.delta_split
    if guarantee.settings.get("pure_zcdp") is True:
        return Share("δ", f"{_above(total)}, all of it for converting ρ into ε", 0.0, 100.0)
    if not split:  # as in releases of the first forms
        return _share("δ", used, total, "choosing which items to publish")
    choosing, converting = split["selection"], split["conversion"]
    how_much = "all" if used >= choosing else _above(used)
    return Share(
        "δ",
        f"{_above(total)}, of which {choosing:.3g} is for choosing which items to publish "
        f"({how_much} used) and {converting:.3g} for converting ρ into ε",
        _percent(used, total),
        _percent(converting, total),
    )


def _share(name: str, used: float, total: float, purpose: str) -> Share:
    share = _percent(used, total)
    words = f"{_above(used)} of {_above(total)} ({share:.3g} %), for {purpose}"
    return Share(name, words, share)


def _above(amount: float) -> str:
    return shown_above(amount, 3) if amount else "0"


def _percent(amount: float, total: float) -> float:
    return percent(min(1.0, amount / total if total else 0.0))


def parts_of(document: Document) -> list[Part]:
    """Return what ρ was spent on, in the order of the steps; empty if that is not stated."""
    guarantee = document.guarantee
    return [
        Part(purpose, _above(spent["rho"]), _percent(spent["rho"], guarantee.rho))
        for purpose, spent in guarantee.spent_on.items()
        if guarantee.rho
    ]
