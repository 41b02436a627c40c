"""Who has what, held in memory as integer codes so that a trial takes seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from headcount.engines import DEFAULT_MEMORY, Session
from headcount.engines.layout import InputFormat, Layout
from headcount.errors import SourceError
from headcount.inputs import Request, SourceName, TableLike, open_source
from headcount.views.histogram import check_columns, exact_pairs, require_items

if TYPE_CHECKING:
    import pyarrow as pa

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Dataset:
    """Distinct (user, item) pairs, without the names of users and items.

    Attributes:
        users: the user of each pair, in ascending order.
        items: the item of each pair. In a complete dataset, items are ranked by their number of
            users: item 0 has the most.
        number_of_users: one more than the highest user.
        number_of_items: one more than the highest item.
    """

    users: Codes
    items: Codes
    number_of_users: int
    number_of_items: int

    @classmethod
    def of(cls, users: NDArray[Any], items: NDArray[Any]) -> Self:
        """Make a dataset from user and item codes, in any order and possibly repeated.

        Unused codes are dropped. Ties between items are broken by their codes.
        """
        pairs = np.sort(users.astype(np.int64) << 32 | items)
        pairs = pairs[_starts(pairs)]  # np.unique hashes, which takes ten times as long
        person, thing = pairs >> 32, pairs & 0xFFFFFFFF
        dense_users = (np.cumsum(_starts(person)) - 1).astype(np.int32)
        counts = np.bincount(thing)
        rank = np.empty(counts.size, dtype=np.int32)
        rank[np.argsort(-counts, kind="stable")] = np.arange(counts.size, dtype=np.int32)
        return cls(
            dense_users,
            rank[thing],
            int(dense_users[-1]) + 1 if pairs.size else 0,
            int(np.count_nonzero(counts)),
        )

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many users each item has."""
        return np.bincount(self.items, minlength=self.number_of_items)

    @cached_property
    def items_per_user(self) -> NDArray[np.int64]:
        """How many items each user has."""
        edges = np.searchsorted(self.users, np.arange(self.number_of_users + 1, dtype=np.int32))
        return np.diff(edges)

    @cached_property
    def heaviness(self) -> NDArray[np.float64]:
        """The mean number of items of the users who have each item."""
        sums = np.bincount(self.items, self.items_per_user[self.users], self.number_of_items)
        return sums / np.maximum(self.counts, 1)

    @property
    def max_items_per_user(self) -> int:
        """The number of items of the user who has the most."""
        return int(self.items_per_user.max(initial=0))

    def percentile(self, percent: float) -> int:
        """Return the true percentile of items per user, among users who have any."""
        some = self.items_per_user[self.items_per_user > 0]
        return int(np.percentile(some, percent, method="inverted_cdf")) if some.size else 0

    def restricted(self, kept: NDArray[np.bool_]) -> "Dataset":
        """Return only the pairs whose item is kept."""
        return self._where(kept[self.items])

    def bounded(self, max_items_per_user: int, rng: np.random.Generator) -> "Dataset":
        """Return at most this many items of each user, sampled uniformly from those they have."""
        over = self.items_per_user > max_items_per_user
        if not over.any():
            return self
        number = np.cumsum(over) - 1  # the place of each user among those who have too many
        rows = np.flatnonzero(over[self.users])
        # Each user's pairs are a segment. With the user in the high bits and a random key below,
        # one sort gives every user's m-th smallest key. The probability of equal keys, over all
        # users, is less than 1 in 10,000.
        bits = 62 - int(number[-1]).bit_length()
        keys = number[self.users[rows]] << bits
        keys |= rng.integers(0, 1 << bits, size=rows.size)
        ends = np.cumsum(self.items_per_user[over])
        last = np.sort(keys)[ends - self.items_per_user[over] + (max_items_per_user - 1)]
        keep = np.ones(self.users.size, dtype=np.bool_)
        keep[rows] = keys <= last[keys >> bits]
        return self._where(keep)

    def _where(self, keep: NDArray[np.bool_]) -> "Dataset":
        return Dataset(
            self.users[keep], self.items[keep], self.number_of_users, self.number_of_items
        )

    def save(self, folder: Path) -> None:
        """Write the codes to files that other processes can share."""
        np.save(folder / "users.npy", self.users)
        np.save(folder / "items.npy", self.items)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Memory-map what `save` wrote."""
        users: Codes = np.load(folder / "users.npy", mmap_mode="r")
        items: Codes = np.load(folder / "items.npy", mmap_mode="r")
        if not users.size:
            return cls(users, items, 0, 0)
        return cls(users, items, int(users[-1]) + 1, int(items.max()) + 1)


def _starts(rising: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return where a new value begins in an ascending array."""
    first = np.ones(rising.size, dtype=np.bool_)
    first[1:] = rising[1:] != rising[:-1]
    return first


def read_dataset(
    source: SourceName | TableLike,
    *,
    user: str,
    item: Sequence[str],
    table: str | None = None,
    sql: str | None = None,
    input_format: InputFormat | None = None,
    delimiter: str | None = None,
    memory: str = DEFAULT_MEMORY,
) -> Dataset:
    """Read events from any source that a release can be made from.

    The codes depend only on the pairs, not on the order in which an engine returns them.
    """
    with Session(memory) as session:
        layout = Layout(input_format, delimiter)
        request = Request(table, sql, columns=[user, *item], layout=layout)
        events = open_source(session, source, request)
        require_items(item)
        check_columns(events, user, item)
        person, pairs = exact_pairs(events, user, item, events.engine.canonical_key)
        rows = events.engine.run(pairs.distinct(), "the events cannot be read")
    users = _codes(rows[person])
    codes = _codes(rows[item[0]])
    for column in item[1:]:
        both = codes.astype(np.int64) << 32 | _codes(rows[column])
        codes = np.unique(both, return_inverse=True)[1].astype(np.int32)
    return Dataset.of(users, codes)


def _codes(column: "pa.ChunkedArray") -> Codes:
    """Return each value's rank among the distinct values, in ascending order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        encoded = column.combine_chunks().dictionary_encode()
        order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise SourceError("a column holds values that cannot be ordered; cast it to text") from None
    place = np.empty(order.size, dtype=np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    codes: Codes = place[encoded.indices.to_numpy(zero_copy_only=False)]
    return codes
