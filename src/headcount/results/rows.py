"""Which rows of a release are kept: those with the most users, or with enough of them.

This looks at released counts only, so it is post-processing, and costs nothing.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headcount.errors import SettingsError
from headcount.privacy.mechanisms.base import COUNT
from headcount.results.canonical import Plain, plain_column
from headcount.results.release import Release, metadata_of

if TYPE_CHECKING:
    import pyarrow as pa

#: What a release says of it among its post-processing.
SHOWN = "rows left out by their released counts (top, min_users)"


@dataclass(frozen=True)
class RowLimits:
    """Limits on the rows of a release; None for no limit.

    Attributes:
        min_users: the lowest released count that is kept.
        top: how many rows are kept at most, highest counts first.
        per: the columns of segments, each of which keeps that many.
    """

    min_users: int | None = None
    top: int | None = None
    per: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value in self.to_dict().items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise SettingsError(f"{name} must be a whole number of at least 1")

    def to_dict(self) -> dict[str, int]:
        """Return the limits that there are, by their names."""
        limits = {"min_users": self.min_users, "top": self.top}
        return {name: value for name, value in limits.items() if value is not None}

    def applied_to(self, release: Release) -> Release:
        """Return a release with these rows only, which says so among its settings."""
        if not self.to_dict() and not self.per:
            return release
        import pyarrow as pa
        import pyarrow.compute as pc

        table = release.table
        if self.min_users is not None:
            table = table.filter(pc.greater_equal(table[COUNT], self.min_users))
        if self.top is not None:
            table = table.filter(pa.array(self._within_top(table), pa.bool_()))
        settings = {**release.settings, **self.to_dict()}
        settings |= {"per": list(self.per)} if self.per else {}
        made = release.guarantee.provenance
        if self.to_dict():
            made = replace(made, post_processing=(*made.post_processing, SHOWN))
        guarantee = replace(release.guarantee, settings=settings, provenance=made)
        return Release(table.replace_schema_metadata(metadata_of(guarantee)), guarantee)

    def _within_top(self, table: "pa.Table") -> list[bool]:
        """Return whether each row is among the top of its segment; rows are by falling count.

        Without segments, all rows are in one. Segments are told apart by their text: Python has no
        dates beyond the year 9999, and takes no NaN for another.
        """
        places: Counter[tuple[Plain, ...]] = Counter()
        kept = []
        segments = [plain_column(table[name]) for name in self.per]
        for row in range(table.num_rows):
            segment = tuple(values[row] for values in segments)
            kept.append(places[segment] < (self.top or 0))
            places[segment] += 1
        return kept
