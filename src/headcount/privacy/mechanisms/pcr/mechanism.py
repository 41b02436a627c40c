"""Private Count Release as a mechanism: our version, and with the paper's settings and charges."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.conditioning import conditioned_total
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import (
    Mechanism,
    MechanismResult,
    Options,
    Progress,
    refuse,
)
from headcount.privacy.mechanisms.pcr.centred_look import ranks_looked_at
from headcount.privacy.mechanisms.pcr.estimate import estimated
from headcount.privacy.mechanisms.pcr.private_count_release import (
    ReleasedCounts,
    private_count_release,
)
from headcount.privacy.mechanisms.pcr.rounds import ROUNDS
from headcount.privacy.mechanisms.pcr.schedule import delta_star, levels
from headcount.privacy.mechanisms.pcr.settings import PRESETS, Settings
from headcount.privacy.mechanisms.pcr.vetted_release import VettedCounts, vetted_release
from headcount.privacy.questions import DataView, NamedCounts

#: The private steps of each way to run it, for the account of a release.
LOOK = "discrete Gaussian noise on the counts at fixed ranks"
RACES = "exponential mechanism over the most frequent items (Unknown Domain Gumbel), at each level"
MEASURED = "discrete Gaussian noise on the count of each selected item"
IN_STEPS = (
    "discrete Gaussian noise on the count of each selected item, in steps of rising precision"
)
CENTRED_LOOK = (
    "discrete Gaussian noise on the number of users, and on the counts at fixed ranks, measured "
    "relative to that number"
)
VETTED = (
    "exponential mechanism that nominates items in secret",
    "discrete Gaussian noise on the centred counts of nominees, and a threshold that names items",
    "discrete Gaussian noise on the centred counts of named items, and on the number of users",
)
ESTIMATED = "each count estimated from all noisy values of the release"


@dataclass(frozen=True)
class PCR(Mechanism):
    """Private Count Release, by races (pcr.md), or vetted if N is known (vetting.md)."""

    settings: Settings
    budget: Budget

    name: ClassVar[str] = "pcr"
    summary: ClassVar[str] = "Private Count Release"
    pays_what_it_gets: ClassVar[bool] = True
    #: Whether selection is vetted where the number of users is known.
    vets: ClassVar[bool] = True

    @classmethod
    def of(cls, options: Options, budget: Budget) -> "PCR":
        """Check what was asked for."""
        refuse(cls, options, "max_items_per_user")
        changes = {"r": options.relative_error, "k_bar": options.candidates}
        settings = PRESETS[cls.name].changed(**changes)
        next(levels(settings, budget))  # refuses a δ that is too small
        return cls(settings, budget)

    @classmethod
    def for_histogram(cls, options: Options, budget: Budget) -> "PCR":
        """Return the mechanism for a histogram: the same one."""
        return cls.of(options, budget)

    @property
    def r(self) -> float:
        """The target relative error."""
        return self.settings.r

    def to_dict(self) -> dict[str, object]:
        """Return the parameters as plain values."""
        return self.settings.to_dict()

    def prepare(
        self, view: DataView, gate: Gate, progress: Progress
    ) -> Callable[[], MechanismResult]:
        """Count the distinct users of each item."""
        progress("counting distinct users per item")
        top = view.highest_counts(self.histogram_limit, with_users=self.vets)
        return partial(self.on_histogram, top, 0, gate, progress)

    @property
    def histogram_limit(self) -> int:
        """k̄+1: the candidates, and the next count, which is the cut-off."""
        return self.settings.k_bar + 1

    def on_histogram(
        self, top: NamedCounts, floor: int, gate: Gate, progress: Progress
    ) -> MechanismResult:
        """Run Private Count Release on the highest counts of a histogram."""
        if top.users is not None and self.vets:
            part = gate.part(conditioned_total(self.budget))
            vetted = vetted_release(
                top.values, floor, top.users, self.settings, self.budget, part, progress
            )
            return self.vetted_result(top, vetted)
        part = gate.part(self.budget.for_filter)
        released = private_count_release(
            top.values, floor, self.settings, self.budget, part, progress
        )
        return self.result(top, released)

    def vetted_result(self, top: NamedCounts, released: VettedCounts) -> MechanismResult:
        """Return what a vetted release may publish, with names."""
        return MechanismResult.of_counts(
            items=top.named(released.positions),
            estimates=released.estimates,
            errors=released.errors,
            noisy=released.noisy,
            sigmas=released.sigmas,
            spent=released.spent,
            settings={
                "selection": "vetted",
                "r": self.settings.r,
                "k_bar": released.k_bar,
                "ranks": list(ranks_looked_at(self.settings)),
                "delta_round": float(self.budget.delta_selection / ROUNDS),
                "rounds_run": released.rounds_run,
            },
            mechanisms=((CENTRED_LOOK,) if self.settings.ranks else ()) + VETTED,
            post_processing=(ESTIMATED,),
        )

    def result(self, top: NamedCounts, released: ReleasedCounts) -> MechanismResult:
        """Return the transcript of races with names, and counts estimated from all of it."""
        estimates, errors = estimated(released, self.settings)
        return MechanismResult.of_counts(
            items=top.named(released.positions),
            estimates=estimates,
            errors=errors,
            noisy=released.counts.astype(np.float64),
            sigmas=released.sigmas,
            spent=released.spent,
            settings={
                **self.settings.to_dict(),
                "k_bar": released.k_bar,
                "delta_star": float(delta_star(self.settings, self.budget)),
                "levels_run": released.levels_run,
            },
            mechanisms=(
                *((LOOK,) if self.settings.ranks else ()),
                RACES,
                IN_STEPS if self.settings.in_steps else MEASURED,
            ),
            post_processing=(ESTIMATED,),
        )


@dataclass(frozen=True)
class PaperPCR(PCR):
    """The paper's algorithm to the letter: its settings, and its charges."""

    name: ClassVar[str] = "pcr-paper"
    summary: ClassVar[str] = "Private Count Release with the settings of the paper"
    vets: ClassVar[bool] = False


@dataclass(frozen=True)
class NoiseReducingPCR(PaperPCR):
    """The paper's algorithm with the measurement that it names as future work: in steps."""

    name: ClassVar[str] = "pcr-noise-reduction"
    summary: ClassVar[str] = "pcr-paper, but counts are measured in steps until precise enough"
