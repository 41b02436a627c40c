"""Releases as the ledger keeps them, and what the question that one answers is known by."""

import hashlib
import io
from collections.abc import Mapping
from typing import Any

from headcount.ledger.names import source_key
from headcount.results.canonical import canonical_json
from headcount.results.release import Release, release_of_table

#: What a question consists of, as it stands in the ledger.
Asked = Mapping[str, Any]


def to_bytes(release: Release) -> bytes:
    """Return a release as it is kept, with all of its types."""
    import pyarrow as pa

    out = io.BytesIO()
    with pa.ipc.new_stream(out, release.table.schema) as writer:
        writer.write_table(release.table)
    return out.getvalue()


def from_bytes(content: bytes) -> Release:
    """Return a release that was kept."""
    import pyarrow as pa

    with pa.ipc.open_stream(content) as reader:
        return release_of_table(reader.read_all())


def question(dataset: str, asked: Asked, source: object, read_with: object) -> str | None:
    """Return what a question is known by; None if it is a new one whenever it is asked.

    Nothing of the data goes into it, and nothing that depends on the data, such as the size of a
    file or when it was changed: whether a question is answered at no cost can be seen. That the
    data is the same is for its owner to say, with a version.
    """
    place = source_key(source)
    if asked.get("data_version") is None or place is None:
        return None
    known = {**asked, "source": place, "dataset": dataset, "read with": read_with}
    return hashlib.sha256(canonical_json(known).encode()).hexdigest()
