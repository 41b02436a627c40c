"""CSV that a spreadsheet opens as text, not as formulas."""

import csv
import io

from headcount.release import Release
from headcount.writers.plain import plain

# A cell that begins with one of these is a formula to a spreadsheet, and item names are
# anybody's text. Such a cell gets an apostrophe in front; so does one that begins with an
# apostrophe, so that taking one leading apostrophe away always gives the text back.
_LEADING = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "＝", "＋", "－", "＠")


def to_csv(release: Release) -> bytes:
    """Return a release as CSV in UTF-8, with text quoted."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    # CSV has no place for the guarantee; what is not private must say so all the same.
    marks = [] if release.guarantee.private else [("private", "false")]
    writer.writerow([_safe(name) for name in release.table.column_names] + [m[0] for m in marks])
    for row in release.table.to_pylist():
        writer.writerow([_cell(value) for value in row.values()] + [m[1] for m in marks])
    return out.getvalue().encode()


def _cell(value: object) -> object:
    cell = plain(value)
    return _safe(cell) if isinstance(cell, str) else cell


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(_LEADING) else text
