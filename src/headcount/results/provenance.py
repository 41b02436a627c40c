"""How a release came about: what a registry of deployments asks for besides the guarantee."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

#: What every release takes as public: it is named or decided without looking at any row.
ALWAYS_PUBLIC = (
    "the names and types of the columns",
    "the budget, the method and its settings",
)
#: What some take as public besides that.
LIST_OF_ITEMS, RANGE_OF_DAYS = "the list of items", "the range of days"
#: What is done to the numbers of every release once they are noisy.
ALWAYS_AFTERWARDS = (
    "intervals from each estimate and its standard error",
    "counts rounded to whole numbers, with negative ones set to 0",
    "rows sorted by their estimates, highest first",
)


@dataclass(frozen=True)
class Provenance:
    """How a release came about; nothing in it depends on unreleased data.

    Attributes:
        mechanisms: the differentially private steps, in the order in which they ran.
        post_processing: what was done to their answers, which costs no privacy.
        public: what was taken as public, so nothing was paid for it.
        date: the day on which it was asked for, in UTC, as YYYY-MM-DD; None for a run with a seed,
            which is a function of its seed alone.
        period: the time that the data is about, if it was stated.
        ledger: where it was charged: the dataset, and the entry that reserved the budget.
    """

    mechanisms: tuple[str, ...] = ()
    post_processing: tuple[str, ...] = ALWAYS_AFTERWARDS
    public: tuple[str, ...] = ALWAYS_PUBLIC
    date: str | None = None
    period: str | None = None
    ledger: Mapping[str, object] | None = None

    def after(self, mechanisms: tuple[str, ...], post_processing: tuple[str, ...]) -> Self:
        """Return it with what the mechanism says it did."""
        afterwards = (*post_processing, *self.post_processing)
        return replace(self, mechanisms=mechanisms, post_processing=afterwards)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "mechanisms": list(self.mechanisms),
            "post_processing": list(self.post_processing),
            "public": list(self.public),
            "date": self.date,
            "period": self.period,
            "ledger": None if self.ledger is None else dict(self.ledger),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return what plain values describe."""
        several = ("mechanisms", "post_processing", "public")
        return cls(**{**values, **{name: tuple(values[name]) for name in several}})
