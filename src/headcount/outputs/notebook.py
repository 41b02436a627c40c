"""What a notebook shows of a release: the highest counts as bars, and what is promised."""

from html import escape

from headcount.outputs.escapes import unless_blank, visible
from headcount.results.canonical import Plain, plain_rows
from headcount.results.digits import for_people
from headcount.results.provenance import LONGEST_ASKED, shortened
from headcount.results.release import Release

#: How many rows are shown; the table has them all.
ROWS = 10
# A longer name would push the numbers off the screen.
_LONGEST_NAME = 60

# Colours are those of the notebook's own text, so that light and dark both work.
_CELL = "padding:.15em .8em .15em 0;border:0"
_TEXT, _NUMBER = f"text-align:left;{_CELL}", f"text-align:right;{_CELL}"
_BAR = "height:.7em;min-width:1px;background:currentColor;opacity:.45"


def to_html(release: Release, rows: int = ROWS) -> str:
    """Return a piece of HTML without scripts or requests; every name in it is escaped."""
    shown = list(plain_rows(release.table.slice(0, rows)))
    names, items = release.table.column_names, len(release.item_columns)
    count, lower, upper = (names.index(name) for name in ("count", "lower", "upper"))
    # The first row has the highest count.
    longest = max((float(row[count] or 0) for row in shown), default=0) or 1.0
    head = [*((_TEXT, _cut(name)) for name in names[:items]), (_NUMBER, "count"), (_TEXT, "")]
    lines = [_row("th", [*head, (_NUMBER, "95 % interval")])]
    for row in shown:
        share = 100 * max(float(row[count] or 0), 0) / longest
        bar = f'<div style="{_BAR};width:{share:.1f}%"></div>'
        users = escape(for_people(row[count], None))
        cells = [*((_TEXT, _cut(value)) for value in row[:items]), (_NUMBER, users)]
        interval = f"{_whole(row[lower])} to {_whole(row[upper])}"
        lines.append(_row("td", [*cells, (f"{_TEXT};width:10em", bar), (_NUMBER, interval)]))
    more = len(release) - len(shown)
    rest = f"<p>… and {more:,} more.</p>" if more else ""
    said = "".join(
        f"<p>{name}: {escape(visible(shortened(words, LONGEST_ASKED)))}</p>"
        for name, words in release.guarantee.provenance.asked.in_words().items()
    )
    promise = escape(visible(str(release.guarantee)))
    if not release.guarantee.private:
        promise = f"<strong>{promise}</strong>"
    table = "\n".join(lines) if shown else _row("td", [(_TEXT, "Nothing was released.")])
    return (
        f'<div>{said}<table style="border-collapse:collapse">\n{table}\n</table>{rest}'
        f'<p style="opacity:.8">{promise}</p></div>'
    )


def _row(tag: str, cells: list[tuple[str, str]]) -> str:
    scope = ' scope="col"' if tag == "th" else ""
    inner = "".join(f'<{tag}{scope} style="{style}">{text}</{tag}>' for style, text in cells)
    return f"<tr>{inner}</tr>"


def _cut(value: Plain) -> str:
    """Return HTML that shows a name and does nothing else; a long one ends in dots."""
    text = visible(unless_blank(str(value)))
    return escape(text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…")


def _whole(value: Plain) -> str:
    return f"{value:,.0f}" if isinstance(value, float | int) else escape(str(value))
