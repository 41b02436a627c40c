"""What is released besides the counts, after them and from the same budget (further.md)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from headcount.errors import SettingsError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import MechanismResult, Progress
from headcount.privacy.mechanisms.further.aggregates import Aggregates
from headcount.privacy.mechanisms.further.sums import Sums
from headcount.privacy.mechanisms.further.totals import TOTAL_SHARE, Totals
from headcount.privacy.questions import SnapshotView


@dataclass(frozen=True)
class Further:
    """What else is asked for, and what share of ρ it gets. Nothing in it is data.

    Attributes:
        totals: which numbers about all users are asked for.
        aggregates: what else is asked for about each item.
    """

    totals: Totals = field(default_factory=Totals)
    aggregates: Aggregates = field(default_factory=Aggregates)

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.totals or self.aggregates)

    @property
    def share(self) -> Fraction:
        """The share of ρ that goes to all of it: a public rule."""
        return self._for_totals + self._for_aggregates

    @property
    def _for_totals(self) -> Fraction:
        return TOTAL_SHARE * len(self.totals.names)

    @property
    def _for_aggregates(self) -> Fraction:
        return (1 - self._for_totals) * self.aggregates.share

    def to_dict(self) -> dict[str, object]:
        """Return what is asked for as plain values."""
        asked: dict[str, object] = {"totals": list(self.totals.names)}
        # Included only where they are asked for: ledgers identify questions by this.
        return asked | ({"aggregates": self.aggregates.to_dict()} if self.aggregates else {})

    def prepare(
        self,
        counts: Callable[[], MechanismResult],
        view: SnapshotView,
        budget: Budget,
        gate: Gate,
        progress: Progress,
    ) -> Callable[[], MechanismResult]:
        """Read what is needed; return a function that makes the counts and adds to them.

        Formal guarantee: if ``counts`` is δ-approximate ρ₁-CDP for ρ₁ at most (1 − `share`)·ρ, the
        result is δ-approximate ρ-CDP, for the budget's ρ (further.md).

        Edge cases: an engine that keeps no rows between passes is refused, before any noise is
        drawn.
        """
        if not self:
            return counts
        if not view.several_passes:
            raise SettingsError(
                "totals, rows, sums and means need an engine that can keep rows between passes; "
                "this one cannot, or has not been given the right to"
            )
        everybody = view.everybody() if self.totals else None
        amounts = view.amounts() if self.aggregates else None

        def run() -> MechanismResult:
            made = counts()
            rho = budget.rho_for_filter
            part = gate.part(Cost(rho * self.share))
            if everybody is not None:
                released = self.totals.release(everybody, made.items, rho, part, progress)
                made = replace(made, totals=released)
            if amounts is not None:
                sums = Sums(self.aggregates, amounts, rho * self._for_aggregates, part)
                measures, chosen = sums.release(made.items, made.counts, progress)
                made = replace(
                    made,
                    measures=(*made.measures, *measures),
                    settings={**made.settings, **self.aggregates.settings, **chosen},
                    post_processing=(*made.post_processing, *self.aggregates.post_processing),
                )
            return replace(
                made,
                spent=made.spent + part.spent,
                spent_on=made.spent_on | part.spent_on,
                mechanisms=(*made.mechanisms, *self.totals.steps, *self.aggregates.steps),
            )

        return run
