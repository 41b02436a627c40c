"""Files of events: which there are, and what they are."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.engines.guard import opening
from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv"}
KINDS |= {".json": "json", ".jsonl": "json", ".ndjson": "json"}
KINDS |= {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite"}
KINDS |= {".db": "database"}  # of either engine; its first bytes say which

_MAGIC = {"duckdb": (8, b"DUCK"), "sqlite": (0, b"SQLite format 3\0"), "parquet": (0, b"PAR1")}
_GZIP = b"\x1f\x8b"
_TEXT = ("csv", "tsv", "json")
_LAKES = (("delta", "_delta_log"), ("iceberg", "metadata"))

_HINTS = {
    "json": ": it needs one object on each line (JSON lines), in UTF-8",
    "csv": ": it needs text in UTF-8",
    "tsv": ": it needs text in UTF-8",
}


def is_gzipped(path: Path) -> bool:
    """Whether a file's ending says that it is compressed."""
    return path.suffix.lower() == ".gz"


def as_path(name: str) -> Path:
    """Return a path with ~ expanded; that of a user who does not exist is left as it is."""
    return Path(os.path.expanduser(name))  # noqa: PTH111 (Path.expanduser raises instead)


def named(name: str) -> list[Path]:
    """Return the files and folders that a path or glob names, if there are any."""
    path = as_path(name)
    if os.path.exists(path):  # noqa: PTH110 (False, not an error, for an impossible name)
        return [path]
    if not glob.has_magic(name):
        return []
    return [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207


def matching(name: str) -> tuple[str, list[Path]]:
    """Return what kind of files a path or glob names, and the files: there and not empty."""
    paths = named(name)
    if len(paths) > 1:
        paths = [path for path in paths if not path.is_dir()]
    if not paths:
        what = "no file matches" if glob.has_magic(name) else "there is no file"
        raise SourceError(f"{what} {name!r}")
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise SourceError("the files are of different kinds; give files of one kind")
    return kinds.pop(), paths


def stored_schemas(paths: Sequence[Path]) -> "list[pa.Schema]":
    """Return what Parquet files say of their columns."""
    import pyarrow.parquet as pq

    return [
        opening(lambda path=path: pq.read_schema(path), f"cannot read {str(path)!r}")  # type: ignore[misc]
        for path in paths
    ]


def lake_of(folder: Path) -> str | None:
    """Return the form of a lake table that is a folder with more than Parquet in it."""
    return next((form for form, mark in _LAKES if (folder / mark).is_dir()), None)


def _kind(path: Path) -> str:
    kind = KINDS.get(
        path.with_suffix("").suffix.lower() if is_gzipped(path) else path.suffix.lower()
    )
    if path.is_dir():
        if lake := lake_of(path):  # some of its files are not part of it any more
            raise SourceError(f"{str(path)!r} is a {lake.title()} table; --engine spark reads it")
        raise SourceError(f"{str(path)!r} is a folder; name its files, for instance with a glob")
    if kind is None or (is_gzipped(path) and kind not in _TEXT):
        known = ", ".join(sorted(KINDS))
        raise SourceError(
            f"cannot tell what {str(path)!r} is by its ending; known are: {known}, and .gz after "
            "those of text files"
        )
    if not path.is_file():
        raise SourceError(
            f"{str(path)!r} is not a regular file, and events are read more than once"
        )
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError as error:
        raise SourceError(f"cannot read {str(path)!r}: {error.strerror}") from None
    if not head:
        raise SourceError(f"the file {str(path)!r} is empty")
    engine = database_of(head)
    if kind == "database" and engine is not None:
        return engine
    if not _looks_like(kind, head, gzipped=is_gzipped(path)):
        raise SourceError(
            f"the file {str(path)!r} is not what its ending says ({kind}){_HINTS.get(kind, '')}"
        )
    return kind


def database_of(head: bytes) -> str | None:
    """Return the engine of a database by its first 64 bytes; None if they are of something else."""
    return next((name for name in ("duckdb", "sqlite") if _begins_like(name, head)), None)


def _begins_like(kind: str, head: bytes) -> bool:
    offset, magic = _MAGIC[kind]
    return head[offset:].startswith(magic)


def _looks_like(kind: str, head: bytes, *, gzipped: bool) -> bool:
    if gzipped:
        return head.startswith(_GZIP)
    if kind not in _TEXT:
        return kind in _MAGIC and _begins_like(kind, head)
    if head.startswith(_GZIP) or any(_begins_like(other, head) for other in _MAGIC):
        return False
    if kind == "json":
        return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"")
    return not head.startswith((b"\xff\xfe", b"\xfe\xff"))  # UTF-16
