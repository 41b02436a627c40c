"""How an engine answers a mechanism's questions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from headcount.errors import SourceError
from headcount.inputs.open import Events
from headcount.privacy.questions import Pairs
from headcount.views.amounts import EngineAmounts
from headcount.views.bounded import bounded_counts
from headcount.views.coded_population import CodedPopulation
from headcount.views.engine_population import EnginePopulation
from headcount.views.everybody import EngineEverybody
from headcount.views.exact_counts import count_items_and_users
from headcount.views.grouped_population import GroupedPopulation
from headcount.views.histogram import TopCounts, count_distinct_users
from headcount.views.known_population import KnownPopulation
from headcount.views.passes import Passes

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class EngineView:
    """A `headcount.privacy.questions.DataView` of events on an engine.

    Attributes:
        events: the table, and the engine that holds it.
        user: the column that identifies the user.
        items: the columns whose values are counted.
        known: a public list of items, if only these are counted.
        most_known: how many items of the list one user can have, if that is less than all.
        one_snapshot: whether all answers must be about one state of the data, which the engine
            keeps; for callers that ask more than one question.
        values: the columns of numbers, if `amounts` is asked for; None if it is not.
        max_rows: how many rows per user and item count in `amounts`; None for all.
    """

    events: Events
    user: str
    items: Sequence[str]
    known: "pa.Table | None" = None
    most_known: int | None = None
    one_snapshot: bool = False
    values: Sequence[str] | None = None
    max_rows: int | None = None

    @cached_property
    def _kept(self) -> Passes:
        return Passes(self.events, self.user, self.items, self.values)

    @property
    def _shared(self) -> Passes | None:
        """The passes that all answers share; None if each answer has its own."""
        return self._kept if self.one_snapshot and self.several_passes else None

    @property
    def several_passes(self) -> bool:
        """Whether the engine can keep pairs between passes."""
        return self.events.engine.several_passes

    def highest_counts(self, limit: int, *, with_users: bool = False) -> TopCounts:
        """Return the highest counts of distinct users, and the number of users if rows are kept.

        If they are not kept, the two could come from different states of a table.
        """
        asked = self.events, self.user, self.items, limit
        if self._shared is not None:
            return count_items_and_users(*asked, passes=self._shared)
        if not (with_users and self.several_passes):
            return count_distinct_users(*asked)
        if self.events.engine.codes_rows:
            population = CodedPopulation(self.events, self.user, self.items)
            top = population.highest_counts(limit)
            return replace(top, users=population.number_of_users)
        return count_items_and_users(*asked)

    def bounded_counts(self, max_items_per_user: int, at_least: int) -> TopCounts:
        """Return the counts with a bound on the items of each user."""
        asked = self.events, self.user, self.items, max_items_per_user, at_least
        return bounded_counts(*asked, passes=self._shared)

    def pairs(self) -> Pairs:
        """Return who has what, kept by the engine, or here as codes if the engine provides them."""
        asked, engine = (self.events, self.user, self.items), self.events.engine
        if self._shared is None and engine.codes_rows:
            return CodedPopulation(*asked)
        if self._shared is None and engine.groups_users:
            return GroupedPopulation(*asked)
        return EnginePopulation(*asked, self._shared)

    def known_pairs(self) -> tuple[KnownPopulation, int, int]:
        """Return who has which items of the list, kept by the engine."""
        if self.known is None or not self.several_passes:
            raise SourceError(
                "a list of items cannot be counted here: the engine cannot, or may not, keep rows "
                "between passes"
            )
        known = KnownPopulation(self.events, self.user, self.items, self.known, self._shared)
        items = self.known.num_rows
        return known, items, items if self.most_known is None else self.most_known

    def everybody(self) -> EngineEverybody:
        """Return all users, from the same snapshot as everything else."""
        return EngineEverybody(self._kept)

    def amounts(self) -> EngineAmounts:
        """Return what each user has of each item, from the same snapshot as everything else."""
        return EngineAmounts(self._kept, self.max_rows)
