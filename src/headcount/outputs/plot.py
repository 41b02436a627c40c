"""The highest counts as a picture, with Matplotlib."""

from typing import TYPE_CHECKING, Any

from headcount.errors import MissingExtraError, SettingsError
from headcount.outputs.escapes import unless_blank, visible
from headcount.results.canonical import plain_column
from headcount.results.provenance import shortened
from headcount.results.release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST_NAME = 40
# Inches: a bar and the space to the next, and what the axis and the title take.
_PER_BAR, _AROUND, _WIDTH = 0.28, 1.2, 7.0


def plot(release: Release, top: int, ax: "Axes | None") -> "Axes":
    """Draw the highest counts as bars, with their intervals, on the given axes or on new ones."""
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise SettingsError("top must be a whole number of at least 1")
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise MissingExtraError("matplotlib", "plot") from None
    table = release.table.slice(0, top)
    if ax is None:
        _, ax = pyplot.subplots(figsize=(_WIDTH, _AROUND + _PER_BAR * max(len(table), 1)))
    counts, lower, upper = (
        table[name].to_numpy().astype(float) for name in ("count", "lower", "upper")
    )
    places = range(len(table))
    # A count is a whole number, and may lie outside of an interval narrower than its rounding.
    errors = [(counts - lower).clip(0), (upper - counts).clip(0)]
    ax.barh(places, counts, xerr=errors, color="C0", error_kw={"ecolor": "0.35", "capsize": 2})
    # Anybody may have written a name: dollars in it must not make a formula.
    ax.set_yticks(places, _labels(table, release.item_columns), parse_math=False)
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.set_xlabel("distinct users, with 95 % intervals")
    shown = f"the {len(table):,} highest of {len(release):,} counts"
    if not release.guarantee.private:
        shown = f"NOT PRIVATE: {shown}"
    asked = release.guarantee.provenance.asked.in_words().items()
    lines = [shown, *(visible(shortened(f"{name}: {words}", 80)) for name, words in asked)]
    ax.set_title("\n".join(lines), parse_math=False)
    return ax


def _labels(table: Any, columns: list[str]) -> list[str]:  # noqa: ANN401 (PyArrow has no types)
    parts = zip(*(plain_column(table[column]) for column in columns), strict=True)
    names = [visible(", ".join(unless_blank(str(value)) for value in row)) for row in parts]
    return [n if len(n) <= _LONGEST_NAME else f"{n[: _LONGEST_NAME - 1]}…" for n in names]
