"""What an engine answers to the questions of a mechanism."""

from collections.abc import Sequence
from dataclasses import dataclass

from headcount.inputs.open import Events
from headcount.views.bounded import bounded_counts
from headcount.views.engine_population import EnginePopulation
from headcount.views.exact_counts import count_items_and_users
from headcount.views.histogram import TopCounts, count_distinct_users


@dataclass(frozen=True)
class EngineView:
    """Events on an engine, as `headcount.views.protocol.DataView` asks about them.

    Attributes:
        events: the table, and the engine that holds it.
        user: the column that identifies the user.
        items: the columns whose values are counted.
    """

    events: Events
    user: str
    items: Sequence[str]

    @property
    def several_passes(self) -> bool:
        """Whether the engine can keep pairs between passes."""
        return self.events.engine.several_passes

    def highest_counts(self, limit: int, *, with_users: bool = False) -> TopCounts:
        """Return the highest counts of distinct users; with how many there are, if rows are kept.

        Without that, the two numbers might be of two states of a table.
        """
        count = (
            count_items_and_users if with_users and self.several_passes else count_distinct_users
        )
        return count(self.events, self.user, self.items, limit)

    def bounded_counts(self, max_items_per_user: int, at_least: int) -> TopCounts:
        """Return the counts when only so many items of each user count."""
        return bounded_counts(self.events, self.user, self.items, max_items_per_user, at_least)

    def pairs(self) -> EnginePopulation:
        """Return who has what, kept by the engine."""
        return EnginePopulation(self.events, self.user, self.items)
