"""Noise and a threshold as a mechanism."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

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
from headcount.privacy.mechanisms.threshold.threshold_release import Thresholding, threshold_release
from headcount.privacy.questions import DataView, NamedCounts


@dataclass(frozen=True)
class Threshold(Mechanism):
    """Noise on every count and a threshold, where a contribution bound is known (threshold.md)."""

    thresholding: Thresholding
    budget: Budget

    name: ClassVar[str] = "threshold"
    summary: ClassVar[str] = "noise and a threshold, for a known contribution bound"
    pays_what_it_gets: ClassVar[bool] = True

    @classmethod
    def of(cls, options: Options, budget: Budget) -> "Threshold":
        """Check what was asked for."""
        refuse(cls, options, "candidates")
        r = Settings().changed(r=options.relative_error).r
        return cls(Thresholding.of(options.max_items_per_user, r, budget), budget)

    @property
    def r(self) -> float:
        """The target relative error."""
        return self.thresholding.r

    def to_dict(self) -> dict[str, object]:
        """Return the parameters as plain values."""
        return self.thresholding.to_dict()

    def prepare(
        self, view: DataView, gate: Gate, progress: Progress
    ) -> Callable[[], MechanismResult]:
        """Count users per item, with a limit on the items of each user."""
        progress("counting users per item, with a bound on the items of each")
        method = self.thresholding
        bounded = view.bounded_counts(method.max_items_per_user, method.looked_at)
        return partial(self._run, bounded, gate, progress)

    def _run(self, bounded: NamedCounts, gate: Gate, progress: Progress) -> MechanismResult:
        progress("adding noise")
        released = threshold_release(
            bounded.values, self.thresholding, gate.part(self.budget.for_filter)
        )
        noisy = released.counts.astype(np.float64)
        sigmas = np.full(noisy.size, self.thresholding.sigma)
        return MechanismResult.of_counts(
            items=bounded.named(released.positions),
            estimates=noisy,
            errors=sigmas,
            noisy=noisy,
            sigmas=sigmas,
            spent=released.spent,
            settings=self.to_dict(),
            mechanisms=(
                "a contribution bound: a limited number of items of each user count",
                "discrete Gaussian noise on each count, and a threshold",
            ),
        )

    def known_in_advance(self) -> list[str]:
        """Return above which noisy count an item comes out."""
        return [
            f"Every item whose noisy count exceeds {self.thresholding.threshold:,} comes out; the "
            f"standard error of each count is {self.thresholding.sigma:,.3g}."
        ]
