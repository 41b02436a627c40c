"""Releases as the ledger keeps them, what each is known by, and the question that it answers."""

import hashlib
import hmac
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headcount.errors import SourceError, VerificationError
from headcount.ledger.entries import canonical
from headcount.ledger.names import state
from headcount.release import Release, metadata_of, release_of_table
from headcount.writers.plain import plain_rows

#: What a question consists of, as it stands in the ledger.
Asked = Mapping[str, Any]


def fingerprint(release: Release) -> str:
    """Return what a release is known by: a hash of all that is published of it."""
    names = release.table.column_names
    items = [dict(zip(names, row, strict=True)) for row in plain_rows(release.table)]
    return _fingerprint({**release.guarantee.to_dict(), "items": items})


def _fingerprint(published: object) -> str:
    """Hash the object that a JSON file of the release holds."""
    return hashlib.sha256(canonical(published).encode()).hexdigest()


def fingerprint_of_file(path: Path) -> str:
    """Return what a published Parquet or JSON file is known by."""
    ending = path.suffix.lower()
    if ending not in (".json", ".parquet"):
        raise SourceError(
            "a release is checked from its .parquet or .json file; CSV does not carry its guarantee"
        )
    if not path.is_file():
        raise SourceError(f"there is no file {str(path)!r}")
    try:
        if ending == ".json":
            return _fingerprint(json.loads(path.read_bytes(), object_pairs_hook=_no_key_twice))
        import pyarrow.parquet as pq

        release = release_of_table(pq.read_table(path))
        if release.table.schema.metadata != metadata_of(release.guarantee):
            raise ValueError("it says more than its release")
        return fingerprint(release)
    except OSError as error:
        why = error.strerror or "it cannot be read"
    except Exception:  # whatever is wrong with it
        why = "it is no release that headcount wrote"
    raise VerificationError(f"cannot check {str(path)!r}: {why}")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object of which other programs may read another value than this one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


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


def question(
    key: bytes, dataset: str, asked: Asked, source: object, read_with: object
) -> str | None:
    """Return what a question is known by; None if it cannot be known again.

    A keyed hash: the sizes and times of files go into it, and those depend on private data. The
    key never leaves the ledger.
    """
    if not isinstance(source, str | os.PathLike):
        return None  # a table in memory has no name
    data = state(str(source))
    if data is None:
        return None
    known = {**asked, "source": data, "dataset": dataset, "read with": read_with}
    return hmac.new(key, canonical(known).encode(), hashlib.sha256).hexdigest()
