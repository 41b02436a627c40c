"""Who has which of a public list of items, held by the engine that holds the events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headcount.arrays import to_arrow
from headcount.engines.base import Expression
from headcount.inputs.open import Events
from headcount.views.engine_population import EnginePopulation
from headcount.views.histogram import unused_name
from headcount.views.passes import Passes

if TYPE_CHECKING:
    import pyarrow as pa


class KnownPopulation(EnginePopulation):
    """A population whose items are those of a public list, all of them found.

    It answers `sizes`, which counts listed items, and `clipped_sums`. Items that are not on the
    list do not exist: no row about them has any influence on an answer.
    """

    def __init__(
        self,
        events: Events,
        user: str,
        items: Sequence[str],
        listed: "pa.Table",
        passes: Passes | None = None,
    ) -> None:
        import ibis

        self._passes = passes = passes or Passes(events, user, items)
        self._listed = listed
        place = unused_name("place", [*items, passes.user])
        places = to_arrow(np.arange(listed.num_rows, dtype=np.int64))
        public = passes.public(listed.append_column(place, places))
        found = passes.pairs.join(public, list(items))
        pairs = passes.keep(found.select(user_number=found[passes.user], place=found[place]))
        sizes = pairs.group_by("user_number").agg(items=ibis._.count().cast("int64"))
        self._split: _Listed = _Listed(pairs, passes.keep(sizes))  # type: ignore[assignment]

    def found_names(self) -> "pa.Table":
        """Return the items of the list, which are public, in its order."""
        return self._listed


@dataclass(frozen=True, eq=False)
class _Listed:
    """The pairs of listed items.

    Attributes:
        found_pairs: as a ``user_number`` and the item's ``place`` in the list.
        sizes: how many ``items`` of the list each ``user_number`` has.
    """

    found_pairs: Expression
    sizes: Expression

    @property
    def open_sizes(self) -> Expression:
        """The same: here `sizes` counts the listed items, although all of them are found."""
        return self.sizes
