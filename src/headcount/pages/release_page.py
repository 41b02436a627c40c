"""The page of a release, which a data owner can open, understand and forward."""

from os import PathLike
from pathlib import Path

from headcount.outputs.account import method_in_words
from headcount.outputs.csv import LEADING
from headcount.outputs.files import AtomicFile
from headcount.pages.charts import bars_of, curve_of, over_time, parts_of, shares_of
from headcount.pages.document import Document, name_of
from headcount.pages.html import rendered
from headcount.pages.origin import Origin
from headcount.pages.promise import promise_of
from headcount.results.canonical import Plain, canonical_json
from headcount.results.digits import DECIMALS_BELOW, EXPONENTS
from headcount.results.guarantee import SPENT_ON
from headcount.results.provenance import LIST_OF_ITEMS, LONGEST, RANGE_OF_DAYS
from headcount.results.release import Release

#: How many rows are in the page itself, and on each page of the table.
ROWS = 25
#: What the settings mean that readers may wonder about; the reference has all of them.
MEANINGS = {
    "r": "the target relative error of a count",
    "k_bar": "how many items are looked at as candidates",
    "max_items_per_user": "how many items of each user are counted",
    "chosen": "the method that auto chose",
    "known_items": "how many counts the public list or range asks for",
    "pure_zcdp": "whether δ is needed only for converting ρ into ε",
}
#: From here on, a browser cannot tell all integers apart, so they are also given as text.
_EXACT = 2**53


def release_page(document: Document, origin: Origin, *, title: str | None = None) -> bytes:
    """Return the page of a release: one file, with the whole table in it.

    Args:
        document: what was published.
        origin: where it comes from.
        title: the page's heading; by default it is made from the columns.
    """
    guarantee, items = document.guarantee, document.item_columns
    measures = document.measures()
    heading = title or _heading(items, document.period())
    return rendered(
        "release.html",
        script="release.js",
        data=document.json,
        heading=heading,
        document=document,
        items=items,
        origin=origin.stated_by(guarantee),
        guarantee=guarantee,
        asked=guarantee.provenance.asked.in_words(),
        method=method_in_words(guarantee),
        promise=promise_of(guarantee),
        notices=document.notices(),
        bars=[bars for bars in (bars_of(document, measure) for measure in measures) if bars],
        curve=curve_of(measures[0]) if measures else None,
        over_time=over_time(document),
        period=document.period(),
        shares=shares_of(document),
        parts=parts_of(document),
        rows=[_shown(document, row) for row in document.rows_for_people()[:ROWS]],
        listed="known_items" in guarantee.settings,
        public_days=RANGE_OF_DAYS in guarantee.provenance.public,
        public_items=LIST_OF_ITEMS in guarantee.provenance.public,
        settings=[
            (name, _plain(value), MEANINGS.get(name, ""))
            for name, value in guarantee.settings.items()
            if name != SPENT_ON
        ],
        options={
            "columns": document.columns,
            "items": len(items),
            "whole": document.whole_columns(),
            "errors": document.errors(),
            "decimalsBelow": DECIMALS_BELOW,
            "exponents": EXPONENTS,
            "rows": ROWS,
            "series": document.is_series,
            "leading": LEADING,
            "longest": LONGEST,
            "texts": _exact_texts(document),
        },
    )


def write_page(release: Release, path: str | PathLike[str], *, force: bool = False) -> None:
    """Write the page of a release in memory, completely or not at all."""
    with AtomicFile(Path(path), force=force) as file:
        file.commit(release_page(Document.of_release(release), Origin()))


def _heading(items: list[str], period: str | None) -> str:
    others = " and ".join(name for name in items if name != period)
    if period is None:
        return f"Users per {others or 'item'}"
    return f"Users per {others}, by {period}" if others else f"Users per {period}"


def _shown(document: Document, row: list[Plain]) -> list[str]:
    """Return a row as the page's script also shows it."""
    names = [name_of(value) for value in row[: len(document.item_columns)]]
    return names + document.row_for_people(row)


def _exact_texts(document: Document) -> dict[str, list[str]]:
    """Return as text the item columns with numbers that a browser would format differently."""
    found = {}
    for name in document.item_columns:
        values = document.column(name)
        if any(isinstance(value, float) or _is_large(value) for value in values):
            found[name] = [name_of(value) for value in values]
    return found


def _is_large(value: Plain) -> bool:
    return isinstance(value, int) and abs(value) >= _EXACT


def _plain(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value)
