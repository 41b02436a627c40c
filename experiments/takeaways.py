"""What the paper says about its figures, next to what was measured: agreed, or why not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from experiments.run import RHOS
from experiments.sets import MATCHED
from experiments.store import Description
from experiments.tables import Results, markdown_table
from headcount.evaluation.summary import SummaryRow

#: From the paper's text: results that Plume without a threshold released on Wikipedia, by
#: percentile and ρ.
WIKIPEDIA_RELEASED = {
    95: {0.1: 12_981.5, 0.5: 25_900.6, 1.0: 34_703.3},
    99: {0.1: 13_119.9, 0.5: 26_129.8, 1.0: 35_023.8},
}

PCR = "pcr-paper"


class Figures:
    """The rows of a set, by method and ρ."""

    def __init__(self, rows: Sequence[SummaryRow], selection: str) -> None:
        self._rows: Mapping[tuple[str, float], SummaryRow] = {(r.method, r.rho): r for r in rows}
        self._plume = "plume" if selection == "weighted" else f"plume-{selection}"

    def pcr(self, rho: float) -> SummaryRow:
        """PCR with the paper's settings."""
        return self._rows[PCR, rho]

    def plume(self, percentile: int, rho: float, *, threshold: bool = False) -> SummaryRow:
        """Plume, with or without its threshold."""
        ending = "-threshold" if threshold else ""
        return self._rows[f"{self._plume}-{percentile}{ending}", rho]

    def cut(self, percentile: int, rho: float) -> SummaryRow:
        """Plume with its threshold."""
        return self.plume(percentile, rho, threshold=True)


@dataclass(frozen=True)
class Takeaway:
    """A statement of the paper about a set, and how it is checked.

    Attributes:
        name: the set.
        says: what the paper says, in short.
        holds: whether it holds at a ρ; it is agreed if it holds at all of them.
        shown: the figures that decide it.
        why: the explanation if the generated set does not agree, where known.
        rhos: the values of ρ that it is about.
    """

    name: str
    says: str
    holds: Callable[[Figures, float], bool]
    shown: Callable[[Figures, float], str]
    why: str = ""
    rhos: tuple[float, ...] = RHOS


def _beyond(row: SummaryRow) -> str:
    return "–" if row.beyond is None else f"{row.beyond:.0%}"


def _off(row: SummaryRow) -> float:
    return row.beyond or 0.0


def _releases(f: Figures, rho: float) -> str:
    return (f"PCR {f.pcr(rho).released:,.0f}; Plume {f.plume(95, rho).released:,.0f} and "
            f"{f.plume(99, rho).released:,.0f}")  # fmt: skip


def _cuts(f: Figures, rho: float) -> str:
    return (f"PCR {f.pcr(rho).released:,.1f}; Plume with threshold {f.cut(95, rho).released:,.1f} "
            f"and {f.cut(99, rho).released:,.1f}")  # fmt: skip


def _shares(f: Figures, rho: float) -> str:
    return (f"beyond: PCR {_beyond(f.pcr(rho))}; Plume with threshold {_beyond(f.cut(95, rho))} "
            f"and {_beyond(f.cut(99, rho))}")  # fmt: skip


def _misses(row: SummaryRow) -> float:
    return row.released - row.within


def _little_apart(f: Figures, rho: float) -> bool:
    one, other = f.cut(95, rho).released, f.cut(99, rho).released
    return abs(one - other) <= max(1, max(one, other) / 3)


def _comparable(f: Figures, rho: float, percentile: int) -> bool:
    return 0.5 <= f.cut(percentile, rho).released / max(f.pcr(rho).released, 1e-9) <= 2


_TAIL = (
    "The paper's table says nothing about the users above the 99th percentile. If the heaviest has "
    "1.5 times that, not 3 times, under 1 % are beyond."
)
_LOST = (
    "Even if no one had more than the 99th percentile, bounding at the 95th would lose 13 % of all "
    "pairs of the generated set, and 93 % would be beyond. Why it was half in the paper is not "
    "known."
)
_POPULARITY = "Why is not known: steeper and flatter popularity of films gave the same."

TAKEAWAYS = (
    Takeaway(
        "finance", "Plume can return a lot more results than PCR.",
        lambda f, rho: f.plume(95, rho).released > 2 * f.pcr(rho).released, _releases,
    ),
    Takeaway(
        "finance", "Plume without a threshold returns few of its counts beyond 10 %.",
        lambda f, rho: _off(f.plume(95, rho)) < 0.2,
        lambda f, rho: f"beyond: Plume {_beyond(f.plume(95, rho))}",
    ),
    Takeaway(
        "finance", "Less than 10 % of PCR's counts are beyond the target.",
        lambda f, rho: _off(f.pcr(rho)) < 0.1,
        lambda f, rho: f"beyond: PCR {_beyond(f.pcr(rho))}",
    ),
    Takeaway(
        "reddit-sample", "PCR can return more results than Plume with a threshold.",
        lambda f, rho: f.pcr(rho).released > max(f.cut(p, rho).released for p in (95, 99)),
        _cuts,
    ),
    Takeaway(
        "reddit-sample", "Only 10 % of PCR's counts are beyond the target.",
        lambda f, rho: _off(f.pcr(rho)) <= 0.12, _shares,
    ),
    Takeaway(
        "reddit-sample", "The percentile does not seem to matter much.",
        _little_apart, _cuts,
    ),
    Takeaway(
        "reddit-sample", "Plume with a threshold returns almost nothing beyond the target.",
        lambda f, rho: max(_off(f.cut(p, rho)) for p in (95, 99)) < 0.05, _shares,
    ),
    Takeaway(
        "reddit-full", "Plume can return a lot more results than PCR.",
        lambda f, rho: f.plume(95, rho).released > 2 * f.pcr(rho).released, _releases,
    ),
    Takeaway(
        "reddit-full", "With a threshold the number of results becomes comparable to PCR's.",
        lambda f, rho: _comparable(f, rho, 95) and _comparable(f, rho, 99), _cuts,
    ),
    Takeaway(
        "reddit-full", "With the 95th percentile almost half of Plume's thresholded results are "
        "beyond the target.",
        lambda f, rho: 0.3 <= _off(f.cut(95, rho)) <= 0.6, _shares, _LOST,
    ),
    Takeaway(
        "reddit-full", "With the 99th percentile almost all of them are within it.",
        lambda f, rho: _off(f.cut(99, rho)) < 0.1, _shares, _TAIL,
    ),
    Takeaway(
        "reddit-full", "At ρ = 0.1 PCR returns just as many results within the target as Plume "
        "with a threshold at the 99th percentile.",
        lambda f, rho: f.pcr(rho).within >= 0.95 * f.cut(99, rho).within,
        lambda f, rho: f"within: PCR {f.pcr(rho).within:,.0f}; Plume with threshold, 99th "
        f"{f.cut(99, rho).within:,.0f}", rhos=(0.1,),
    ),
    Takeaway(
        "wikipedia", "PCR returns fewer results, but almost all are within the target.",
        lambda f, rho: f.pcr(rho).released < f.plume(95, rho).released and _off(f.pcr(rho)) < 0.1,
        lambda f, rho: f"{_releases(f, rho)}; beyond: PCR {_beyond(f.pcr(rho))}",
    ),
    Takeaway(
        "wikipedia", "Plume with a threshold returns more results than PCR.",
        lambda f, rho: min(f.cut(p, rho).released for p in (95, 99)) > f.pcr(rho).released,
        _cuts,
    ),
    Takeaway(
        "wikipedia", "With the 95th percentile more than 10 % of them have a high relative error.",
        lambda f, rho: _off(f.cut(95, rho)) > 0.1, _shares,
    ),
    Takeaway(
        "movielens", "PCR can return more results than Plume with a threshold.",
        lambda f, rho: f.pcr(rho).released > max(f.cut(p, rho).released for p in (95, 99)),
        _cuts, _POPULARITY,
    ),
    Takeaway(
        "movielens", "PCR has fewer counts beyond the target, with either percentile.",
        lambda f, rho: _misses(f.pcr(rho)) < min(_misses(f.cut(p, rho)) for p in (95, 99)),
        lambda f, rho: f"beyond: PCR {_misses(f.pcr(rho)):,.0f}; Plume with threshold "
        f"{_misses(f.cut(95, rho)):,.0f} and {_misses(f.cut(99, rho)):,.0f}",
    ),
)  # fmt: skip


def page(descriptions: Sequence[Description], results: Results, selection: str) -> str:
    """Return the page as Markdown, for the paper's sets that were measured."""
    origins = {d.name: d.origin for d in descriptions}
    lines = ["# The paper's takeaways", "",
             "Here PCR is `pcr-paper`, with the paper's settings. Two figures for Plume are those "
             "for the 95th and the 99th percentile. The words are taken to mean: "
             "*a lot more* twice as many, *comparable* within a factor of two, *few* under 20 %, "
             "*almost half* 30 to 60 %, *almost all* 90 %, *almost nothing* 5 %, *just as many* "
             "95 %, *not much* a third or one item."]  # fmt: skip
    for name in dict.fromkeys(takeaway.name for takeaway in TAKEAWAYS):
        if name in results:
            lines += ["", f"## {name}", "", f"On: {origins[name]}.", ""]
            lines += markdown_table(
                ["The paper says", *(f"ρ = {rho:g}" for rho in RHOS), "Agreed"],
                [
                    _line(t, Figures(results[name], selection), matched=origins[name] == MATCHED)
                    for t in TAKEAWAYS
                    if t.name == name
                ],
                texts=len(RHOS) + 2,
            )
    if "wikipedia" in results:
        lines += ["", "## Plume without threshold on Wikipedia, results released", ""]
        lines += _wikipedia(Figures(results["wikipedia"], selection))
    return "\n".join(lines) + "\n"


def _line(takeaway: Takeaway, figures: Figures, *, matched: bool) -> list[str]:
    why = takeaway.why if matched and takeaway.why else "Why is not known."
    agreed = [rho for rho in takeaway.rhos if takeaway.holds(figures, rho)]
    if len(agreed) == len(takeaway.rhos):
        verdict = "agreed"
    elif agreed:
        verdict = f"at ρ = {', '.join(f'{rho:g}' for rho in agreed)} only. {why}"
    else:
        verdict = f"**no**. {why}"
    cells = [takeaway.shown(figures, rho) if rho in takeaway.rhos else "" for rho in RHOS]
    return [takeaway.says, *cells, verdict]


def _wikipedia(figures: Figures) -> list[str]:
    rows = [
        [f"{percentile}th", f"{rho:g}", f"{paper:,.1f}",
         f"{figures.plume(percentile, rho).released:,.1f}"]
        for percentile, by_rho in WIKIPEDIA_RELEASED.items()
        for rho, paper in by_rho.items()
    ]  # fmt: skip
    return markdown_table(["percentile", "ρ", "the paper", "measured"], rows)
