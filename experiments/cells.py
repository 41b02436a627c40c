"""How a method does on a set within a budget: means over trials."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from experiments import run
from experiments.store import Description, ResultStore
from headcount.evaluation.methods import Method
from headcount.evaluation.trials import TrialOutcome

#: Bars for precision, coverage, bias and spread, and those against the oracle, apply only where at
#: least this many items come out.
ENOUGH = 30


@dataclass(frozen=True)
class Cell:
    """A method on a set within a budget: means over the trials.

    Attributes:
        released: how many items came out.
        accurate: how many of them are within the relative error.
        within: the share of them that is within it.
        covered: the share whose interval contains the truth.
        off: how far off all counts of a release are together: the mean of |mean relative error|.
        light: the mean relative error of the fifth of items with the lightest users.
        heavy: the same for the fifth with the heaviest users.
        spread: the standard deviation of the number of items, as a share of its mean.
    """

    released: float
    accurate: float
    within: float
    covered: float
    off: float
    light: float
    heavy: float
    spread: float

    @classmethod
    def of(cls, outcomes: list[TrialOutcome]) -> "Cell":
        """Average the outcomes of the trials."""
        some = [outcome for outcome in outcomes if outcome.released]
        released = fmean(o.released for o in outcomes)
        if not some:
            return cls(released, 0.0, *[math.nan] * 6)
        return cls(
            released,
            fmean(o.within for o in outcomes),
            fmean(o.within / o.released for o in some),
            fmean(o.covered / o.released for o in some),
            fmean(abs(o.bias) for o in some),
            fmean(o.light for o in some),
            fmean(o.heavy for o in some),
            pstdev([o.released for o in outcomes]) / released,
        )

    @property
    def leaning(self) -> float:
        """The larger of the mean relative errors of the two fifths, in absolute value."""
        return max(abs(self.light), abs(self.heavy))

    def __str__(self) -> str:
        if not self.released:
            return "0"
        shares = f"{100 * self.within:.0f} · {100 * self.covered:.0f} %"
        if self.released < ENOUGH:
            return f"{self.released:,.0f} · {shares}"
        return f"{self.released:,.0f} · {shares} · {100 * self.light:+.1f} {100 * self.heavy:+.1f}"


#: By the name of the set, ρ, and the name of the method.
Cells = dict[tuple[str, float, str], Cell]


def cells(
    descriptions: Iterable[Description], store: ResultStore, trials: int, methods: Sequence[Method]
) -> Cells:
    """Return the means of each method on each set at each budget."""
    found: Cells = {}
    for description in descriptions:
        for target in run.targets():
            outcomes = [o for o in store.outcomes(description, target) if o.seed < trials]
            for method in methods:
                mine = [o for o in outcomes if o.method == method.name]
                found[description.name, target.rho, method.name] = Cell.of(mine)
    return found
