"""What someone who asked for a release should know about it, apart from its counts.

A notice is data: a terminal, a notebook and a page can each show it in their own way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from headcount.inputs.calendar import DayRange
from headcount.inputs.unit import Unit
from headcount.privacy.mechanisms import DEFAULT
from headcount.results.guarantee import Guarantee
from headcount.results.provenance import LIST_OF_ITEMS, RANGE_OF_DAYS

#: ``caution``: the promise may be less than it seems. ``advice``: what to try instead.
Severity = Literal["caution", "advice"]

#: Beyond these the promise on paper says little about a person.
WEAK_EPSILON = 10.0
WEAK_DELTA = 1e-4


@dataclass(frozen=True)
class Notice:
    """One thing to know about a release; nothing in it depends on unreleased data.

    Attributes:
        code: what it is about, in a word that does not change with the version.
        severity: how much it matters.
        text: a few sentences.
    """

    code: str
    severity: Severity
    text: str

    def __str__(self) -> str:
        return f"Caution: {self.text}" if self.severity == "caution" else self.text


_NO_FURTHER = "does not carry over to the tables below"
#: What there is to say about a guarantee that is not about the rows of a table.
ABOUT_UNITS = {
    Unit.QUERY: Notice(
        "query-mixes-rows",
        "caution",
        "the SQL may combine several rows (a join, LIMIT, an aggregate, a window, a view, a "
        "function that headcount does not know). The guarantee is about the rows of its result; "
        f"if one person's rows can change another's there, it {_NO_FURTHER}.",
    ),
    Unit.RELATION: Notice(
        "relation",
        "caution",
        "the guarantee is about the rows and the user column of the given DuckDB relation; if one "
        "person's rows can change another's there, or it computes the user column, it "
        f"{_NO_FURTHER}.",
    ),
    Unit.VIEW: Notice(
        "view",
        "caution",
        "the table is a view, or is read like one (a foreign table, row-level security). The "
        "guarantee is about the rows and the user column of the view; if one person's rows can "
        f"change another's there, or it computes the user column, it {_NO_FURTHER}.",
    ),
    Unit.EXPRESSION: Notice(
        "expression",
        "caution",
        "the guarantee is about the rows and the user column of the given Ibis expression; if one "
        "person's rows can change another's there, or it computes the user column, it "
        f"{_NO_FURTHER}.",
    ),
    Unit.COMPUTED: Notice(
        "computed-user",
        "caution",
        "the user column is computed by the SQL, or headcount cannot tell that it is not. The "
        "guarantee protects one value of it, which may be less than all rows of one person. To "
        "protect all of them, select the column that identifies people without changing it.",
    ),
}
NOT_PRIVATE = Notice(
    "not-private",
    "caution",
    "this release was made with a seed, for experiments. It protects no one, and must not be "
    "published.",
)
WEAK_BUDGET = Notice(
    "weak-budget",
    "caution",
    f"with ε above {WEAK_EPSILON:g} or δ above {WEAK_DELTA:g} the guarantee is a weak promise to "
    "each person.",
)
#: What is asked before such a budget is spent.
WAS_IT_MEANT = "Is this the budget you meant?"
ROWS_OVERLAP = Notice(
    "rows-overlap",
    "advice",
    "The rows of the table do not add up to a total: a user is counted once for each of their "
    "items, and may have items that are not listed.",
)


def is_weak(epsilon: float, delta: float) -> bool:
    """Whether a budget promises little to each person."""
    return epsilon > WEAK_EPSILON or delta > WEAK_DELTA


def notices_about(guarantee: Guarantee, items: int) -> Iterator[Notice]:
    """Return what there is to say about a release with that number of items."""
    if not guarantee.private:
        yield NOT_PRIVATE
    if is_weak(guarantee.epsilon, guarantee.delta):
        yield WEAK_BUDGET
    unit = Unit.of(guarantee.unit)
    if unit in ABOUT_UNITS:
        yield ABOUT_UNITS[unit]
    if isinstance(by := guarantee.settings.get("by"), dict):
        yield _about_periods(**by, days=guarantee.provenance.asked.between)
    bound = guarantee.settings.get("max_items_per_user")
    if isinstance(bound, int):
        yield _about_bound(bound)
    if guarantee.totals:
        yield ROWS_OVERLAP
    if isinstance(rations := guarantee.settings.get("rations"), dict):
        yield _about_sums(rations)
    if "known_items" in guarantee.settings:
        yield _about_list(guarantee)
    limits = {name: guarantee.settings.get(name) for name in ("min_users", "top")}
    if any(limits.values()):
        yield _about_rows(**limits, per=guarantee.settings.get("per"))
    if not items and not limits["min_users"]:
        yield _about_nothing(guarantee)


def _about_nothing(guarantee: Guarantee) -> Notice:
    dated = "by" in guarantee.settings
    missing = "a user, an item or a date that could be read" if dated else "a user or an item"
    another = (
        "" if guarantee.method == DEFAULT else f" On events, the method {DEFAULT} may find more."
    )
    text = (
        "Nothing was released: with this budget, no item was found to have enough users. The "
        "budget is spent. First check that there was something to count: the source may have no "
        f"rows, no row may meet the conditions, and a row without {missing} does not count. "
        "Otherwise, a larger budget, a larger relative error or coarser items may help."
        f"{another} `headcount plan` forecasts by how much."
    )
    return Notice("nothing-released", "advice", text)


def _about_rows(min_users: object, top: object, per: object) -> Notice:
    each = " of each segment" if per else ""
    kept = [f"the {top:,} highest released counts{each}"] if isinstance(top, int) else []
    kept += [f"released counts of at least {min_users:,}"] if isinstance(min_users, int) else []
    text = (
        f"Only {' and '.join(kept)} are kept. They were chosen by their noisy counts after the "
        "release, so this cost nothing and saved nothing. Close to the limit, counts that noise "
        "raised are more likely to be kept."
    )
    return Notice("rows-left-out", "advice", text)


def _about_sums(rations: dict[str, object]) -> Notice:
    each = [ration for ration in rations.values() if isinstance(ration, dict)]
    hidden = max((int(ration.get("hidden_users", 0)) for ration in each), default=0)
    text = (
        "Each user's total contribution to rows, sums and means is scaled down to a limit, which "
        "was chosen under the same guarantee. What is lost that way is estimated and added back, "
        "and the standard errors allow for it. But noise can hide about "
        f"{hidden:,} users: if a few users have far more than everyone else, neither the "
        "numbers nor their standard errors include what they have beyond the limit."
    )
    return Notice("rations", "advice", text)


def _about_list(guarantee: Guarantee) -> Notice:
    settings, public = guarantee.settings, guarantee.provenance.public
    bound, hidden = settings.get("bound"), settings.get("hidden_users")
    within = guarantee.protected_period
    exactly = "The list of items is taken to be public. Exactly its items are counted"
    if RANGE_OF_DAYS in public and LIST_OF_ITEMS in public:
        exactly = (
            "The list of items and the range of days are taken to be public. Exactly these items "
            "are counted, in each period of the range"
        )
    elif RANGE_OF_DAYS in public:
        exactly = "The range of days is taken to be public. Exactly its periods are counted"
    text = f"{exactly}, and no δ was spent on finding them"
    by = settings.get("by")
    one_each = within is not None and isinstance(by, dict) and by.get("period") == within
    nobody_has_more = bound == settings["known_items"] or (one_each and LIST_OF_ITEMS not in public)
    if not nobody_has_more:
        together = "" if within is None else f" within one {within}"
        text += f". Users with more than {bound:,} of them{together} count as less than one in each"
    if hidden:
        text += (
            f". Up to about {hidden:,} such users may go undetected, and the count of an item that "
            "all of them have may be too low by that many. If you know the most items that a user "
            "can have, say so (--max-items-per-user)"
        )
    return Notice("known-items", "advice", f"{text}.")


def _about_periods(
    period: str, column: str, timezone: str | None, days: Sequence[str] | None
) -> Notice:
    from_monday = " (ISO weeks, from Monday)" if period == "week" else ""
    zone = (
        "Times have no time zone and are used as they stand"
        if timezone is None
        else f"Times are taken in the time zone {timezone}"
    )
    text = (
        f"Users are counted once per {period} of {column!r}{from_monday}: a user with rows in "
        f"several {period}s is counted in each of them. {zone}."
    )
    if days is not None:
        text += f" Only rows of the days from {days[0]} to {days[1]} count"
        text += f"{_cut_short(DayRange.of(days), period)}."
    return Notice("periods", "advice", text)


def _cut_short(days: DayRange, period: str) -> str:
    """Say which periods of a range have days outside it, if any do."""
    cut_first, cut_last = days.cuts(period)
    if not (cut_first or cut_last):
        return ""
    if days.first_days(period).size == 1:
        return f", which is only part of that {period}"
    if cut_first and cut_last:
        return f", so the first and the last {period} are cut short"
    return f", so the {'first' if cut_first else 'last'} {period} is cut short"


def _about_bound(max_items_per_user: int) -> Notice:
    counted = (
        "one item of each user counts"
        if max_items_per_user == 1
        else f"at most {max_items_per_user:,} items of each user count"
    )
    text = (
        f"{counted}. If anyone has more, their other items are ignored, and the counts of those "
        "are too low. The guarantee holds either way."
    )
    return Notice("contribution-bound", "caution", text)
