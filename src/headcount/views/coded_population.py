"""A population in arrays of this process, from an engine that provides rows as codes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from headcount.arrays import to_arrow
from headcount.engines.guard import running
from headcount.inputs.open import Events
from headcount.privacy.questions import Integers
from headcount.views.array_population import ArrayPopulation
from headcount.views.histogram import TopCounts, as_items, exact_pairs, unused_name
from headcount.views.pair_arrays import gathered
from headcount.views.shelf import Shelf
from headcount.views.workers import Workers

if TYPE_CHECKING:
    import pyarrow as pa

# Keys may take one part in this many of the memory, and arrays as much again, besides what the
# engine takes. It need not be large: on 10⁸ rows a release took 50.3 s of processor time with most
# keys in files and 49.4 s with all of them in memory.
_SHARE = 6
_ERROR_PREFIX = "the events cannot be read"


class CodedPopulation(ArrayPopulation):
    """Who has what in some events: a `headcount.privacy.questions.Pairs`.

    Users are told apart by their exact ids, and items by the same values that all other passes
    group by (`headcount.views.histogram.exact_pairs`). The names of items stay on the engine.
    """

    def __init__(self, events: Events, user: str, items: Sequence[str]) -> None:
        self._events, self._columns = events, list(items)
        engine = events.engine
        person, rows = exact_pairs(events, user, items, engine.canonical_key)
        if not events.repeatable:
            rows = engine.materialise(rows, _ERROR_PREFIX)
        session = engine.session
        workers = Workers(session.cancel)
        shelf = Shelf(session.folder, session.memory_bytes // _SHARE)
        session.progress("numbering the items")
        with engine.coded_rows(rows, person, items, _ERROR_PREFIX) as coded:
            # Once for all divisions: how many there are depends on the number of users.
            session.progress("reading who has what")
            parts = running(lambda: gathered(coded, workers, shelf), _ERROR_PREFIX, engine.expected)
        if not events.repeatable:
            engine.drop(rows)
        self._items, self._number = coded.items, coded.number
        super().__init__(parts, coded.number_of_items, workers, shelf)

    def highest_counts(self, limit: int) -> TopCounts:
        """Return the highest ``limit`` counts of distinct users, from the same snapshot."""
        import pyarrow as pa

        counts = self.counts()
        least = 1
        if limit < counts.size:
            least = max(least, int(np.partition(counts, counts.size - limit)[counts.size - limit]))
        codes = np.flatnonzero(counts >= least)
        # Ties are broken by the items themselves: codes are in their order.
        codes = codes[np.argsort(-counts[codes], kind="stable")][:limit]
        return TopCounts(self._named(codes), pa.chunked_array([to_arrow(counts[codes])]))

    def found_names(self) -> "pa.Table":
        """Return the found items, which are public, one row each, in the order they were found."""
        return self._named(self.found_items)

    def found_named(self, positions: Integers) -> "pa.Table":
        """Return the names of found items, given their positions among those found."""
        return self._named(self.found_items[positions])

    def _named(self, codes: Integers) -> "pa.Table":
        """Return the names of items, given their codes."""
        import pyarrow as pa

        engine, prefix = self._events.engine, "the items cannot be named"
        place = unused_name("place", [*self._columns, self._number])
        places = to_arrow(np.arange(codes.size, dtype=np.int64))
        asked = pa.table({self._number: to_arrow(codes.astype(np.int64)), place: places})
        wanted = engine.upload(asked, prefix)
        named = wanted.join(self._items, self._number).order_by(place).select(*self._columns)
        return as_items(self._events, engine.run(named, prefix), self._columns)
