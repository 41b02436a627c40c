"""CSV that a spreadsheet opens as text, not as formulas."""

import csv
import io

from headcount.canonical import plain_rows
from headcount.release import Release

# A cell that begins with one of these is a formula to a spreadsheet, and item names are
# anybody's text. Such a cell gets an apostrophe in front; so does one that begins with an
# apostrophe, so that taking one leading apostrophe away always gives the text back.
_LEADING = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "＝", "＋", "－", "＠")


def to_csv(release: Release) -> bytes:
    """Return a release as CSV in UTF-8, with text quoted."""
    import pyarrow as pa

    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    table = release.marked_table()
    writer.writerow([_safe(name) for name in table.column_names])
    is_text = [
        pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in table.schema.types
    ]
    for row in plain_rows(table):
        cells = zip(row, is_text, strict=True)
        writer.writerow([_safe(str(value)) if text else value for value, text in cells])
    return out.getvalue().encode()


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(_LEADING) else text
