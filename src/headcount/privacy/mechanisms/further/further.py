"""What is released beside the counts, after them and from the same budget (further.md)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from headcount.errors import SettingsError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.mechanisms.base import MechanismResult, Progress
from headcount.privacy.mechanisms.further.totals import TOTAL_SHARE, Totals
from headcount.privacy.randomness import Entropy
from headcount.views.protocol import SnapshotView


@dataclass(frozen=True)
class Further:
    """What else is asked, and what share of ρ that gets. Nothing in it is data.

    Attributes:
        totals: which numbers about all users are asked for.
    """

    totals: Totals = field(default_factory=Totals)

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.totals)

    @property
    def share(self) -> Fraction:
        """The share of ρ that goes to all of it: a public rule."""
        return TOTAL_SHARE * len(self.totals.names)

    def to_dict(self) -> dict[str, object]:
        """Return what is asked as plain values."""
        return {"totals": list(self.totals.names)}

    def prepare(
        self,
        counts: Callable[[], MechanismResult],
        view: SnapshotView,
        budget: Budget,
        entropy: Entropy,
        progress: Progress,
    ) -> Callable[[], MechanismResult]:
        """Read what it needs; return what makes the counts, and adds to them.

        Formal guarantee: if ``counts`` is δ-approximate ρ₁-CDP for ρ₁ at most (1 − `share`)·ρ, what
        comes out is δ-approximate ρ-CDP, for the ρ of the budget (further.md).

        Edge cases: an engine that keeps no rows between passes is refused, before any noise is
        drawn.
        """
        if not self:
            return counts
        if not view.several_passes:
            raise SettingsError(
                "totals need an engine that can keep rows between passes, which this one cannot, "
                "or not with the rights that there are"
            )
        everybody = view.everybody()

        def run() -> MechanismResult:
            made = counts()
            filter_ = PrivacyFilter(Cost(budget.rho_for_filter * self.share))
            totals = self.totals.release(
                everybody, made.items, budget.rho_for_filter, entropy, filter_, progress
            )
            return replace(
                made,
                totals=totals,
                spent=made.spent + filter_.spent,
                mechanisms=(*made.mechanisms, *self.totals.steps),
            )

        return run
