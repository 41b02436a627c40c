"""Parquet, with the guarantee in the file's metadata."""

import io
from typing import TYPE_CHECKING

from headcount.results.canonical import as_text_unless
from headcount.results.release import Release

if TYPE_CHECKING:
    import pyarrow as pa


def to_parquet(release: Release) -> bytes:
    """Return a release as Parquet; its schema metadata carries the guarantee.

    Parquet has no seconds but milliseconds. Times beyond these, such as infinity, are text.
    """
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(as_text_unless(release.table, _in_milliseconds), out)
    return out.getvalue()


def _in_milliseconds(column: "pa.ChunkedArray") -> None:
    """Fail where writing a column would."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.unit == "s":
        column.cast(pa.timestamp("ms", column.type.tz))
