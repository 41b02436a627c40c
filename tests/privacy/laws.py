"""The exact law of a race and of a whole run, by enumeration.

Plain code over the formulas of race.md and pcr.md. What a step costs and how many picks are
allowed comes from the program's own schedule and filter, so that a charge that is forgotten
there breaks the bounds that `test_claims` checks.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.accounting.sensitivity import EachByOne
from headcount.privacy.mechanisms.pcr.schedule import Level, levels
from headcount.privacy.mechanisms.pcr.settings import Settings

BOTTOM = "⊥"
BAD = "BAD"
Histogram = Mapping[str, int]
Transcript = tuple[tuple[str, ...], ...]


def candidates_of(h: Histogram, k_bar: int) -> tuple[dict[str, int], int]:
    """A and c, ties broken by name."""
    ranked = sorted(
        ((item, n) for item, n in h.items() if n > 0), key=lambda row: (-row[1], row[0])
    )
    return dict(ranked[:k_bar]), ranked[k_bar][1] if len(ranked) > k_bar else 0


def weights_of(level: Level, counts: Histogram, cutoff: int) -> dict[str, float]:
    """exp(ε·score), relative to ⊥'s."""
    return {
        item: math.exp(level.epsilon * (n - 1 - cutoff) - level.log_ratio)
        for item, n in counts.items()
    }


def race_law(
    weights: Mapping[str, float], at_most: int, bottom: float = 1.0, bad: float = 0.0
) -> Iterator[tuple[tuple[str, ...], float]]:
    """Every list of entries read, up to ⊥ (or BAD) or to `at_most`, with its probability."""

    def read(
        picked: tuple[str, ...], left: dict[str, float], p: float
    ) -> Iterator[tuple[tuple[str, ...], float]]:
        if len(picked) == at_most:
            yield picked, p
            return
        total = math.fsum(left.values()) + bottom + bad
        yield (*picked, BOTTOM), p * bottom / total
        if bad:
            yield (*picked, BAD), p * bad / total
        for item, weight in left.items():
            rest = {other: w for other, w in left.items() if other != item}
            yield from read((*picked, item), rest, p * weight / total)

    yield from read((), dict(weights), 1.0)


@dataclass(frozen=True)
class RunLaw:
    """The law of transcripts, and which items each measured with which σ."""

    transcripts: dict[Transcript, float]
    bad: float
    measured: dict[Transcript, tuple[tuple[str, float], ...]]


def run_law(
    h: Histogram, settings: Settings, budget: Budget, common: set[str] | None = None
) -> RunLaw:
    """The law of a whole run; with `common`, of N̂ of pcr.md over those candidates."""
    counts, cutoff = candidates_of(h, settings.k_bar)
    schedule = list(levels(settings, budget))  # before noise grows with what was released
    total, delta = budget.for_filter, float(budget.delta_selection)
    transcripts: dict[Transcript, float] = defaultdict(float)
    measured: dict[Transcript, tuple[tuple[str, float], ...]] = {}
    bad = 0.0
    if common is not None:
        counts = {item: n for item, n in counts.items() if item in common}

    def end(done: Transcript, p: float, kept: float, noise: tuple[tuple[str, float], ...]) -> None:
        nonlocal bad
        share = 1.0 if common is None else (1 - delta) / kept
        transcripts[done] += p * share
        measured[done] = noise
        bad += p * (1 - share)

    def go(number: int, left: dict[str, int], spent: Cost, done: Transcript, p: float, kept: float,
           noise: tuple[tuple[str, float], ...]) -> None:  # fmt: skip
        nonlocal bad
        if number == len(schedule):
            end(done, p, kept, noise)
            return
        level = schedule[number].with_noise(settings.factor(len(noise)))
        most = level.most_picks(total - spent)
        if most == 0:
            end(done, p, kept, noise)
            return
        star = 0.0 if common is None else math.exp(-level.log_ratio) * settings.k_bar
        bad_here = star / (1 + star)
        for entries, q in race_law(weights_of(level, left, cutoff), most, bad=star):
            if entries[-1:] == (BAD,):
                bad += p * q
                continue
            items = [entry for entry in entries if entry != BOTTOM]
            cut = len(items) == len(entries)
            if cut and star:
                bad += p * q * bad_here
                q *= 1 - bad_here
            privacy_filter = PrivacyFilter(total - spent)
            privacy_filter.reserve(level.picks(most))
            privacy_filter.settle(level.picks(len(entries)))
            counted = Cost(EachByOne(len(items)).cost(level.sigma))
            privacy_filter.reserve(counted)
            privacy_filter.settle(counted)
            now = spent + privacy_filter.spent
            rest = {item: n for item, n in left.items() if item not in items}
            more = (*noise, *((item, level.sigma) for item in items))
            # Also after a cut: with more noise from now on, a pick may be paid for again.
            go(number + 1, rest, now, (*done, entries), p * q, kept * (1 - bad_here), more)

    go(0, dict(counts), Cost(), (), 1.0, 1.0, ())
    return RunLaw(dict(transcripts), bad, measured)


def measurement_cost(noise: tuple[tuple[str, float], ...], h: Histogram, other: Histogram) -> float:
    """Σ 1/(2σ²) over the measured items whose count differs between two histograms."""
    return math.fsum(
        float(Fraction(1) / (2 * Fraction(sigma) ** 2))
        for item, sigma in noise
        if h.get(item, 0) != other.get(item, 0)
    )
