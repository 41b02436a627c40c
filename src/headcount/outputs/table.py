"""A table for people to read in a terminal."""

from collections.abc import Sequence

from headcount.outputs.escapes import unless_blank, visible
from headcount.outputs.narrow import GAP, Columns, fitted, width_of
from headcount.results.canonical import plain_column, plain_rows
from headcount.results.digits import errors_of, for_people
from headcount.results.periods import period_among
from headcount.results.release import Release
from headcount.views.histogram import RESULT_COLUMNS

# Wider cells are written in full but not padded to, so one long name spoils only one line.
_WIDEST_PADDING = 48

# What terminals understand.
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def to_table(
    release: Release,
    limit: int | None = None,
    *,
    colours: bool = False,
    width: int | None = None,
) -> bytes:
    """Return a release as aligned columns, with all rows or the first ``limit``.

    Rows that are about periods and nothing else are in order of time. With a width, the table is
    made to fit into that many columns of a terminal.
    """
    import pyarrow as pa

    names = release.table.column_names
    items = names.index(RESULT_COLUMNS[0])
    errors = errors_of(names[items:])
    table, keys = release.table, release.item_columns
    if keys == [period_among(keys, lambda name: plain_column(table[name]))]:
        table = table.sort_by(keys[0])
    rows = []
    for row in plain_rows(table.slice(0, limit)):
        found = dict(zip(names[items:], row[items:], strict=True))
        numbers = [
            for_people(value, found.get(errors.get(name, ""))) for name, value in found.items()
        ]
        names_of_row = (unless_blank(str(value)) for value in row[:items])
        rows.append([visible(text) for text in (*names_of_row, *numbers)])
    to_right = [
        pa.types.is_integer(kind) or pa.types.is_floating(kind)
        for kind in release.table.schema.types
    ]
    parts, said = [Columns([visible(name) for name in names], rows, to_right, items)], ""
    if width is not None:
        parts, said = fitted(parts[0], width)
    text = "\n".join(_laid_out(part, colours=colours) for part in parts)
    if said:
        text += f"{said}\n"
    if len(rows) < len(release):
        text += f"… and {len(release) - len(rows):,} more\n"
    if not release.guarantee.private:
        text = f"{release.guarantee}\n{text}"
    return text.encode()


def _laid_out(columns: Columns, *, colours: bool) -> str:
    text = aligned(columns.header, columns.rows, columns.to_right)
    if not colours:
        return text
    header, rule, rest = text.split("\n", 2)
    return f"{_BOLD}{header}{_PLAIN}\n{_DIM}{rule}{_PLAIN}\n{rest}"


def aligned(header: Sequence[str], rows: list[list[str]], to_right: Sequence[bool]) -> str:
    """Lay out rows under a header, numbers to the right."""
    table = [list(header), *rows]
    widths = [
        min(max(map(width_of, column)), _WIDEST_PADDING) for column in zip(*table, strict=True)
    ]
    lines = []
    for row in table:
        padded = []
        for cell, width, right in zip(row, widths, to_right, strict=True):
            padding = " " * (width - width_of(cell))
            padded.append(padding + cell if right else cell + padding)
        lines.append(GAP.join(padded).rstrip(" "))
    lines.insert(1, GAP.join("─" * width for width in widths))
    return "\n".join(lines) + "\n"
