"""Distinct users per item, counted, ordered and truncated by the engine.

One aggregation, written in Ibis and compiled for the engine that holds the data. At most
k̄+1 rows of its result reach Python.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from headcount.arrays import as_text, to_arrow, to_numpy
from headcount.engines.base import Expression
from headcount.engines.names import holds_lists, holds_no_values, no_such_column
from headcount.errors import SourceError
from headcount.inputs.open import Events
from headcount.inputs.sql import cast_of_column
from headcount.privacy.mechanisms.pcr.candidates import LARGEST_COUNT
from headcount.privacy.questions import Integers

if TYPE_CHECKING:
    import pyarrow as pa

#: The columns that a result adds; an item column cannot have one of these names.
RESULT_COLUMNS = ("count", "std_error", "lower", "upper")
#: What ``columns="all"`` adds to them: the counts before anything was estimated from them.
NOISY_COLUMNS = ("noisy_count", "noisy_std_error")
_RESERVED = (*RESULT_COLUMNS, *NOISY_COLUMNS, "private")  # the last marks what was made with a seed

# The most rows that an engine's LIMIT takes; no table has as many items.
_MOST_ROWS = 2**62


@dataclass(frozen=True)
class TopCounts:
    """Items and how many distinct users each has: true counts, which are private.

    Attributes:
        items: one column per item column, one row per item: by descending count, except that
            bounded counts are in the order of the items.
        counts: an Arrow array of the counts.
        users: the number of users, if it is known.
    """

    items: "pa.Table"
    counts: "pa.ChunkedArray"
    users: int | None = None

    @property
    def values(self) -> Integers:
        """The counts as an array."""
        return to_numpy(self.counts)

    def named(self, positions: Integers) -> "pa.Table":
        """Return the names of the items at these positions."""
        return self.items.take(to_arrow(positions))


def require_items(items: Sequence[str]) -> None:
    """Refuse an empty list of item columns."""
    if not items:
        raise SourceError("name at least one item column")


def check_names(user: str, items: Sequence[str]) -> None:
    """Refuse column names that cannot be right, whatever the table holds."""
    if len(set(items)) < len(items):
        raise SourceError("an item column is named twice")
    if user in items:
        raise SourceError(f"the user column and an item column are the same: {user!r}")


def check_columns(events: Events, user: str, items: Sequence[str]) -> None:
    """Refuse columns that are missing, clash, or do not hold plain values."""
    check_names(user, items)
    schema = events.table.schema()
    _check_there(events, (user, *items))
    for column in items:
        if column.casefold() in _RESERVED:
            raise SourceError(
                f"an item column cannot be called {column!r}, which is a column of the result; "
                "rename it"
            )
    for column in (user, *items):
        kind = schema[column]
        if kind.is_array():
            raise SourceError(holds_lists(column, (user, *items)))
        # JSON may hold lists in any row, so its type decides.
        if kind.is_nested() or kind.is_json() or kind.is_interval() or kind.is_unknown():
            raise SourceError(holds_no_values(column))


def check_numbers(events: Events, columns: Sequence[str]) -> None:
    """Refuse columns that are missing, or hold no numbers that can be added up."""
    _check_there(events, columns)
    for column in columns:
        kind = events.table.schema()[column]
        if not (kind.is_integer() or kind.is_floating() or kind.is_decimal()):
            held = "text" if kind.is_string() else f"{str(kind).partition('(')[0]} values"
            cast = f", or with SQL if it is in a file: {cast_of_column(column, 'DOUBLE')}"
            raise SourceError(
                f"column {column!r} holds {held}, but sums and means need numbers; convert it "
                "where the file or table is made"
                f"{cast if kind.is_string() else ''}"
            )


def _check_there(events: Events, columns: Sequence[str]) -> None:
    """Refuse columns that are missing, or that differ from another only in case."""
    schema = events.table.schema()
    folded = Counter(name.casefold() for name in schema.names)
    for column in columns:
        if column not in schema:
            raise SourceError(no_such_column(column, schema.names))
        if folded[column.casefold()] > 1:
            raise SourceError(f"another column differs from {column!r} only in case")


def count_distinct_users(events: Events, user: str, items: Sequence[str], limit: int) -> TopCounts:
    """Count the distinct users of each item and return the highest ``limit`` counts.

    Formal guarantee: one more user can raise any set of the counts, each by exactly 1; none falls.
    Rows whose user or item (any of its columns) is NULL do not count.

    Edge cases: fewer items than ``limit`` give fewer rows; no rows give none.
    """
    import ibis

    count = unused_name("count", items)
    # A subquery of distinct pairs and a plain count: some engines sort for COUNT(DISTINCT).
    _, pairs = exact_pairs(events, user, items, events.engine.user_key)
    counted = pairs.distinct().group_by(items).agg(**{count: ibis._.count()})
    return highest(events, counted, items, count, limit)


def exact_pairs(
    events: Events,
    user: str,
    items: Sequence[str],
    key: Callable[[Expression], Expression],
    values: Mapping[str, str] | None = None,
) -> tuple[str, Expression]:
    """Return the name of the user column, and a row with the user and the item for each event.

    Rows with NULLs are left out; repeated rows are not. ``key`` makes what stands for a user.
    ``values`` maps names to further columns of numbers, which may be NULL.
    """
    person = unused_name("user", items)
    return person, _exact_items(events, items, user, person, key, values)


def _exact_items(
    events: Events,
    items: Sequence[str],
    other: str,
    name: str,
    made_of: Callable[[Expression], Expression],
    values: Mapping[str, str] | None = None,
) -> Expression:
    """Return the items and, as ``name``, what is made of another column; no rows with NULLs."""
    table, engine = events.table, events.engine
    kept = table.filter(
        table[other].notnull(), *(engine.has_value(table[column]) for column in items)
    )
    also = [] if events.person is None else [events.person]
    exact = {column: engine.canonical_key(kept[column]) for column in (*items, *also)}
    numbers = {name: engine.as_float(kept[column]) for name, column in (values or {}).items()}
    return kept.select(**exact, **{name: made_of(kept[other])}, **numbers)


def top_of_histogram(
    histogram: Events,
    count: str,
    items: Sequence[str],
    minimum: int,
    limit: int,
    users: int | None = None,
) -> TopCounts:
    """Return the highest ``limit`` counts of an existing histogram.

    Counts below ``minimum`` and items that are NULL are left out. ``users`` is the number of all
    users who were counted, if it is known.
    """
    import ibis

    if not histogram.table[count].type().is_integer():
        raise SourceError(f"the column {count!r} must hold whole numbers")
    number, rows = unused_name("count", items), unused_name("rows", items)
    kept = _exact_items(histogram, items, count, number, lambda column: column)
    repeated = kept.group_by(items).agg(**{rows: ibis._.count()}).filter(ibis._[rows] > 1)
    outside = kept.filter((kept[number] < 0) | (kept[number] > LARGEST_COUNT))
    for bad in (repeated, outside):
        if histogram.engine.run(bad.limit(1), "the counts cannot be read").num_rows:
            raise SourceError(
                "this is not a histogram of distinct users: an item is in several rows, or a "
                "count is negative or too large"
            )
    top = kept.filter(kept[number] >= minimum)
    if users is not None:
        # A higher count is no error: that would reveal whether there is one, for any number given.
        top = top.mutate(**{number: ibis.least(top[number], max(users, minimum))})
    top = top.mutate(**{number: top[number].cast("int64")})
    return replace(highest(histogram, top, items, number, limit), users=users)


def table_of(counts: Mapping[Any, int]) -> "pa.Table":
    """Return a mapping from items to counts as a table with the columns item and count."""
    import pyarrow as pa

    if any(isinstance(n, bool) or not isinstance(n, Integral) for n in counts.values()):
        raise SourceError("the counts must be whole numbers")
    if any(abs(int(n)) > LARGEST_COUNT for n in counts.values()):
        raise SourceError("this is not a histogram of distinct users: a count is too large")
    # One type for all keys: a type inferred from them would reveal something about them. Of keys
    # with the same text, the largest count is kept, which one user moves by at most 1.
    highest_of: dict[str | None, int] = {}
    for key, n in counts.items():
        text = as_text(key)
        highest_of[text] = max(int(n), highest_of.get(text, int(n)))
    items, numbers = pa.array(highest_of, pa.string()), pa.array(highest_of.values(), pa.int64())
    return pa.table({"item": items, "count": numbers})


def highest(
    events: Events,
    counted: Any,  # noqa: ANN401 (Ibis has no types)
    items: Sequence[str],
    count: str,
    limit: int,
) -> TopCounts:
    """Return the highest counts of a table of items and counts, at most ``limit`` of them."""
    import ibis

    # Ties are broken by the items themselves; any rule is safe.
    top = counted.order_by(ibis.desc(count), *items).limit(min(limit, _MOST_ROWS))
    result = as_items(events, events.engine.run(top, "the events cannot be counted"), items)
    return TopCounts(result.select(list(items)), result[count])


def as_items(events: Events, result: "pa.Table", items: Sequence[str]) -> "pa.Table":
    """Return a result in which text that was grouped by its bytes is text again."""
    for column in set(items) & set(result.column_names):
        if not events.table[column].type().is_binary() and _may_be_text(result[column]):
            place = result.column_names.index(column)
            result = result.set_column(place, column, _as_text(result[column]))
    return result


def _may_be_text(column: "pa.ChunkedArray") -> bool:
    import pyarrow as pa

    return any(of(column.type) for of in (pa.types.is_binary, pa.types.is_string))


def _as_text(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Return bytes as text; bytes that are not UTF-8 are escaped rather than refused.

    An error would reveal that such an item is among the highest counts.
    """
    import pyarrow as pa

    def seen_as(kind: pa.DataType) -> pa.ChunkedArray:
        return pa.chunked_array([chunk.view(kind) for chunk in column.chunks], kind)

    text = seen_as(pa.string())
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        values = seen_as(pa.binary()).to_pylist()
        decoded = [value.decode("utf-8", "backslashreplace") for value in values]
        text = pa.chunked_array([pa.array(decoded, pa.string())])
    return text


def unused_name(name: str, taken: Sequence[str]) -> str:
    """Return a column name that is not taken."""
    while name in (column.casefold() for column in taken):
        name += "_"
    return name
