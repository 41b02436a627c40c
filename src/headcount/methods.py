"""How each method makes counts out of events: what it needs first, and what it then releases.

Preparing reads data and draws no noise; running what was prepared draws noise, and all that it
returns may be published.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headcount.arrays import to_arrow, to_numpy
from headcount.errors import SettingsError
from headcount.inputs.open import Events
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.mechanisms.auto.choice import release_automatically
from headcount.privacy.mechanisms.pcr.estimate import estimated
from headcount.privacy.mechanisms.pcr.private_count_release import (
    ReleasedCounts,
    private_count_release,
)
from headcount.privacy.mechanisms.pcr.schedule import delta_star, levels
from headcount.privacy.mechanisms.pcr.settings import PRESETS, Settings, settings_for
from headcount.privacy.mechanisms.rationed.rationed_release import RationedCounts, rationed_release
from headcount.privacy.mechanisms.threshold.threshold_release import Thresholding, threshold_release
from headcount.privacy.randomness import Entropy
from headcount.views.bounded import bounded_counts
from headcount.views.engine_pairs import EnginePopulation
from headcount.views.histogram import TopCounts, count_distinct_users

if TYPE_CHECKING:
    import pyarrow as pa

#: Called with what is being done, in words that depend on released values at most.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class MechanismResult:
    """What a method released. All of it may be published.

    Attributes:
        items: the names, one row each.
        estimates: the counts, estimated from everything that was released.
        errors: the standard errors of these.
        noisy: the counts with noise and nothing else done to them.
        sigmas: σ of that noise.
        spent: what the filter recorded.
        settings: the parameters, and choices made from released values.
    """

    items: "pa.Table"
    estimates: NDArray[np.float64]
    errors: NDArray[np.float64]
    noisy: NDArray[np.float64]
    sigmas: NDArray[np.float64]
    spent: Cost
    settings: dict[str, object]


@dataclass(frozen=True)
class Method:
    """A method with its parameters, and what it may spend."""

    name: str
    settings: Settings
    budget: Budget
    thresholding: Thresholding | None = None

    @classmethod
    def of(
        cls,
        name: str,
        budget: Budget,
        relative_error: float | None,
        candidates: int | None,
        max_items_per_user: int | None = None,
    ) -> "Method":
        """Check what was asked for, before any data is read."""
        if not isinstance(budget, Budget):
            raise TypeError("budget must be a headcount.Budget")
        if candidates is not None and name in ("rationed", "threshold"):
            raise SettingsError(f"the method {name} has no candidates to be limited")
        if max_items_per_user is not None and name != "threshold":
            raise SettingsError(
                "a bound on the items of a user goes with the method threshold; the others need "
                "none"
            )
        if candidates is not None and name == "auto":
            name = "pcr"  # k̄ is a parameter of that
        settings = settings_for(name, r=relative_error, k_bar=candidates)
        if name == "threshold":
            thresholding = Thresholding.of(max_items_per_user, settings.r, budget)
            return cls(name, settings, budget, thresholding)
        next(levels(settings, budget))  # refuses a δ that is too small
        return cls(name, settings, budget)

    def to_dict(self) -> dict[str, object]:
        """Return the parameters as plain values."""
        if self.thresholding is not None:
            return self.thresholding.to_dict()
        if self.name == "rationed":
            return {"r": self.settings.r}
        return self.settings.to_dict()

    def prepare(
        self,
        events: Events,
        user: str,
        items: Sequence[str],
        entropy: Entropy,
        progress: Progress,
    ) -> Callable[[], MechanismResult]:
        """Read what the method needs; return what then makes the release."""
        how = self.thresholding
        if how is not None:
            progress("counting users per item, so many items of each")
            counts = bounded_counts(events, user, items, how.max_items_per_user, how.looked_at)
            return partial(self._threshold, how, counts, entropy, progress)
        one_pass = self.name == "auto" and not events.engine.several_passes
        if self.name in PRESETS or one_pass:
            progress("counting distinct users per item")
            top = count_distinct_users(events, user, items, self.settings.k_bar + 1)
            return partial(self.on_histogram, top, 0, entropy, progress)
        progress("gathering who has what")
        population = EnginePopulation(events, user, items)
        if self.name == "rationed":
            return partial(self._rationed, population, entropy, progress)
        top = population.top_counts(self.settings.k_bar + 1)  # one snapshot for both mechanisms
        return partial(self._auto, top, population, entropy, progress)

    def on_histogram(
        self, top: TopCounts, floor: int, entropy: Entropy, progress: Progress
    ) -> MechanismResult:
        """Run Private Count Release on the highest counts of a histogram."""
        counts = to_numpy(top.counts)
        return self._of_pcr(
            top.items,
            private_count_release(counts, floor, self.settings, self.budget, entropy, progress),
        )

    def _rationed(
        self, population: EnginePopulation, entropy: Entropy, progress: Progress
    ) -> MechanismResult:
        return self._of_rationed(
            population,
            rationed_release(population, self.settings.r, self.budget, entropy, progress),
        )

    def _auto(
        self, top: TopCounts, population: EnginePopulation, entropy: Entropy, progress: Progress
    ) -> MechanismResult:
        released = release_automatically(
            to_numpy(top.counts), population, self.settings, self.budget, entropy, progress
        )
        if isinstance(released, RationedCounts):
            return self._of_rationed(population, released)
        return self._of_pcr(top.items, released)

    def _of_pcr(self, names: "pa.Table", released: ReleasedCounts) -> MechanismResult:
        estimates, errors = estimated(released, self.settings)
        return MechanismResult(
            items=names.take(to_arrow(released.positions)),
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
                **self._chosen("pcr"),
            },
        )

    def _of_rationed(
        self, population: EnginePopulation, released: RationedCounts
    ) -> MechanismResult:
        return MechanismResult(
            items=population.found_names().take(to_arrow(released.positions)),
            estimates=released.estimates,
            errors=released.errors,
            noisy=released.noisy,
            sigmas=released.sigmas,
            spent=released.spent,
            settings={"r": self.settings.r, **self._chosen("rationed")},
        )

    def _chosen(self, method: str) -> dict[str, object]:
        return {"chosen": method} if self.name == "auto" else {}

    def _threshold(
        self, how: Thresholding, bounded: TopCounts, entropy: Entropy, progress: Progress
    ) -> MechanismResult:
        progress("adding noise")
        released = threshold_release(
            to_numpy(bounded.counts), how, entropy, PrivacyFilter(self.budget.for_filter)
        )
        noisy = released.counts.astype(np.float64)
        sigmas = np.full(noisy.size, how.sigma)
        return MechanismResult(
            items=bounded.items.take(to_arrow(released.positions)),
            estimates=noisy,
            errors=sigmas,
            noisy=noisy,
            sigmas=sigmas,
            spent=released.spent,
            settings=how.to_dict(),
        )
