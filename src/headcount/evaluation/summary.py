"""Outcomes summarised in a few rows: means and spreads over the trials."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headcount.evaluation.trials import TrialOutcome


@dataclass(frozen=True)
class SummaryRow:
    """A method at one budget, over its trials.

    The spreads are standard deviations, and None if only one trial counts.

    Attributes:
        method: its name.
        rho: its budget.
        trials: how many there were.
        released: the mean number of items released.
        released_spread: its spread.
        within: the mean number of these that are within the relative error.
        within_spread: its spread.
        beyond: the mean share of the released items that are beyond it, over the trials that
            released anything; None if none did.
        beyond_spread: its spread.
        bias: the mean of (noisy − true)/true; None if nothing was released.
    """

    method: str
    rho: float
    trials: int
    released: float
    released_spread: float | None
    within: float
    within_spread: float | None
    beyond: float | None
    beyond_spread: float | None
    bias: float | None


def summarise(outcomes: Iterable[TrialOutcome]) -> list[SummaryRow]:
    """Return a row for each method and budget, in order of first occurrence."""
    groups: dict[tuple[str, float], list[TrialOutcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.method, outcome.rho), []).append(outcome)
    return [_row(method, rho, group) for (method, rho), group in groups.items()]


def _row(method: str, rho: float, group: Sequence[TrialOutcome]) -> SummaryRow:
    some = [outcome for outcome in group if outcome.released]
    shares = [1 - outcome.within / outcome.released for outcome in some]
    return SummaryRow(
        method=method,
        rho=rho,
        trials=len(group),
        released=statistics.fmean(outcome.released for outcome in group),
        released_spread=_spread([outcome.released for outcome in group]),
        within=statistics.fmean(outcome.within for outcome in group),
        within_spread=_spread([outcome.within for outcome in group]),
        beyond=statistics.fmean(shares) if some else None,
        beyond_spread=_spread(shares),
        bias=statistics.fmean(outcome.bias for outcome in some) if some else None,
    )


def _spread(values: Sequence[float]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None


HEADER = ["method", "ρ", "released", "within", "beyond", "bias"]


def shown(row: SummaryRow) -> list[str]:
    """Return a row formatted for people, in the columns of ``HEADER``."""
    return [
        row.method,
        f"{row.rho:g}",
        f"{_number(row.released, ',.1f')} ± {_number(row.released_spread, ',.1f')}",
        f"{_number(row.within, ',.1f')} ± {_number(row.within_spread, ',.1f')}",
        "–"
        if row.beyond is None
        else f"{_number(row.beyond, '.1%')} ± {_number(row.beyond_spread, '.1%')}",
        _number(row.bias, "+.1%"),
    ]


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)
