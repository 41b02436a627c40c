"""Releases that were written before, recognised by what they look like."""

import csv
from pathlib import Path

from headcount.results.canonical import METADATA_KEY
from headcount.views.histogram import RESULT_COLUMNS

# Enough for the head of a release in JSON, which comes before its items.
_HEAD = 4096


def holds_release(folder: Path) -> bool:
    """Whether a file in this folder, not below it, is a release that headcount wrote.

    Parquet has the guarantee in its metadata, JSON begins with it, and the header of CSV has the
    columns of a result.
    """
    if not folder.is_dir():
        return False
    return any(path.is_file() and _is_release(path) for path in folder.iterdir())


def _is_release(path: Path) -> bool:
    try:
        match path.suffix.lower():
            case ".parquet":
                import pyarrow.parquet as pq

                return METADATA_KEY in (pq.read_schema(path).metadata or {})
            case ".json":
                with path.open(encoding="utf-8") as file:
                    head = file.read(_HEAD).lstrip()
                return head.startswith("{") and '"guarantee"' in head
            case ".csv":
                with path.open(encoding="utf-8", newline="") as file:
                    header = next(csv.reader(file), [])
                first = header.index(RESULT_COLUMNS[0])
                return tuple(header[first : first + len(RESULT_COLUMNS)]) == RESULT_COLUMNS
    except (OSError, ValueError, csv.Error):  # Arrow's errors about a file are among these
        return False
    return False
