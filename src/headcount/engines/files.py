"""Files of events: which files a name means, and what form they have."""

import glob
import json
import os
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.engines.guard import ANY_FORM, opening
from headcount.engines.layout import BY_NAME, TEXT, Layout, shown_delimiter
from headcount.engines.names import did_you_mean, holds_lists, holds_no_values
from headcount.engines.registry import databases, reader
from headcount.engines.types import refuse_differences, type_of
from headcount.errors import SettingsError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

    from headcount.engines.reader import Reader

#: The forms of files of events, by the endings of their names.
FORMS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv"}
FORMS |= {".json": "json", ".jsonl": "json", ".ndjson": "json"}
FORMS |= {".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".arrows": "arrow"}
# A database of any engine; its first bytes say which.
_ANY_DATABASE = {".db": "database"}

# How many names in a folder are compared with one that is missing; more would take seconds.
_MOST_NAMES = 10_000

_PARQUET = b"PAR1"
_ARROW_FILE, ARROW_STREAM = b"ARROW1", b"\xff\xff\xff\xff"
_ARROW = (_ARROW_FILE, ARROW_STREAM)
GZIP = b"\x1f\x8b"
_LAKES = (("delta", "_delta_log"), ("iceberg", "metadata"))

_LISTS_IN_JSON = "TRY_CAST(TRY_CAST({} AS JSON) AS VARCHAR[])"  # whose values are text to DuckDB

_HINTS = {
    "json": ": it needs one object on each line (JSON lines), in UTF-8",
    "csv": ": it needs text in UTF-8",
    "tsv": ": it needs text in UTF-8",
    "arrow": ": it needs Arrow's IPC format, as a file (Feather version 2) or a stream",
}


def expected(form: str, layout: Layout = BY_NAME) -> str:
    """Return what an error says about files that cannot be read to the end; it names no line.

    Args:
        form: the form of the files.
        layout: what the user said about them.
    """
    if form not in TEXT:
        return ANY_FORM
    if form == "json":
        lines = "one whole object on each line"
    else:
        between = {",": "commas", "\t": "tabs"}
        delimiter = layout.delimiter_of(form)
        lines = "as many fields as the header, "
        lines += f"separated by {between.get(delimiter, shown_delimiter(delimiter))}, quotes closed"
    return f"a line of the {form.upper()} is not in the expected form: UTF-8, {lines}"


def is_gzipped(path: Path) -> bool:
    """Whether a file's ending says that it is compressed."""
    return path.suffix.lower() == ".gz"


def as_path(name: str) -> Path:
    """Return a path with ~ expanded; the ~ of an unknown user is left as it is."""
    return Path(os.path.expanduser(name))  # noqa: PTH111 (Path.expanduser raises instead)


def named(name: str) -> list[Path]:
    """Return the files and folders that a path or glob names, if there are any."""
    path = as_path(name)
    if os.path.exists(path):  # noqa: PTH110 (False, not an error, for an impossible name)
        return [path]
    if not glob.has_magic(name):
        return []
    return [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207


def matching(name: str, layout: Layout = BY_NAME) -> tuple[str, list[Path]]:
    """Return the kind of files that a path or glob names, and the files, none of them empty."""
    paths = named(name)
    if len(paths) > 1:
        paths = [path for path in paths if not path.is_dir()]
    if not paths:
        what = "no file matches" if glob.has_magic(name) else "there is no file"
        raise SourceError(f"{what} {name!r}{'' if glob.has_magic(name) else _similar(name)}")
    kinds = {_kind(path, layout.form) for path in paths}
    if len(kinds) > 1:
        raise SourceError("the files have different formats; give files of one format")
    kind = kinds.pop()
    layout.check_form(kind)
    return kind, paths


def _similar(name: str) -> str:
    """Return a question that suggests the file in the same folder with the most similar name."""
    path = as_path(name)
    try:
        beside = [one.name for one in islice(path.parent.iterdir(), _MOST_NAMES)]
    except (OSError, ValueError):  # no such folder, one that may not be listed, or no valid name
        return ""
    return did_you_mean(path.name, filter(_is_events, beside))


def _is_events(name: str) -> bool:
    return Path(name.lower().removesuffix(".gz")).suffix in FORMS


def of_form(name: str, by: "Reader", layout: Layout = BY_NAME) -> tuple[str, list[Path]]:
    """Return the form of files of events, and the files; refuse one the engine does not read."""
    form, paths = matching(name, layout)
    check_reads(form, by)
    return form, paths


def check_reads(form: str, by: "Reader") -> None:
    """Refuse a form of files that an engine does not read."""
    if form not in by.file_forms:
        forms = [one.upper() if one in TEXT else one.title() for one in by.file_forms]
        listed = " and ".join(filter(None, (", ".join(forms[:-1]), forms[-1])))
        given = form.upper() if form in TEXT else form.title()
        raise SourceError(
            f"{by.title} reads {listed} files here, and this is {given}; leave out --engine "
            "(engine=), and DuckDB reads it"
        )


def database_in(
    name: str, engine: str | None, layout: Layout = BY_NAME
) -> "tuple[Reader, Path] | None":
    """Return the reader and the path of a named database file; None for files of events."""
    kind, paths = matching(name, layout)
    if kind in FORMS.values():
        return None
    if len(paths) > 1:
        raise SourceError("give one database file, not several")
    if engine not in (None, kind):
        raise SettingsError(
            f"an engine can only be chosen for files of events; this is a {kind} database"
        )
    return reader(kind), paths[0]


def stored_schemas(
    paths: Sequence[Path], columns: Collection[str] | None = None
) -> "list[pa.Schema]":
    """Return what Parquet files say about their columns.

    Raises:
        SourceError: a requested column appears twice in a file, if case is ignored (engines take
            the first, or rename the second), or does not have the same type in all files.
    """
    schemas, kinds = [], {}
    for path in paths:
        schema, kinds[path] = opening(
            lambda path=path: _stored_schema(path),  # type: ignore[misc]
            f"cannot read {str(path)!r}",
        )
        there = Counter(name.casefold() for name in schema.names)
        for column in schema.names if columns is None else columns:
            if there[column.casefold()] > 1:
                raise SourceError(
                    f"the column {column!r} appears twice in {str(path)!r}, if case is ignored"
                )
        schemas.append(schema)
    refuse_differences(kinds, columns)
    return schemas


def keys_of(line: str, asked: Collection[str]) -> list[str]:
    """Return the columns of JSON lines: the keys of the object on the first line.

    Of keys that differ only in case, one is returned: the one that is asked for, if any.

    Raises:
        SourceError: the line is not one object, or has a list or an object where one of the
            columns that are asked for is to have a value.
    """
    try:
        found = json.loads(line, parse_int=str)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not found:
        raise SourceError("JSON needs one object on each line, with all keys in the first")
    for name in asked:
        if isinstance(found.get(name), list):
            raise SourceError(holds_lists(name, asked, _LISTS_IN_JSON))
        if isinstance(found.get(name), dict):
            raise SourceError(holds_no_values(name))
    keys: dict[str, str] = {}
    for name in (*(name for name in asked if name in found), *found):
        keys.setdefault(name.casefold(), name)
    return list(keys.values())


def _stored_schema(path: Path) -> "tuple[pa.Schema, dict[str, tuple[str, str]]]":
    """Return the schema of a Parquet file, and the type of each column, to be compared."""
    import pyarrow.parquet as pq
    from pyarrow import types as of

    stored = pq.read_metadata(path).schema
    columns = [stored.column(place) for place in range(len(stored))]
    leaves = {column.path: column for column in columns}  # a column of lists is no leaf
    schema, kinds = stored.to_arrow_schema(), {}
    for field in schema:
        annotation = ""
        if field.name in leaves and of.is_timestamp(field.type):
            annotation = leaves[field.name].physical_type  # as old Spark writes them, or as others
        elif field.name in leaves and not of.is_integer(field.type):
            annotation = str(leaves[field.name].logical_type)
        kinds[field.name] = type_of(field.type, annotation)
    return schema, kinds


def lake_of(folder: Path) -> str | None:
    """Return the form of a folder that is a lake table, with more than Parquet in it; else None."""
    return next((form for form, mark in _LAKES if (folder / mark).is_dir()), None)


def _kind(path: Path, said: str | None) -> str:
    kinds = _kinds()
    kind = said or kinds.get(
        path.with_suffix("").suffix.lower() if is_gzipped(path) else path.suffix.lower()
    )
    if path.is_dir():
        if lake := lake_of(path):  # some of its files are no longer part of it
            raise SourceError(f"{str(path)!r} is a {lake.title()} table; --engine spark reads it")
        glob_in = str(path / "*.parquet")
        raise SourceError(
            f"{str(path)!r} is a folder; name a file in it, or several with a glob in "
            f"quotes, such as {glob_in!r}"
        )
    if kind is None or (is_gzipped(path) and kind not in TEXT):
        known = ", ".join(sorted(kinds))
        raise SourceError(
            f"cannot tell the format of {str(path)!r} from its ending; known endings: {known}, "
            "and .gz after those of text files. If its format is nonetheless one of these, "
            "name it with --input-format (input_format=)"
        )
    if not path.is_file():
        raise SourceError(
            f"{str(path)!r} is not a regular file, and events have to be read more than once"
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
        says = "its ending says" if said is None else "the input format says"
        raise SourceError(
            f"the file {str(path)!r} is not what {says} it is ({kind}){_HINTS.get(kind, '')}"
        )
    return kind


def database_of(head: bytes) -> str | None:
    """Return the engine of a database from its first 64 bytes; None if it is something else."""
    magics = ((one.name, one.database_magic) for one in databases())
    return next((name for name, magic in magics if magic and _begins_with(magic, head)), None)


def _kinds() -> dict[str, str]:
    """Return what each ending of a name means: a form of events, or a database's engine."""
    own = {suffix: one.name for one in databases() for suffix in one.database_suffixes}
    return {**FORMS, **_ANY_DATABASE, **own}


def _begins_with(magic: tuple[int, bytes], head: bytes) -> bool:
    offset, expected_bytes = magic
    return head[offset:].startswith(expected_bytes)


def _looks_like(kind: str, head: bytes, *, gzipped: bool) -> bool:
    if gzipped:
        return head.startswith(GZIP)
    if kind == "parquet":
        return head.startswith(_PARQUET)
    if kind == "arrow":
        return head.startswith(_ARROW)
    if kind not in TEXT:
        # If an engine's files have no magic bytes, any file may be one.
        return kind != "database" and reader(kind).database_magic is None
    if head.startswith((GZIP, _PARQUET, *_ARROW)) or database_of(head):
        return False
    if kind == "json":
        return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"")
    return not head.startswith((b"\xff\xfe", b"\xfe\xff"))  # UTF-16
