"""A table for people to read in a terminal."""

import unicodedata
from collections.abc import Sequence

from headcount.release import Release
from headcount.writers.plain import plain

# Wider cells are written in full but not padded to, so one long name spoils one line only.
_WIDEST_PADDING = 48


def to_table(release: Release) -> bytes:
    """Return a release as aligned columns."""
    rows = [list(row.values()) for row in release.table.to_pylist()]
    cells = [[_shown(value) for value in row] for row in rows]
    numeric = [isinstance(value, int | float) for value in rows[0]] if rows else []
    text = aligned([_visible(name) for name in release.table.column_names], cells, numeric)
    if not release.guarantee.private:
        text = f"{release.guarantee}\n{text}"
    return text.encode()


def aligned(header: Sequence[str], rows: list[list[str]], numeric: Sequence[bool]) -> str:
    """Lay out rows under a header, numbers to the right."""
    from rich.cells import cell_len

    right = list(numeric) or [False] * len(header)
    table = [list(header), *rows]
    widths = [
        min(max(map(cell_len, column)), _WIDEST_PADDING) for column in zip(*table, strict=True)
    ]
    lines = []
    for row in table:
        padded = []
        for cell, width, to_right in zip(row, widths, right, strict=True):
            padding = " " * (width - cell_len(cell))
            padded.append(padding + cell if to_right else cell + padding)
        lines.append("  ".join(padded).rstrip(" "))
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}"
    if isinstance(value, int):
        return f"{value:,}"
    return _visible(str(plain(value)))


def _visible(text: str) -> str:
    """Write control and format characters as escapes: item names must not steer a terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable() or unicodedata.category(char) == "Zs"
        else char.encode("unicode_escape").decode()
        for char in text
    )
