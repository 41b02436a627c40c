"""Rationed release as a mechanism."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import (
    Mechanism,
    MechanismResult,
    Options,
    Progress,
    refuse,
)
from headcount.privacy.mechanisms.pcr.settings import Settings
from headcount.privacy.mechanisms.rationed.rationed_release import RationedCounts, rationed_release
from headcount.privacy.questions import DataView, Pairs

#: The private steps, as a release lists them.
SIZES = "discrete Gaussian noise on how many users have how many items"
STEPS = (
    SIZES,
    "discrete Gaussian noise on weighted sums over users, and a threshold that finds items",
    "discrete Gaussian noise on how many users exceed their ration, and on what their items lose",
    "discrete Gaussian noise on counts to which each user contributes at most a fixed l2 norm, "
    "measured relative to the noisy number of users where that is cheaper",
)
AFTERWARDS = (
    "the loss from users over their ration estimated and added back",
    "each count estimated from all noisy values of the release",
)


@dataclass(frozen=True)
class Rationed(Mechanism):
    """Rationed release, which asks several questions about who has what (rationed.md)."""

    target: float
    budget: Budget

    name: ClassVar[str] = "rationed"
    summary: ClassVar[str] = "rationed release, which needs the events"
    pays_what_it_gets: ClassVar[bool] = True

    @classmethod
    def of(cls, options: Options, budget: Budget) -> "Rationed":
        """Check what was asked for."""
        refuse(cls, options, "candidates", "max_items_per_user")
        return cls(Settings().changed(r=options.relative_error).r, budget)

    @property
    def r(self) -> float:
        """The target relative error."""
        return self.target

    def to_dict(self) -> dict[str, object]:
        """Return the parameters as plain values."""
        return {"r": self.r}

    def prepare(
        self, view: DataView, gate: Gate, progress: Progress
    ) -> Callable[[], MechanismResult]:
        """Gather the pairs of users and items."""
        progress("collecting user–item pairs")
        return partial(self._run, view.pairs(), gate, progress)

    def _run(self, pairs: Pairs, gate: Gate, progress: Progress) -> MechanismResult:
        part = gate.part(self.budget.for_filter)
        return self.result(pairs, rationed_release(pairs, self.r, self.budget, part, progress))

    def result(self, pairs: Pairs, released: RationedCounts, **more: object) -> MechanismResult:
        """Return the result of a run, with the names of its items."""
        return MechanismResult.of_counts(
            items=pairs.found_named(released.positions),
            estimates=released.estimates,
            errors=released.errors,
            noisy=released.noisy,
            sigmas=released.sigmas,
            spent=released.spent,
            spent_on=released.spent_on,
            settings={**self.to_dict(), **more},
            mechanisms=STEPS,
            post_processing=AFTERWARDS,
        )
