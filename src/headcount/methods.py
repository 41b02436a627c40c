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
from headcount.histogram import TopCounts, count_distinct_users
from headcount.population import EnginePopulation
from headcount.privacy.budget import Budget
from headcount.privacy.choosing import rationed_items
from headcount.privacy.entropy import Entropy
from headcount.privacy.estimate import smoothed
from headcount.privacy.filter import Cost, PrivacyFilter
from headcount.privacy.look import choose_k_bar, counts_at_ranks
from headcount.privacy.pcr import ReleasedCounts, private_count_release
from headcount.privacy.rationed import SIZES, Asking, rationed_release
from headcount.privacy.schedule import delta_star, levels
from headcount.privacy.settings import Settings, settings_for
from headcount.sources.open import Events

if TYPE_CHECKING:
    import pyarrow as pa

#: Called with what is being done, in words that depend on released values at most.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Made:
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

    @classmethod
    def of(
        cls, name: str, budget: Budget, relative_error: float | None, candidates: int | None
    ) -> "Method":
        """Check what was asked for, before any data is read."""
        if not isinstance(budget, Budget):
            raise TypeError("budget must be a headcount.Budget")
        if candidates is not None and name == "rationed":
            raise SettingsError("the method rationed has no candidates to be limited")
        if candidates is not None and name == "auto":
            name = "pcr"  # k̄ is a parameter of that
        settings = settings_for(name, r=relative_error, k_bar=candidates)
        next(levels(settings, budget))  # refuses a δ that is too small
        return cls(name, settings, budget)

    def to_dict(self) -> dict[str, object]:
        """Return the parameters as plain values."""
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
    ) -> Callable[[], Made]:
        """Read what the method needs; return what then makes the release."""
        top: TopCounts | None = None
        population: EnginePopulation | None = None
        if self.name != "rationed":
            progress("counting distinct users per item")
            top = count_distinct_users(events, user, items, self.settings.k_bar + 1)
        if self.name in ("rationed", "auto"):
            progress("gathering who has what")
            population = EnginePopulation(events, user, items)
        if top is None:
            assert population is not None  # noqa: S101 (one or the other was asked for)
            return partial(self._rationed, population, entropy, progress, self._filter())
        if population is None:
            return partial(self.on_histogram, top, 0, entropy, progress)
        return partial(self._auto, top, population, entropy, progress)

    def on_histogram(
        self, top: TopCounts, floor: int, entropy: Entropy, progress: Progress
    ) -> Made:
        """Run Private Count Release on the highest counts of a histogram."""
        return self._pcr(top, floor, entropy, progress, self._filter(), None)

    def _auto(
        self, top: TopCounts, population: EnginePopulation, entropy: Entropy, progress: Progress
    ) -> Made:
        """Buy a look at the counts and at the users, and go on with what promises more."""
        progress("choosing a method")
        privacy_filter = self._filter()
        settings, budget = self.settings, self.budget
        seen = counts_at_ranks(to_numpy(top.counts), 0, settings, budget, privacy_filter, entropy)
        k_bar, promised = choose_k_bar(seen, settings, budget)
        asking = Asking(population, entropy, privacy_filter)
        sizes = asking.sizes(SIZES * budget.rho_for_filter)
        if rationed_items(seen, sizes, settings.r, budget) > promised:
            return self._rationed(population, entropy, progress, privacy_filter)
        return self._pcr(top, 0, entropy, progress, privacy_filter, k_bar)

    def _filter(self) -> PrivacyFilter:
        return PrivacyFilter(Cost(self.budget.rho_for_filter, self.budget.delta_selection))

    def _pcr(
        self,
        top: TopCounts,
        floor: int,
        entropy: Entropy,
        progress: Progress,
        privacy_filter: PrivacyFilter,
        k_bar: int | None,
    ) -> Made:
        released = private_count_release(
            to_numpy(top.counts),
            floor,
            self.settings,
            self.budget,
            entropy,
            lambda number: progress(f"choosing and measuring items, level {number}"),
            privacy_filter,
            k_bar,
        )
        noisy = released.counts.astype(np.float64)
        estimates, errors = noisy, released.sigmas
        if self.settings.noise > 1:
            estimates, errors = smoothed(released.thresholds, noisy, released.sigmas)
        settings = {**self.settings.to_dict(), **self._chosen(released)}
        return Made(
            items=_rows(top.items, released.positions),
            estimates=estimates,
            errors=errors,
            noisy=noisy,
            sigmas=released.sigmas,
            spent=released.spent,
            settings=settings,
        )

    def _chosen(self, released: ReleasedCounts) -> dict[str, object]:
        return {
            "k_bar": released.k_bar,
            "delta_star": float(delta_star(self.settings, self.budget)),
            "levels_run": released.levels_run,
            **({"chosen": "pcr"} if self.name == "auto" else {}),
        }

    def _rationed(
        self,
        population: EnginePopulation,
        entropy: Entropy,
        progress: Progress,
        privacy_filter: PrivacyFilter,
    ) -> Made:
        released = rationed_release(
            population, self.settings.r, self.budget, entropy, progress, privacy_filter
        )
        return Made(
            items=_rows(population.names, released.positions),
            estimates=released.estimates,
            errors=released.errors,
            noisy=released.noisy,
            sigmas=released.sigmas,
            spent=released.spent,
            settings={
                "r": self.settings.r,
                **({"chosen": "rationed"} if self.name == "auto" else {}),
            },
        )


def _rows(names: "pa.Table", positions: NDArray[np.int64]) -> "pa.Table":
    return names.take(to_arrow(positions))
