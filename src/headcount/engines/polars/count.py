"""Polars, with its streaming engine."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.engines.base import BEYOND_LAST_DAY, FIRST_DAY, Expression
from headcount.engines.guard import opening
from headcount.engines.keeper import KeptByDuckDB
from headcount.engines.types import refuse_cuts, refuse_differences
from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_DIGITS = 38  # of its decimals
# Types that Ibis does not know, or that some versions of Polars cannot filter, each with one that
# holds the same values.
_READ_AS = {"Float16": "Float32", "Null": "String"}


def read_parquet(
    paths: Sequence[Path], stored: "Sequence[pa.Schema]", columns: Collection[str] | None
) -> Any:  # noqa: ANN401 (Ibis has no types)
    """Return an Ibis table of Parquet files.

    Args:
        paths: the files.
        stored: what they say about their columns.
        columns: the requested ones; the others may be of any type.
    """
    import ibis
    import polars

    def read() -> Any:  # noqa: ANN401
        # The names are not patterns, and the columns are those of the files, whatever their folders
        # are called.
        scan = partial(polars.scan_parquet, glob=False, hive_partitioning=False)
        # Polars tells types apart that Arrow does not: text, and text that is numbered.
        kinds = {
            path: {name: (str(kind), "") for name, kind in scan(path).collect_schema().items()}
            for path in paths
        }
        refuse_differences(kinds, columns)
        frame = scan([str(path) for path in paths], extra_columns="ignore")
        if columns is not None and set(columns) <= set(frame.collect_schema().names()):
            frame = frame.select(columns)
        for name, kind in frame.collect_schema().items():
            if str(kind) in _READ_AS:
                other = getattr(polars, _READ_AS[str(kind)])
                frame = frame.with_columns(polars.col(name).cast(other))
        table = ibis.polars.connect({"events": frame}).table("events")
        held = table.schema().to_pyarrow()
        for schema in stored:
            refuse_cuts(schema, held, columns, f"Polars {polars.__version__}")
        return table

    return opening(read, "cannot read the parquet files")


class Polars(KeptByDuckDB):
    """Polars. It keeps all of its working state in memory.

    Between passes DuckDB keeps the pairs: through Ibis, Polars has no window functions, and its
    sums of integers wrap around when they grow too large.
    """

    def canonical_key(self, column: Expression) -> Expression:
        """Return a column whose values are equal only if they look the same."""
        kind = column.type()
        if kind.is_decimal() and (kind.precision or 0) > _MOST_DIGITS:
            raise SourceError(
                f"Polars has no decimals of more than {_MOST_DIGITS} digits, as column "
                f"{column.get_name()!r} has; give it as text"
            )
        return super().canonical_key(column)

    def with_day(self, table: Expression, column: str, name: str, zone: str) -> Expression:
        """Return a table with the days of a column: Ibis lacks Polars' time zones."""
        import polars

        frame, time = self.backend.compile(table), polars.col(column)
        kind = frame.collect_schema()[column]
        of_moments = getattr(kind, "time_zone", None)  # a date has none
        if getattr(kind, "time_unit", "") == "ns":
            # All are within the calendar, but local time may not fit into nanoseconds.
            time = time.to_physical().floordiv(1000).cast(polars.Datetime("us", of_moments))
        else:
            first, beyond = (
                polars.lit(datetime.fromisoformat(day)).cast(kind)
                for day in (FIRST_DAY, BEYOND_LAST_DAY)
            )
            time = polars.when((time >= first) & (time < beyond)).then(time)
        if of_moments is not None:
            time = time.dt.convert_time_zone(zone)
        day = time if kind == polars.Date else time.dt.date()
        kept = self.scratch_name()
        self.backend._add_table(kept, frame.with_columns(day.alias(name)))
        return self.backend.table(kept)

    def first_day(self, day: Expression, period: str) -> Expression:
        """Return the first day of a period."""
        return day.truncate({"day": "D", "week": "W", "month": "M", "year": "Y"}[period])

    def batches(self, query: Expression) -> "Iterable[pa.Table]":
        """Run a query on the streaming engine."""
        yield self.fetch(query)

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query on the streaming engine, or over what DuckDB keeps."""
        if not self.is_own(query):
            return self.keeper.fetch(query)
        return self.backend.to_pyarrow(query, engine="streaming")
