"""A question about a histogram that exists already, as one frozen value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headcount.errors import SourceError
from headcount.inputs import TableLike
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.mechanisms import Mechanism, Options, mechanism
from headcount.privacy.mechanisms.pcr.candidates import LARGEST_COUNT
from headcount.question import (
    DEFAULT_METHOD,
    Columns,
    Method,
    check_budget,
    check_result_columns,
    column_names,
)
from headcount.results.provenance import Asked
from headcount.results.rows import RowLimits


@dataclass(frozen=True, kw_only=True)
class HistogramQuestion:
    """How many distinct users have each item of a histogram that exists already.

    The parameters are those of `headcount.release_counts`, which describes them.
    """

    counts: Mapping[Any, int] | TableLike = field(hash=False, repr=False)
    budget: Budget
    item: str | Sequence[str] | None = None
    count: str = "count"
    minimum: int = 1
    users: int | None = field(default=None, repr=False)  # not noisy
    method: Method = DEFAULT_METHOD
    relative_error: float | None = None
    candidates: int | None = None
    min_users: int | None = None
    top: int | None = None
    columns: Columns = "standard"
    user: str | None = None

    def __post_init__(self) -> None:
        check_budget(self.budget)
        _ = self.mechanism
        check_result_columns(self.columns)
        if isinstance(self.minimum, bool) or not isinstance(self.minimum, int) or self.minimum < 1:
            raise SourceError("minimum must be a whole number of at least 1")
        _ = self.row_limits
        _check_users(self.users)
        if self.item is not None:
            object.__setattr__(self, "item", column_names(self.item))

    @property
    def row_limits(self) -> RowLimits:
        """Which rows of the release are kept."""
        return RowLimits(self.min_users, self.top)

    @property
    def asked(self) -> Asked:
        """Which items were given, as a release states it."""
        return Asked(minimum=None if self.minimum == 1 else self.minimum)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that will answer it, with its parameters."""
        options = Options(self.relative_error, self.candidates)
        return mechanism(self.method).for_histogram(options, self.budget)


def _check_users(users: int | None) -> None:
    if users is None:
        return
    if isinstance(users, bool) or not isinstance(users, int) or not 0 <= users <= LARGEST_COUNT:
        raise SourceError(
            f"users must be a whole number of at least 0 and at most {LARGEST_COUNT:,}"
        )
