"""Releases as the ledger keeps them, what each is known by, and the question that it answers."""

import hashlib
import hmac
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from headcount.errors import SourceError, VerificationError
from headcount.ledger.entries import canonical
from headcount.release import Release, release_of_table
from headcount.sources.files import matching
from headcount.writers.plain import plain_rows

#: What a question consists of, as it stands in the ledger.
Asked = Mapping[str, Any]

# The parts of an address that say where, and not who may.
_PUBLIC_PARAMETERS = ("host", "port", "dbname", "user")


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
            return _fingerprint(json.loads(path.read_bytes()))
        import pyarrow.parquet as pq

        return fingerprint(release_of_table(pq.read_table(path)))
    except OSError as error:
        why = error.strerror or "it cannot be read"
    except Exception:  # whatever is wrong with it
        why = "it is no release that headcount wrote"
    raise VerificationError(f"cannot check {str(path)!r}: {why}")


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


def public_name(source: object) -> str:
    """Return the name of a source, without a password that may stand in it."""
    if not isinstance(source, str | os.PathLike):
        return f"a table in memory ({type(source).__name__})"
    name = str(source)
    if "://" not in name:
        return name
    try:
        parts = urlsplit(name)
        user, at, host = parts.netloc.rpartition("@")
        given = parse_qsl(parts.query)
    except ValueError:
        return f"{name.partition('://')[0]}://…"
    query = urlencode([(key, value) for key, value in given if key in _PUBLIC_PARAMETERS])
    return urlunsplit((parts.scheme, user.partition(":")[0] + at + host, parts.path, query, ""))


def question(key: bytes, dataset: str, asked: Asked, source: object) -> str | None:
    """Return what a question is known by; None if it cannot be known again.

    A keyed hash: the sizes and times of files go into it, and those depend on private data. The
    key never leaves the ledger.
    """
    if not isinstance(source, str | os.PathLike):
        return None  # a table in memory has no name
    name = str(source)
    data: object = public_name(name)
    if "://" not in name:
        try:
            data = [_state(path) for path in _files(name)]
        except (OSError, SourceError):
            return None  # what is wrong with it is said where it is opened
    known = {**asked, "source": data, "dataset": dataset}
    return hmac.new(key, canonical(known).encode(), hashlib.sha256).hexdigest()


def _files(name: str) -> list[Path]:
    path = Path(name).expanduser()
    if path.is_dir():  # a lake folder
        return sorted(file for file in path.rglob("*") if file.is_file())
    return matching(name)[1]


def _state(path: Path) -> list[object]:
    found = path.stat()
    return [str(path.resolve()), found.st_size, found.st_mtime_ns]
