"""A table that fits into the columns of a terminal.

What does not fit next to the names is folded: each number with its standard error in one column,
without its interval, which follows from the two; then further tables below the first.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headcount.privacy.mechanisms.base import COUNT
from headcount.results.digits import errors_of

#: What separates two columns.
GAP = "  "
# Names are cut to this before numbers are folded, and to no less: shorter ones tell little.
_SHORTEST_NAME = 20
_FOLDED = (
    "± is the standard error. The 95 % intervals did not fit: they reach 1.96 standard errors to "
    "each side."
)


@dataclass(frozen=True)
class Columns:
    """Columns of text under a header; the first ``names`` of them say what a row is about."""

    header: list[str]
    rows: list[list[str]]
    to_right: list[bool]
    names: int

    def widths(self) -> list[int]:
        """Return how wide each column is."""
        return [max(map(width_of, cells)) for cells in zip(self.header, *self.rows, strict=True)]

    def chosen(self, places: Sequence[int]) -> "Columns":
        """Return the names and some of the columns."""
        places = [*range(self.names), *places]
        return Columns(
            [self.header[place] for place in places],
            [[row[place] for place in places] for row in self.rows],
            [self.to_right[place] for place in places],
            self.names,
        )

    def cut_to(self, width: int) -> "Columns | None":
        """Return columns that fit, with names cut if they must be; None if that is not enough."""
        widths = self.widths()
        names, numbers = widths[: self.names], widths[self.names :]
        room = width - sum(numbers) - len(GAP) * (len(widths) - 1)
        while sum(names) > room and max(names, default=0) > _SHORTEST_NAME:
            widest = names.index(max(names))
            names[widest] -= min(sum(names) - room, names[widest] - _SHORTEST_NAME)
        if sum(names) > room:
            return None

        def fitted(row: list[str]) -> list[str]:
            return [*map(_cut, row[: self.names], names), *row[self.names :]]

        return Columns(fitted(self.header), list(map(fitted, self.rows)), self.to_right, self.names)

    def folded(self) -> "Columns":
        """Return columns in which each number has its standard error but no interval."""
        numbers = self.header[self.names :]
        errors = errors_of(numbers)
        bounds = {
            f"{'' if name == COUNT else f'{name}_'}{end}"
            for name in numbers
            for end in ("lower", "upper")
            if errors.get(name) == ("std_error" if name == COUNT else f"{name}_std_error")
        }
        kept = [name for name in numbers if name not in bounds | set(errors.values())]
        place = {name: self.names + n for n, name in enumerate(numbers)}
        # So that the signs line up.
        widest = {
            error: max((width_of(row[place[error]]) for row in self.rows), default=0)
            for error in set(errors.values())
        }

        def folded(row: list[str], name: str) -> str:
            value = row[place[name]]
            if name not in errors:
                return value
            error = row[place[errors[name]]]
            return f"{value} ± {error.rjust(widest[errors[name]])}"

        header = [*self.header[: self.names], *(f"{n} ±" if n in errors else n for n in kept)]
        rows = [[*row[: self.names], *(folded(row, name) for name in kept)] for row in self.rows]
        to_right = [*self.to_right[: self.names], *[True] * len(kept)]
        return Columns(header, rows, to_right, self.names)

    def split(self, width: int) -> "Iterator[Columns]":
        """Yield tables that fit, one below the other, each with the names."""
        start, end = self.names, self.names
        while start < len(self.header):
            end = start + 1
            while end < len(self.header) and self.chosen(range(start, end + 1)).cut_to(width):
                end += 1
            part = self.chosen(range(start, end))
            yield part.cut_to(width) or part
            start = end


def fitted(table: Columns, width: int) -> tuple[list[Columns], str]:
    """Return tables that fit into a terminal, and what to say below them."""
    whole = table.cut_to(width)
    if whole is not None:
        return [whole], ""
    return list(table.folded().split(width)), textwrap.fill(_FOLDED, width)


def width_of(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def _cut(text: str, width: int) -> str:
    from rich.cells import set_cell_size

    return text if width_of(text) <= width else f"{set_cell_size(text, width - 1)}…"
