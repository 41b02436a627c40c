"""Users on Spark with their items in an array, one row for each user, kept on the executors.

Each pair is moved once, to its user. From then on every question is answered where the rows are:
a user's items are added up within the user's own row, with public arrays that every executor has.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headcount.arrays import to_arrow
from headcount.engines.base import Expression
from headcount.engines.groups import GroupedRows, GroupedUsers, two_slots
from headcount.engines.spark.failures import translated, undo

if TYPE_CHECKING:
    from headcount.engines.spark.count import Spark

Frame = Any  # of pyspark, as its columns are


class SparkUsers(GroupedUsers):
    """Users as a data frame with one column, ``items``, an array."""

    def __init__(self, engine: "Spark", frame: Frame, error_prefix: str) -> None:
        self._engine, self._frame = engine, frame
        self.table = engine.viewed(frame, error_prefix)

    def sums(self, values: Mapping[str, NDArray[np.int64]], error_prefix: str) -> Expression:
        """Return the table with one more column for each name: a sum over the user's items."""
        arrays = self._arrays(list(values.values()), error_prefix)
        each = [
            f"aggregate(items, 0L, (total, item) -> total + {array}[item]) AS {name}"
            for name, array in zip(values, arrays, strict=True)
        ]
        summed = translated(lambda: self._frame.selectExpr("items", *each), error_prefix)
        return self._engine.viewed(summed, error_prefix)

    def only(self, codes: NDArray[np.int64], error_prefix: str) -> "SparkUsers":
        """Keep only some items; from then on an item's code is its place among them."""
        found = "filter(transform(items, item -> {place}), place -> place >= 0) AS items"
        return self._restricted(codes, found, error_prefix)

    def without(self, codes: NDArray[np.int64], error_prefix: str) -> "SparkUsers":
        """Keep all items except some."""
        return self._restricted(codes, "filter(items, item -> {place} < 0) AS items", error_prefix)

    def _restricted(self, codes: NDArray[np.int64], items: str, error_prefix: str) -> "SparkUsers":
        table = two_slots(codes)
        known, slots = self._arrays([codes, table], error_prefix)
        first = f"{slots}[item & {table.size - 1}L]"
        other = f"{slots}[shiftrightunsigned(item, 32) & {table.size - 1}L]"
        place = (
            f"CASE WHEN {known}[{first}] = item THEN {first} "
            f"WHEN {known}[{other}] = item THEN {other} ELSE -1 END"
        )
        kept = self._engine.keep_frame(
            lambda: self._frame.selectExpr(items.format(place=place)), error_prefix
        )
        return SparkUsers(self._engine, kept, error_prefix)

    def _arrays(self, arrays: Sequence[NDArray[Any]], error_prefix: str) -> list[str]:
        """Store public arrays as variables of the Spark session; return their names.

        In a query they are literals, which each task has once. A column of a one-row table would be
        copied for each user it is joined with.
        """
        import pyarrow as pa

        spark = self._engine.backend._session
        names = [self._engine.scratch_name() for _ in arrays]
        lists = [
            pa.ListArray.from_arrays(
                to_arrow(np.array([0, array.size], dtype=np.int32)), to_arrow(array)
            )
            for array in arrays
        ]

        def drop(name: str) -> None:
            spark.sql(f"DROP TEMPORARY VARIABLE IF EXISTS {name}")

        def put() -> None:
            row = spark.createDataFrame(pa.table(lists, names))
            for name, kind in row.dtypes:
                self._engine.session.at_end(partial(undo, partial(drop, name)))
                spark.sql(f"DECLARE VARIABLE {name} {kind}")
            listed = ", ".join(names)
            chosen = f"SELECT {listed} FROM {{row}}"  # noqa: S608 (names of our own)
            spark.sql(f"SET VARIABLE ({listed}) = ({chosen})", row=row)

        translated(put, error_prefix)
        return names


def group_users(
    engine: "Spark", rows: Expression, user: str, items: Sequence[str], error_prefix: str
) -> GroupedRows:
    """Keep one row for each user: see `headcount.engines.base.Engine.group_users`."""
    spark, select = engine.backend._session, engine.compiled(rows)
    code, rank, count = (engine.scratch_name() for _ in range(3))
    columns = [_quoted(column) for column in items]
    # Items by name, and read once: everything else is made from these rows.
    names = engine.keep_frame(lambda: _by_user(spark.sql(select), user, items), error_prefix)

    def listed() -> Frame:
        counted = (
            _exploded(names, items).groupBy(*columns).agg(_functions().count("*").alias(count))
        )
        # The numbers rise from row to row, with gaps, and the rows are sorted here.
        number = _functions().monotonically_increasing_id().alias(rank)
        return counted.sort(*columns).select("*", number, _hash(*columns).alias(code))

    table = engine.keep_frame(listed, error_prefix)
    if engine.answered(lambda: _collisions(table, code), error_prefix):
        ranked = table.withColumn(code, _functions().xxhash64(rank))
        users = engine.keep_frame(lambda: _numbered(names, ranked, items, code), error_prefix)
    else:
        ranked = table
        users = engine.keep_frame(lambda: _hashed(names), error_prefix)
    engine.drop_frame(names)
    grouped = SparkUsers(engine, users, error_prefix)
    return GroupedRows(grouped, engine.viewed(ranked, error_prefix), code, rank, count)


def _by_user(rows: Frame, user: str, columns: Sequence[str]) -> Frame:
    """Return one row for each user: ``items``, an array of values, or of structures of several.

    A set distinguishes what GROUP BY on the same columns does not: 0.0 from -0.0 within a
    structure, and one NaN from another outside one. A user would have such an item several times.
    """
    F = _functions()  # noqa: N806 (their usual name)
    kinds = dict(rows.dtypes)
    floats = {column for column in columns if kinds[column] in ("float", "double")}

    def value(column: str) -> Any:  # noqa: ANN401
        given = F.col(_quoted(column))
        if column not in floats:
            return given
        zero, nan = (F.lit(number).cast(kinds[column]) for number in (0.0, math.nan))
        return F.nanvl(given + zero, nan).alias(column)

    items = F.collect_set(F.struct(*map(value, columns)) if columns[1:] else value(columns[0]))
    if floats and not columns[1:]:
        items = F.array_distinct(items)
    return rows.groupBy(_quoted(user)).agg(items.alias("items")).select("items")


def _exploded(names: Frame, items: Sequence[str], *beside: str) -> Frame:
    """Return the item columns, with a row for each item of each user."""
    F = _functions()  # noqa: N806
    each = F.inline("items") if len(items) > 1 else F.explode("items").alias(items[0])
    return names.select(*beside, each)


def _hash(*columns: Any) -> Any:  # noqa: ANN401
    """Return an item's hash: of its columns, or of a structure of them, which hashes the same."""
    return _functions().xxhash64(*columns)


def _collisions(items: Frame, code: str) -> bool:
    """Whether two items have the same code."""
    twice = items.groupBy(code).count().filter("count > 1").limit(1)
    return bool(twice.collect())


def _hashed(names: Frame) -> Frame:
    """Return users whose items are their hashes."""
    return names.select(_functions().transform("items", lambda item: _hash(item)).alias("items"))


def _numbered(names: Frame, ranked: Frame, items: Sequence[str], code: str) -> Frame:
    """Return users whose items are the codes that a table gives them.

    Used if two items have the same hash. Hashes of ranks are all different: each step of Spark's
    hash of one 64-bit number is invertible.
    """
    F = _functions()  # noqa: N806
    row = f"{code}_row"
    each = _exploded(names.withColumn(row, F.monotonically_increasing_id()), items, row)
    coded = each.join(ranked.select(*map(_quoted, items), code), list(items))
    return coded.groupBy(row).agg(F.collect_list(code).alias("items")).select("items")


def _functions() -> Any:  # noqa: ANN401
    from pyspark.sql import functions

    return functions


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"
