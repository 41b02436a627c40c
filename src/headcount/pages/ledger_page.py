"""The page of a ledger: what was spent from each budget, by whom and when, and what would fit."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from headcount.ledger.account import Account, accounts, in_words
from headcount.ledger.amounts import Total, minus, what_fits
from headcount.ledger.balance import Books
from headcount.ledger.entries import Entry, Kind
from headcount.pages.html import rendered
from headcount.pages.scales import Point, line, linear, percent
from headcount.privacy.accounting.budget import DEFAULT_DELTA, Budget
from headcount.privacy.accounting.filter import Cost

#: How many entries the page lists, the latest ones; `headcount ledger log` shows all.
ENTRIES = 200
#: How times are written at the ends of a chart, the shortest first.
_FORMS = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S")


#: What an entry of each kind does, for readers of the list of entries.
KINDS = {
    Kind.OPEN: "sets the total of a budget",
    Kind.JOIN: "moves a dataset into a budget that others share",
    Kind.EXTEND: "raises a total",
    Kind.RETIRE: "ends the releases of a dataset",
    Kind.CAP: "limits what one actor may spend of a dataset",
    Kind.RESERVE: "sets aside the most that a release can cost, before it runs",
    Kind.SETTLE: "charges what the release cost, and frees the rest of what was set aside",
    Kind.RETURN: "frees what was set aside for a release that was not made",
}


@dataclass(frozen=True)
class Part:
    """How much of ρ or δ is spent, reserved and left: as text, and in per cent of the total."""

    name: str
    total: str
    spent: str
    reserved: str
    left: str
    spent_percent: float
    reserved_percent: float


@dataclass(frozen=True)
class Whose:
    """What one actor used of one dataset's budget."""

    dataset: str
    actor: str
    releases: int
    rho: str
    delta: str
    cap: str


@dataclass(frozen=True)
class History:
    """How much of ρ was used over time, next to its total."""

    used: str
    total: str
    top: str
    first: str
    last: str


@dataclass(frozen=True)
class BudgetView:
    """One budget, as the page shows it."""

    name: str
    datasets: list[str]
    retired: list[str]
    epsilon: str
    delta: str
    parts: list[Part]
    fits: list[str]
    history: History
    whose: list[Whose]
    reservations: list[int]
    closed: bool


def ledger_page(entries: list[Entry], now: datetime) -> bytes:
    """Return the page of a ledger with these entries, as of now."""
    books = Books(entries, trusted=True)
    histories = _histories(entries)
    return rendered(
        "ledger.html",
        script=None,
        heading="Privacy budgets",
        now=now.astimezone(UTC),
        number=len(entries),
        budgets=[
            _view(account, books, entries, histories[account.name], now)
            for account in accounts(books)
        ],
        entries=[(entry, in_words(entry, books)) for entry in reversed(entries[-ENTRIES:])],
        kinds={
            kind: words
            for kind, words in KINDS.items()
            if any(entry.kind is kind for entry in entries[-ENTRIES:])
        },
    )


def _view(
    account: Account,
    books: Books,
    entries: list[Entry],
    history: list[tuple[datetime, Cost, Cost]],
    now: datetime,
) -> BudgetView:
    total, balance = account.total, account.balance
    closed = account.datasets == account.retired
    left = minus(total.limit, balance.used)
    return BudgetView(
        account.name,
        account.datasets,
        account.retired,
        _short(total.epsilon(total.limit)),
        _short(total.delta),
        _parts(total, balance.spent, balance.reserved, left),
        [] if closed else _fits(total, left, _last_cost(entries, set(account.datasets))),
        _drawn(history, now),
        _whose(account, books, entries),
        account.abandoned,
        closed,
    )


def _parts(total: Total, spent: Cost, reserved: Cost, left: Cost) -> list[Part]:
    limit, parts = total.limit, (spent, reserved, left)
    given = [total.as_given(cost) for cost in parts]
    return [
        _part("ρ", limit.rho, [cost.rho for cost in parts]),
        _part("δ", total.delta, [cost.delta for cost in given]),
    ]


def _part(name: str, total: Fraction, amounts: list[Fraction]) -> Part:
    spent, reserved, left = amounts
    return Part(
        name,
        total=_short(total),
        spent=_short(spent),
        reserved=_short(reserved),
        left=_short(left),
        spent_percent=_percent(spent, total),
        reserved_percent=_percent(reserved, total),
    )


def _percent(amount: Fraction, limit: Fraction) -> float:
    return percent(float(amount / limit)) if limit else 0.0


def _fits(total: Total, left: Cost, last: Cost | None) -> list[str]:
    """Say what one more release could spend, and how many more like the last one would fit."""
    most = Budget(rho=float(total.limit.rho), delta=min(DEFAULT_DELTA, float(total.delta)))
    found = what_fits(most, left)
    if found is None:
        return ["Nothing more would fit."]
    as_epsilon = what_fits(Budget(epsilon=most.epsilon, delta=found.delta), left)
    also = "" if as_epsilon is None else f", or --epsilon {as_epsilon.epsilon:.4g}"
    words = [f"One release with --rho {found.rho:.4g}{also}, with --delta {found.delta:.4g}."]
    if last is not None:
        number = min(
            there // each for there, each in zip(_pair(left), _pair(last), strict=True) if each
        )
        if number:
            words.append(f"Or {number:,} more like the last one.")
    return words


def _pair(cost: Cost) -> tuple[Fraction, Fraction]:
    return cost.rho, cost.delta


def _last_cost(entries: list[Entry], datasets: set[str]) -> Cost | None:
    for entry in reversed(entries):
        if entry.kind is Kind.RESERVE and entry.dataset in datasets:
            return Cost(Fraction(entry.facts["rho"]), Fraction(entry.facts["delta"]))
    return None


def _whose(account: Account, books: Books, entries: list[Entry]) -> list[Whose]:
    reserved = {entry.number: entry for entry in entries if entry.kind is Kind.RESERVE}
    asked = {(e.dataset, e.actor) for e in reserved.values() if e.dataset in account.datasets}
    settled = (e.facts["reservation"] for e in entries if e.kind is Kind.SETTLE)
    releases = Counter((reserved[n].dataset, reserved[n].actor) for n in settled)
    capped = {(dataset, actor): most for dataset, actor, most, _ in account.caps}
    rows = []
    for dataset, actor in sorted(asked | set(capped)):
        used = account.total.as_given(books.of_actor(dataset, actor).used)
        most = capped.get((dataset, actor))
        cap = "none" if most is None else f"ρ = {_short(most)}"
        rows.append(
            Whose(
                dataset,
                actor,
                releases[dataset, actor],
                _short(used.rho),
                _short(used.delta),
                cap,
            )
        )
    return rows


def _histories(entries: Iterable[Entry]) -> dict[str, list[tuple[datetime, Cost, Cost]]]:
    """Return, for each budget, what was used and its total after each entry about it."""
    books = Books()
    found: dict[str, list[tuple[datetime, Cost, Cost]]] = {}
    for entry in entries:
        books.add(entry)
        name = books.budget_of[entry.dataset]
        state = (_time(entry), books.balance(name).used, books.totals[name].limit)
        found.setdefault(name, []).append(state)
    return found


def _drawn(history: list[tuple[datetime, Cost, Cost]], now: datetime) -> History:
    first = history[0][0]
    along = linear(first.timestamp(), max(now, history[-1][0]).timestamp())
    top = float(max(limit.rho for _, _, limit in history))
    up = linear(0.0, top)
    lines: list[list[Point]] = [[], []]
    for when, used, limit in history:
        for points, cost in zip(lines, (used, limit), strict=True):
            if points:
                points.append((along(when.timestamp()), points[-1][1]))
            points.append((along(when.timestamp()), 1 - up(float(cost.rho))))
    for points in lines:
        points.append((1.0, points[-1][1]))
    ends = _told_apart(first, now.astimezone(UTC))
    return History(line(lines[0]), line(lines[1]), f"ρ = {_short(top)}", *ends)


def _told_apart(first: datetime, last: datetime) -> tuple[str, str]:
    """Return two times as short as they still differ, if they do to the second."""
    texts = ((f"{first:{form}}", f"{last:{form}}") for form in _FORMS)
    return next((pair for pair in texts if pair[0] != pair[1]), (f"{first:{_FORMS[-1]}}", ""))


def _short(value: Fraction | float) -> str:
    """Format an amount for people, with four digits at most."""
    return f"{float(value):.4g}"


def _time(entry: Entry) -> datetime:
    return datetime.fromisoformat(entry.time).astimezone(UTC)
