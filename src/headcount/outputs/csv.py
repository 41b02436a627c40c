"""CSV that a spreadsheet opens as text, not as formulas."""

import csv
import io

from headcount.outputs.escapes import visible
from headcount.results.canonical import Plain, plain_rows
from headcount.results.release import Release

# A cell that begins with one of these is a formula to a spreadsheet, and anybody may have written
# an item name. Such a cell gets an apostrophe in front; so does one that begins with an
# apostrophe, so that taking one leading apostrophe away always gives the text back.
LEADING = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "＝", "＋", "－", "＠")


def to_csv(release: Release, *, for_terminal: bool = False) -> bytes:
    """Return a release as CSV in UTF-8, with text quoted.

    For a terminal, control characters are escapes, which no program can turn back.
    """
    import pyarrow as pa

    table = release.marked_table()
    is_text = [
        pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in table.schema.types
    ]
    rows: list[list[Plain]] = [[_safe(name) for name in table.column_names]]
    for row in plain_rows(table):
        cells = zip(row, is_text, strict=True)
        rows.append([_safe(str(value)) if text else value for value, text in cells])
    if for_terminal:
        rows = [[visible(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(LEADING) else text
