"""Files of events: which there are, and what they are."""

import glob
import os
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.engines.guard import ANY_FORM, opening
from headcount.engines.registry import databases, reader
from headcount.errors import SettingsError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

    from headcount.engines.reader import Reader

#: The forms of files of events, by the endings of their names.
FORMS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv"}
FORMS |= {".json": "json", ".jsonl": "json", ".ndjson": "json"}
# A database of any engine; its first bytes say of which.
_ANY_DATABASE = {".db": "database"}

_PARQUET = (0, b"PAR1")
_GZIP = b"\x1f\x8b"
_TEXT = ("csv", "tsv", "json")
_LAKES = (("delta", "_delta_log"), ("iceberg", "metadata"))

_HINTS = {
    "json": ": it needs one object on each line (JSON lines), in UTF-8",
    "csv": ": it needs text in UTF-8",
    "tsv": ": it needs text in UTF-8",
}

_LINES = "a line of the {} does not have the form that was expected: UTF-8, {}"
# What an error says of a file that cannot be read to its end. Which line it is stays private.
_EXPECTED = {
    "csv": _LINES.format("CSV", "as many fields as the header has, commas between, quotes closed"),
    "tsv": _LINES.format("TSV", "as many fields as the header has, tabs between, quotes closed"),
    "json": _LINES.format("JSON", "one whole object on each line"),
}


def expected(form: str) -> str:
    """Return what an error says of files of a form that cannot be read to their end."""
    return _EXPECTED.get(form, ANY_FORM)


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


def of_form(name: str, by: "Reader") -> tuple[str, list[Path]]:
    """Return the form of files of events, and the files; refuse what an engine does not read."""
    form, paths = matching(name)
    if form not in by.file_forms:
        forms = " and ".join(
            one.title() if one == "parquet" else one.upper() for one in by.file_forms
        )
        raise SourceError(
            f"{by.title} reads {forms} files here; leave out the engine to use DuckDB"
        )
    return form, paths


def database_in(name: str, engine: str | None) -> "tuple[Reader, Path] | None":
    """Return the database file that a path names, and what reads it; None for files of events."""
    kind, paths = matching(name)
    if kind in FORMS.values():
        return None
    if len(paths) > 1:
        raise SourceError("give one database file, not several")
    if engine not in (None, kind):
        raise SettingsError(
            f"an engine can be chosen for files of events only; this is a {kind} database"
        )
    return reader(kind), paths[0]


def stored_schemas(
    paths: Sequence[Path], columns: Collection[str] | None = None
) -> "list[pa.Schema]":
    """Return what Parquet files say of their columns.

    Raises:
        SourceError: a column that is asked for stands in a file twice. Engines take the first, or
            give the second another name.
    """
    import pyarrow.parquet as pq

    schemas = [
        opening(lambda path=path: pq.read_schema(path), f"cannot read {str(path)!r}")  # type: ignore[misc]
        for path in paths
    ]
    for path, schema in zip(paths, schemas, strict=True):
        there = Counter(name.casefold() for name in schema.names)
        for column in schema.names if columns is None else columns:
            if there[column.casefold()] > 1:
                raise SourceError(
                    f"the column {column!r} appears twice in {str(path)!r}, if upper and lower "
                    "case are not told apart"
                )
    return schemas


def lake_of(folder: Path) -> str | None:
    """Return the form of a lake table that is a folder with more than Parquet in it."""
    return next((form for form, mark in _LAKES if (folder / mark).is_dir()), None)


def _kind(path: Path) -> str:
    kinds = _kinds()
    kind = kinds.get(
        path.with_suffix("").suffix.lower() if is_gzipped(path) else path.suffix.lower()
    )
    if path.is_dir():
        if lake := lake_of(path):  # some of its files are not part of it any more
            raise SourceError(f"{str(path)!r} is a {lake.title()} table; --engine spark reads it")
        raise SourceError(f"{str(path)!r} is a folder; name its files, for instance with a glob")
    if kind is None or (is_gzipped(path) and kind not in _TEXT):
        known = ", ".join(sorted(kinds))
        raise SourceError(
            f"cannot tell what {str(path)!r} is from its ending; known are: {known}, and .gz after "
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
    if engine is not None and kind in ("database", engine):
        return engine
    if not _looks_like(kind, head, gzipped=is_gzipped(path)):
        raise SourceError(
            f"the file {str(path)!r} is not what its ending says ({kind}){_HINTS.get(kind, '')}"
        )
    return kind


def database_of(head: bytes) -> str | None:
    """Return the engine of a database by its first 64 bytes; None if they are of something else."""
    magics = ((one.name, one.database_magic) for one in databases())
    return next((name for name, magic in magics if magic and _begins_with(magic, head)), None)


def _kinds() -> dict[str, str]:
    """Return what the endings of names say: a form of events, or the engine of a database."""
    own = {suffix: one.name for one in databases() for suffix in one.database_suffixes}
    return {**FORMS, **_ANY_DATABASE, **own}


def _begins_with(magic: tuple[int, bytes], head: bytes) -> bool:
    offset, expected_bytes = magic
    return head[offset:].startswith(expected_bytes)


def _looks_like(kind: str, head: bytes, *, gzipped: bool) -> bool:
    if gzipped:
        return head.startswith(_GZIP)
    if kind == "parquet":
        return _begins_with(_PARQUET, head)
    if kind not in _TEXT:
        # Of an engine whose files have no mark, anything may be one.
        return kind != "database" and reader(kind).database_magic is None
    if head.startswith(_GZIP) or _begins_with(_PARQUET, head) or database_of(head):
        return False
    if kind == "json":
        return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"")
    return not head.startswith((b"\xff\xfe", b"\xfe\xff"))  # UTF-16
