"""All users of one snapshot, counted by their exact ids."""

from typing import TYPE_CHECKING

from headcount.engines.base import Expression
from headcount.views.passes import Passes

if TYPE_CHECKING:
    import pyarrow as pa


class EngineEverybody:
    """All users who have an item: a `headcount.privacy.questions.Everybody`.

    Where a user's rows within one period are protected, users are still counted, over all periods
    together: the rows of one period also move each number by 0 or 1 (further.md).
    """

    def __init__(self, passes: Passes) -> None:
        self._passes = passes

    def users(self) -> int:
        """Return how many there are."""
        return self._distinct(self._passes.pairs)

    def with_other_items(self, released: "pa.Table") -> int:
        """Return how many have an item that is not among the released ones.

        Formal guarantee: whether a user counts depends on the user's own rows and on the list.

        Edge cases: text that is not UTF-8 is never on the list, as it cannot be written there.
        """
        passes = self._passes
        if not released.num_rows:
            return self.users()
        listed = passes.public(released.select(passes.items))
        return self._distinct(passes.pairs.anti_join(listed, passes.items))

    def _distinct(self, pairs: Expression) -> int:
        users = pairs.select(users=pairs[self._passes.person]).distinct()
        counted = users.aggregate(number=users.count().cast("int64"))
        return int(self._passes.run(counted, 1)["number"].to_pylist()[0])
