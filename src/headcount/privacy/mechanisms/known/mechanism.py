"""Counts of a public list of items, as a mechanism."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from headcount.errors import SettingsError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import (
    Mechanism,
    MechanismResult,
    Options,
    Progress,
    refuse,
)
from headcount.privacy.mechanisms.known.known_release import known_release
from headcount.privacy.mechanisms.rationed.mechanism import SIZES
from headcount.privacy.questions import DataView, Pairs

#: The largest bound, which no list exceeds.
LARGEST_BOUND = 10**6


@dataclass(frozen=True)
class Known(Mechanism):
    """Counts of the items of a public list (known.md)."""

    budget: Budget
    bound: int | None = None

    name: ClassVar[str] = "known"
    summary: ClassVar[str] = "counts of a public list of items"
    pays_what_it_gets: ClassVar[bool] = True

    @classmethod
    def of(cls, options: Options, budget: Budget) -> "Known":
        """Check what was asked for."""
        refuse(cls, options, "candidates")
        if options.relative_error is not None:
            raise SettingsError(
                "with a list of items every count has the same noise, as little as the budget "
                "allows: there is no relative error to aim at"
            )
        bound = options.max_items_per_user
        whole = isinstance(bound, int) and not isinstance(bound, bool)
        if bound is not None and not (whole and 1 <= bound <= LARGEST_BOUND):
            raise SettingsError(
                f"the most items of a user must be a whole number from 1 to {LARGEST_BOUND:,}"
            )
        return cls(budget, bound)

    @property
    def r(self) -> float:
        """No relative error is aimed at: counts are as close as the budget allows."""
        return 0.0

    def to_dict(self) -> dict[str, object]:
        """Return the parameters as plain values."""
        return {"pure_zcdp": True} if self.bound is None else {"pure_zcdp": True, "m": self.bound}

    def prepare(
        self, view: DataView, gate: Gate, progress: Progress
    ) -> Callable[[], MechanismResult]:
        """Gather who has which of the items."""
        progress("collecting user–item pairs")
        pairs, items, most = view.known_pairs()
        return partial(self._run, pairs, items, most, gate, progress)

    def _run(
        self, pairs: Pairs, items: int, most: int, gate: Gate, progress: Progress
    ) -> MechanismResult:
        progress("counting items")
        part = gate.part(Cost(Fraction(self.budget.rho)))
        released = known_release(pairs, items, part, self.bound, most)
        return MechanismResult.of_counts(
            items=pairs.found_named(np.arange(items)),
            estimates=released.noisy,
            errors=released.errors,
            noisy=released.noisy,
            sigmas=np.full(items, released.sigma),
            spent=released.spent,
            spent_on=released.spent_on,
            settings={
                **self.to_dict(),
                "known_items": items,
                "bound": released.bound,
                "hidden_users": released.hidden,
            },
            mechanisms=(
                *(() if self.bound is not None or most <= 1 else (SIZES,)),
                "discrete Gaussian noise on the counts of listed items, one l2 ration per user",
            ),
        )
