"""How many accurate counts each method gets out of a budget: `make yield`.

One table over the Parquet files of a folder and the generated shapes, and the bars that the methods
have to clear. A cell has the items released · how many per cent of them are within the target · how
many have the truth in their interval · by how many per cent the counts are off, on average, of the
fifth of items whose users have the fewest items, and of the fifth whose users have the most.
"""

import argparse
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from experiments import run
from experiments.sets import DATA, ROOT, shapes, sources
from experiments.store import Description, ResultStore
from headcount.evaluation.methods import Method
from headcount.evaluation.plume import Plume, WithThreshold
from headcount.evaluation.release import ReleaseMethod
from headcount.evaluation.trials import TrialOutcome

PLUMES = [WithThreshold(Plume(percentile, "weighted")) for percentile in (95, 99)]
OURS = [ReleaseMethod(name) for name in ("pcr-paper", "pcr", "rationed", "auto")]
METHODS: list[Method] = [OURS[0], *PLUMES, *OURS[1:]]

#: A precision that is asked for where at least so many items are released.
PRECISION, ENOUGH = 0.905, 30
#: How often intervals must hold the truth.
COVERAGE = 0.94
#: How far off items with the lightest or the heaviest users may be on average.
LEANING = 0.03


@dataclass(frozen=True)
class Cell:
    """A method on a set with a budget: means over the trials.

    Attributes:
        released: how many items came out.
        within: what share of them is within the relative error.
        covered: what share has the truth in its interval.
        light: the mean relative error of the fifth of items with the lightest users.
        heavy: and with the heaviest.
    """

    released: float
    within: float
    covered: float
    light: float
    heavy: float

    @classmethod
    def of(cls, outcomes: list[TrialOutcome]) -> "Cell":
        """Average."""
        some = [outcome for outcome in outcomes if outcome.released]
        return cls(
            sum(o.released for o in outcomes) / len(outcomes),
            sum(o.within / o.released for o in some) / len(some) if some else math.nan,
            sum(o.covered / o.released for o in some) / len(some) if some else math.nan,
            sum(o.light for o in some) / len(some) if some else math.nan,
            sum(o.heavy for o in some) / len(some) if some else math.nan,
        )

    @property
    def leaning(self) -> float:
        """How far off the fifth of items is, on average, that is further off."""
        return max(abs(self.light), abs(self.heavy))

    def __str__(self) -> str:
        if not self.released:
            return "0"
        shares = f"{100 * self.within:.0f} · {100 * self.covered:.0f} %"
        if self.released < ENOUGH:
            return f"{self.released:,.0f} · {shares}"
        return f"{self.released:,.0f} · {shares} · {100 * self.light:+.1f} {100 * self.heavy:+.1f}"


Cells = dict[tuple[str, float, str], Cell]


def cells(descriptions: Iterable[Description], store: ResultStore, trials: int) -> Cells:
    """Return the mean of each method on each set at each budget."""
    found: Cells = {}
    for description in descriptions:
        for target in run.targets():
            outcomes = [o for o in store.outcomes(description, target) if o.seed < trials]
            for method in METHODS:
                mine = [o for o in outcomes if o.method == method.name]
                found[description.name, target.rho, method.name] = Cell.of(mine)
    return found


def table(names: list[str], found: Cells) -> str:
    """Return one line for each set and budget."""
    heads = [method.name for method in METHODS]
    lines = [f"| data | ρ | {' | '.join(heads)} |", f"|---|--:|{'---|' * len(heads)}"]
    for name in names:
        for rho in run.RHOS:
            row = " | ".join(str(found[name, rho, head]) for head in heads)
            lines.append(f"| {name} | {rho:g} | {row} |")
    return "\n".join(lines)


def bars(descriptions: list[Description], found: Cells) -> list[str]:
    """Return one line for each bar: what was asked for and what came out."""
    places = [(d.name, rho) for d in descriptions for rho in run.RHOS]
    many = [(d.name, rho) for d in descriptions for rho in run.RHOS if d.percentiles[0] > 1]

    def ratios(method: str, to: str, where: list[tuple[str, float]]) -> list[float]:
        pairs = [(found[n, rho, method].released, found[n, rho, to].released) for n, rho in where]
        return [mine / other for mine, other in pairs if mine and other] or [math.nan]

    def geometric(values: list[float]) -> float:
        return math.exp(sum(map(math.log, values)) / len(values))

    lines = []
    for method in ("pcr", "rationed", "auto"):
        mine = {place: found[*place, method] for place in places}
        enough = {p: cell for p, cell in mine.items() if cell.released >= ENOUGH}
        if not enough:
            continue
        lowest = min(enough, key=lambda p: enough[p].within)
        covered = min(enough, key=lambda p: enough[p].covered)
        leaning = max(enough, key=lambda p: enough[p].leaning)
        lines += [
            f"{method}: lowest precision {enough[lowest].within:.3f} at {_at(lowest)} "
            f"(asked for: {PRECISION})",
            f"{method}: lowest coverage {enough[covered].covered:.3f} at {_at(covered)} "
            f"(asked for: {COVERAGE})",
            f"{method}: largest mean error of a fifth of items by their users "
            f"{enough[leaning].leaning:.3f} at {_at(leaning)} (asked for: {LEANING})",
        ]
    pcr = ratios("pcr", "pcr-paper", many)
    auto = ratios("auto", "pcr-paper", places)
    better = [
        found[n, rho, "auto"].released
        / max(found[n, rho, "pcr"].released, found[n, rho, "rationed"].released, 1.0)
        for n, rho in places
    ]
    plume = []
    for n, rho in places:
        rivals = [found[n, rho, rival.name] for rival in PLUMES]
        best = max((r.released for r in rivals if r.within >= PRECISION), default=0.0)
        if best:
            plume.append((found[n, rho, "auto"].released / best, (n, rho)))
    if not plume:
        plume = [(math.nan, places[0])]
    return [
        *lines,
        f"pcr against the paper's, items per user many: at least {min(pcr):.2f} (1.2), "
        f"geometric mean {geometric(pcr):.2f} (1.4)",
        f"auto against the paper's: geometric mean {geometric(auto):.2f} (2.5; aim 3.5), "
        f"at least {min(auto):.2f}",
        f"auto against pcr: at least {min(ratios('auto', 'pcr', places)):.3f} (1)",
        f"auto against the better of pcr and rationed: at least {min(better):.3f} (0.95)",
        f"auto against Plume with threshold, where precise: at least {min(plume)[0]:.2f} at "
        f"{_at(min(plume)[1])} (1)",
    ]


def _at(place: tuple[str, float]) -> str:
    return f"{place[0]}, ρ = {place[1]:g}"


def main() -> None:
    """Run what is missing, then write and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.yields")
    parser.add_argument("--data", type=Path, default=DATA, help="a folder of Parquet files")
    parser.add_argument("--trials", type=int, default=run.TRIALS)
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "yield")
    parser.add_argument("sets", nargs="*", help="names of sets; all if none is given")
    options = parser.parse_args()
    found = shapes()
    if options.data.is_dir():
        files = sources({}, options.data, quick=False)
        found += [source for source in files if source.name in _names(options.data)]
    found = [source for source in found if not options.sets or source.name in options.sets]
    store = ResultStore(options.output)
    descriptions = run.run_all(found, store, options.trials, lambda most_items: METHODS)
    means = cells(descriptions, store, options.trials)
    text = table([d.name for d in descriptions], means)
    text += "\n\n" + "\n".join(f"- {line}" for line in bars(descriptions, means)) + "\n"
    (options.output / "yield.md").write_text(text, encoding="utf-8")
    print(text)


def _names(data: Path) -> set[str]:
    return {path.stem for path in data.glob("*.parquet")}


if __name__ == "__main__":
    main()
