"""The interface of a mechanism, which is all that the rest of headcount knows of one.

Each mechanism is a subclass in a folder of its own, and `headcount.privacy.mechanisms` lists them.
The API, the command line, the ledger and the evaluation ask this class what they need to know.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headcount.errors import SettingsError
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.questions import DataView, NamedCounts

#: The name of the measure that every release has: how many users have an item.
COUNT = "count"
#: What a cost is recorded for if a mechanism does not break it down.
FINDING_AND_COUNTING = "finding and counting items"

#: Called with a description of what is being done, which may depend on released values only.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What may be asked of a mechanism besides its budget; None leaves it to the mechanism.

    Attributes:
        relative_error: r, the error to aim at for each count.
        candidates: k̄, how many of the most frequent items are considered.
        max_items_per_user: the contribution bound.
    """

    relative_error: float | None = None
    candidates: int | None = None
    max_items_per_user: int | None = None


@dataclass(frozen=True)
class Measure:
    """One released number for each item.

    Attributes:
        name: what it is called, which is also the name of its column.
        estimates: the numbers, estimated from everything that was released.
        errors: their standard errors.
        noisy: the numbers as they were measured, before any estimate.
        sigmas: σ of that noise.
        whole: whether it is a whole number.
        lowest: its lower bound; None if there is none.
    """

    name: str
    estimates: NDArray[np.float64]
    errors: NDArray[np.float64]
    noisy: NDArray[np.float64]
    sigmas: NDArray[np.float64]
    whole: bool = False
    lowest: float | None = None


@dataclass(frozen=True)
class Total:
    """One released number about all users.

    Attributes:
        name: what it is called.
        noisy: the number as it was measured.
        sigma: σ of its noise.
    """

    name: str
    noisy: int
    sigma: float


@dataclass(frozen=True)
class MechanismResult:
    """What a mechanism released. All of it may be published.

    Attributes:
        items: the names of the items, as the view has them, one row each.
        measures: what was released about each of them; how many users have it comes first.
        spent: what the filter recorded.
        settings: the parameters, and choices made from released values.
        mechanisms: the private steps that ran, in order, in the field's terms.
        post_processing: what was done to their answers.
        totals: what was released about all users together.
        spent_on: what was spent, by purpose; these add up to ``spent``.
    """

    items: Any
    measures: tuple[Measure, ...]
    spent: Cost
    settings: dict[str, object]
    mechanisms: tuple[str, ...] = ()
    post_processing: tuple[str, ...] = ()
    totals: tuple[Total, ...] = ()
    spent_on: dict[str, Cost] = field(default_factory=dict)

    @classmethod
    def of_counts(
        cls,
        *,
        items: Any,  # noqa: ANN401 (as the view has names)
        estimates: NDArray[np.float64],
        errors: NDArray[np.float64],
        noisy: NDArray[np.float64],
        sigmas: NDArray[np.float64],
        spent: Cost,
        settings: dict[str, object],
        mechanisms: tuple[str, ...] = (),
        post_processing: tuple[str, ...] = (),
        spent_on: dict[str, Cost] | None = None,
    ) -> "MechanismResult":
        """Return a result with how many users have each item, and nothing else.

        Without ``spent_on`` the cost is not broken down by purpose. It must not be where that
        depends on what is not published, such as nominees that no test named.
        """
        counts = Measure(COUNT, estimates, errors, noisy, sigmas, whole=True, lowest=0)
        spent_on = spent_on or {FINDING_AND_COUNTING: spent}
        return cls(
            items, (counts,), spent, settings, mechanisms, post_processing, spent_on=spent_on
        )

    @property
    def counts(self) -> Measure:
        """How many users have each item."""
        return self.measures[0]


class Mechanism(ABC):
    """A mechanism with its parameters, and what it may spend. Frozen; nothing in it is data."""

    #: What it may spend.
    budget: Budget
    #: What ``--method`` and ``method=`` call it.
    name: ClassVar[str]
    #: One line of help.
    summary: ClassVar[str]
    #: Whether ledger.md proves that what it did not spend may be spent again; if not, it is charged
    #: in full.
    pays_what_it_gets: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def of(cls, options: Options, budget: Budget) -> "Mechanism":
        """Check what was asked for, before any data is read.

        Raises:
            SettingsError: an option has no meaning for this mechanism, or is outside its range.
            BudgetError: the budget is too small for it.
        """

    @classmethod
    def for_histogram(cls, options: Options, budget: Budget) -> "Mechanism":  # noqa: ARG003
        """Return a mechanism that releases from a histogram of distinct users, without events."""
        raise SettingsError(f"the method {cls.name} needs events, not a histogram of counts")

    @property
    @abstractmethod
    def r(self) -> float:
        """The target relative error."""

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """Return the parameters as plain values."""

    @abstractmethod
    def prepare(
        self, view: DataView, gate: Gate, progress: Progress
    ) -> Callable[[], MechanismResult]:
        """Read what the mechanism needs; return a function that makes the release.

        Preparing reads data and draws no noise. Calling the function draws noise, and everything
        that it returns may be published.
        """

    @property
    def histogram_limit(self) -> int:
        """How many of the highest counts `on_histogram` wants."""
        raise NotImplementedError

    def on_histogram(
        self, top: NamedCounts, floor: int, gate: Gate, progress: Progress
    ) -> MechanismResult:
        """Release from the highest counts of a histogram; only after `for_histogram`."""
        raise NotImplementedError

    def known_in_advance(self) -> list[str]:
        """Return sentences that are true of every release, whatever the data."""
        return []


def refuse(cls: type[Mechanism], options: Options, *names: str) -> None:
    """Refuse options that a mechanism has no use for."""
    if "candidates" in names and options.candidates is not None:
        raise SettingsError(f"the method {cls.name} has no candidates to limit")
    if "max_items_per_user" in names and options.max_items_per_user is not None:
        raise SettingsError(
            "a bound on the items per user is only for the method threshold; the others need none"
        )
