"""How DuckDB reads files of events: nothing about their form is guessed from the rows.

Everything in a CSV or JSON file is read as text, and the names of its columns are those of
the first line. A type, a delimiter or a column guessed from the rows would let one
person's rows change the schema of the result, or whether there is one at all.
"""

import csv
import functools
import gzip
import io
import itertools
from collections.abc import Collection, Sequence
from glob import escape
from pathlib import Path
from typing import IO, Any

from headcount.engines.duckdb.count import with_true_types
from headcount.engines.files import is_gzipped, keys_of, stored_schemas
from headcount.engines.guard import opening
from headcount.engines.layout import BY_NAME, Layout
from headcount.errors import SourceError

_CSV = {
    "header": True,
    "auto_detect": False,
    "quote": '"',
    "escape": '"',
    "nullstr": "",
    "allow_quoted_nulls": False,
}


def read_files(
    backend: Any,  # noqa: ANN401 (Ibis has no types)
    kind: str,
    paths: Sequence[Path],
    columns: Collection[str] | None,
    layout: Layout = BY_NAME,
) -> Any:  # noqa: ANN401
    """Return an Ibis table of the events in some files of one kind, read by DuckDB.

    ``columns`` are the requested ones; the others may be of any type.
    """
    # DuckDB reads a name as a glob; these are names of existing files.
    names = [escape(str(path)) for path in paths]
    # The columns are those of the files, whatever their folders are called.
    read = functools.partial(_read, backend, names, hive_partitioning=False)
    error_prefix = (
        f"cannot read {str(paths[0])!r}" if len(paths) == 1 else f"cannot read the {kind} files"
    )
    if kind == "parquet":
        return opening(
            lambda: with_true_types(read("read_parquet"), stored_schemas(paths, columns), columns),
            error_prefix,
        )
    if all(is_gzipped(path) for path in paths):
        # DuckDB recognises a compressed file by its ending, but not every version knows .GZ.
        read = functools.partial(read, compression="gzip")
    if kind == "json":
        keys = opening(lambda: _json_columns(paths, columns or ()), error_prefix)
        read = functools.partial(read, format="newline_delimited", ignore_errors=_line_by_line())
        return opening(lambda: read("read_json", columns=keys), error_prefix)
    delimiter = layout.delimiter_of(kind)
    columns = opening(lambda: _csv_columns(paths, delimiter), error_prefix)
    return opening(lambda: read("read_csv", columns=columns, delim=delimiter, **_CSV), error_prefix)


def _read(backend: Any, names: list[str], reader: str, **options: Any) -> Any:  # noqa: ANN401
    return getattr(backend, reader)(names, **options)


def _csv_columns(paths: Sequence[Path], delimiter: str) -> dict[str, str]:
    headers = []
    for path in paths:
        with _opened(path) as file:
            try:
                headers.append(next(csv.reader(file, delimiter=delimiter), []))
            except csv.Error:
                headers.append([])
    if not all(headers):
        raise SourceError("a file does not begin with a line of column names")
    if any(header != headers[0] for header in headers):
        raise SourceError("the files do not have the same header line")
    return _as_text(headers[0])


def _line_by_line() -> bool:
    """Whether a line of JSON that is not one whole object can be a row without values.

    Before DuckDB 2.0, such a line can also cost the next line its values, so it is an error there.
    """
    import duckdb

    return int(duckdb.__version__.partition(".")[0]) >= 2


def _json_columns(paths: Sequence[Path], asked: Collection[str]) -> dict[str, str]:
    for path in paths:
        with _opened(path, encoding="utf-8") as file:
            if file.read(1) == "\ufeff":
                raise SourceError(f"{str(path)!r} begins with a byte order mark; JSON has none")
    with _opened(paths[0], newline="\n") as file:
        first = next((line for line in file if line.strip()), "")
    return _as_text(keys_of(first, asked))


def _as_text(names: list[str]) -> dict[str, str]:
    # A column without a name, such as the index that pandas writes, cannot be requested, but needs
    # some name.
    spare = (name for n in itertools.count() if (name := f"column{n}") not in names)
    columns = {name or next(spare): "VARCHAR" for name in names}
    if len({name.casefold() for name in columns}) < len(names):
        raise SourceError(
            "a column name appears twice in the first line (upper and lower case are the same here)"
        )
    return columns


def _opened(path: Path, encoding: str = "utf-8-sig", newline: str = "") -> IO[str]:
    # Invalid UTF-8 in later rows is for the engine to find.
    if is_gzipped(path):
        binary = gzip.open(path)  # noqa: SIM115 (the caller closes it)
        return io.TextIOWrapper(binary, encoding=encoding, errors="replace", newline=newline)
    return path.open(encoding=encoding, errors="replace", newline=newline)
