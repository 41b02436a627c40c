"""Files of events: which there are, what they are, and how DuckDB reads them."""

import csv
import glob
import gzip
from pathlib import Path
from typing import Any

from headcount.errors import SourceError
from headcount.sources.session import Session, guarded

# Everything in a CSV or JSON file is read as text, and a CSV's form is fixed rather than
# sniffed: a type or a delimiter that is guessed from the rows would let one person's rows
# change the schema of the result, or whether there is one at all.
_CSV = {
    "header": True,
    "auto_detect": False,
    "quote": '"',
    "escape": '"',
    "nullstr": "",
    "allow_quoted_nulls": False,
}

DATABASES = {".duckdb": "duckdb", ".ddb": "duckdb", ".db": "sqlite", ".sqlite": "sqlite"}
DATABASES |= {".sqlite3": "sqlite"}
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv"}
FORMATS |= {".json": "json", ".jsonl": "json", ".ndjson": "json"}

_MAGIC = {"duckdb": (8, b"DUCK"), "sqlite": (0, b"SQLite format 3\0"), "parquet": (0, b"PAR1")}


def kind_of(path: Path) -> str | None:
    """Return what a file's ending says it is; a final .gz is looked through."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] == ".gz":
        suffixes.pop()
    known = FORMATS | DATABASES
    return known.get(suffixes[-1]) if suffixes else None


def matching(name: str) -> list[Path]:
    """Return the files that a path or glob names, all of them there and not empty."""
    path = Path(name).expanduser()
    if path.exists():
        paths = [path]
    elif glob.has_magic(name):
        paths = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207
        paths = [path for path in paths if path.is_file()]
        if not paths:
            raise SourceError(f"no file matches {name!r}")
    else:
        raise SourceError(f"there is no file {name!r}")
    for path in paths:
        _check_file(path)
    return paths


def _check_file(path: Path) -> None:
    kind = kind_of(path)
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder; name its files, for instance with a glob")
    if kind is None:
        known = ", ".join(sorted(FORMATS | DATABASES))
        raise SourceError(f"cannot tell what {str(path)!r} is by its ending; known are: {known}")
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError as error:
        raise SourceError(f"cannot read {str(path)!r}: {error.strerror}") from None
    if not head:
        raise SourceError(f"the file {str(path)!r} is empty")
    if not _looks_like(kind, head, gzipped=path.suffix.lower() == ".gz"):
        raise SourceError(f"the file {str(path)!r} is not what its ending says ({kind})")


def _looks_like(kind: str, head: bytes, *, gzipped: bool) -> bool:
    if gzipped:
        return head.startswith(b"\x1f\x8b")
    if kind in _MAGIC:
        offset, magic = _MAGIC[kind]
        return head[offset:].startswith(magic)
    others = any(head[offset:].startswith(magic) for offset, magic in _MAGIC.values())
    if kind == "json":
        return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[", b"") and not others
    return b"\0" not in head and not others and not head.startswith(b"\x1f\x8b")


def read_files(session: Session, paths: list[Path]) -> Any:  # noqa: ANN401
    """Return an Ibis table of the events in some files of one kind."""
    kinds = {kind_of(path) for path in paths}
    if len(kinds) > 1:
        raise SourceError("the files are of different kinds; give files of one kind")
    kind = kinds.pop()
    # DuckDB reads a name as a glob too; these are names of files that are there.
    names = [glob.escape(str(path)) for path in paths]
    backend = session.duckdb()
    says = (
        f"cannot read the {kind} files as asked" if len(paths) > 1 else f"cannot read {names[0]!r}"
    )
    if kind == "parquet":
        return guarded(lambda: backend.read_parquet(names), says)
    if kind == "json":
        return guarded(lambda: _read_json(backend, names), says)
    return guarded(lambda: _read_csv(backend, paths, names, "\t" if kind == "tsv" else ","), says)


def _read_csv(backend: Any, paths: list[Path], names: list[str], delimiter: str) -> Any:  # noqa: ANN401
    headers = [_csv_header(path, delimiter) for path in paths]
    if any(header != headers[0] for header in headers):
        raise SourceError("the files do not have the same header line")
    if len(set(headers[0])) < len(headers[0]):
        raise SourceError("a column name stands twice in the header line")
    columns = dict.fromkeys(headers[0], "VARCHAR")
    return backend.read_csv(names, delim=delimiter, columns=columns, **_CSV)


def _csv_header(path: Path, delimiter: str) -> list[str]:
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        return next(csv.reader(file, delimiter=delimiter), [])


def _read_json(backend: Any, names: list[str]) -> Any:  # noqa: ANN401
    # The names of the columns come from the file; their types do not.
    found = backend.read_json(names, format="newline_delimited")
    columns = dict.fromkeys(found.columns, "VARCHAR")
    return backend.read_json(names, format="newline_delimited", columns=columns)
