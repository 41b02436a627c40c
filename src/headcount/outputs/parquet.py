"""Parquet, with the guarantee in the file's metadata."""

import io

from headcount.results.release import Release


def to_parquet(release: Release) -> bytes:
    """Return a release as Parquet; its schema metadata carries the guarantee."""
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(release.table, out)
    return out.getvalue()
