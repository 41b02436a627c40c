"""Balances and entries in words and numbers, for people and for JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from headcount.ledger.amounts import Total, minus
from headcount.ledger.balance import WHOLE_USER, Balance, Books
from headcount.ledger.entries import Entry, Kind
from headcount.ledger.refusal import short, shown
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.rounding import float_above, float_below

_BAR = 10


@dataclass(frozen=True)
class Account:
    """One budget: its total, and what became of it.

    Attributes:
        name: of the group, or of the dataset that has it to itself.
        datasets: those that share it.
        retired: those of them that get no more releases.
        total: what may be spent.
        balance: what was spent and is reserved.
        caps: the most that an actor may use, and what they have used: (dataset, actor, cap, used).
        abandoned: numbers of the reservations that have not been settled yet.
        protects: what it is a promise about.
    """

    name: str
    datasets: list[str]
    retired: list[str]
    total: Total
    balance: Balance
    caps: list[tuple[str, str, Fraction, Cost]]
    abandoned: list[int]
    protects: str = WHOLE_USER

    @property
    def _closed(self) -> bool:
        """Whether it gets no more releases."""
        return self.datasets == self.retired

    def _parts(self) -> dict[str, Cost]:
        limit, balance = self.total.limit, self.balance
        left = Cost() if self._closed else minus(limit, balance.used)
        return {
            "total": limit,
            "spent": balance.spent,
            "reserved": balance.reserved,
            "left": left,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; totals and what is left are rounded down, the rest up."""
        numbers: dict[str, Any] = {}
        for part, cost in self._parts().items():
            rounded = float_below if part in ("total", "left") else float_above
            numbers[part] = {
                "rho": rounded(cost.rho),
                "delta": rounded(self.total.as_given(cost).delta),
                "epsilon": self.total.epsilon(cost),
            }
        return {
            "budget": self.name,
            "datasets": self.datasets,
            "retired": self.retired,
            "protects": self.protects,
            "delta": float(self.total.delta),
            **numbers,
            "caps": [
                {
                    "dataset": dataset,
                    "actor": actor,
                    "rho": float_below(most),
                    "used": float_above(used.rho),
                }
                for dataset, actor, most, used in self.caps
            ],
            "reservations": self.abandoned,
        }

    def rows(self) -> list[list[str]]:
        """Return the rows of a table: for each part ρ, δ, ε and a bar of whichever is scarcer."""
        rows = []
        limit, left = self.total.limit, minus(self.total.limit, self.balance.used)
        delta_is_scarcer = left.delta * limit.rho < left.rho * limit.delta
        parts = self._parts()
        if self._closed:  # nothing may be spent of what was not
            del parts["left"]
            parts["unspent (closed)"] = left
        for number, (part, cost) in enumerate(parts.items()):
            share = cost.delta / limit.delta if delta_is_scarcer else cost.rho / limit.rho
            rows.append(
                [
                    self._title() if number == 0 else "",
                    part,
                    short(cost.rho),
                    short(self.total.as_given(cost).delta),
                    short(self.total.epsilon(cost)),
                    short(self.total.delta),
                    f"{_bar(share)} of {'δ' if delta_is_scarcer else 'ρ'}",
                ]
            )
        for dataset, actor, most, used in self.caps:
            bar = f"{_bar(used.rho / most)} of ρ" if most else ""
            whose = f"{actor} of {dataset}, at most {short(most)}"
            delta = short(self.total.as_given(used).delta)
            rows.append(["", whose, short(used.rho), delta, "", "", bar])
        return rows

    def _title(self) -> str:
        members = [
            f"{dataset} (retired)" if dataset in self.retired else dataset
            for dataset in self.datasets
        ]
        title = members[0] if members == [self.name] else f"{self.name}: {', '.join(members)}"
        return title if self.protects == WHOLE_USER else f"{title} ({self.protects})"


def _bar(share: Fraction) -> str:
    full = round(share * _BAR)
    return f"{'█' * full}{'░' * (_BAR - full)} {float(100 * share):.4g} %"


def accounts(books: Books) -> list[Account]:
    """Return every budget of the books."""
    return [
        Account(
            name=name,
            datasets=books.datasets_of(name),
            retired=[d for d in books.datasets_of(name) if d in books.retired],
            total=total,
            balance=books.balance(name),
            caps=[
                (dataset, actor, cap.rho, books.of_actor(dataset, actor).used)
                for (dataset, actor), cap in books.caps.items()
                if books.budget_of[dataset] == name
            ],
            abandoned=[n for n, r in books.open.items() if books.budget_of[r.dataset] == name],
            protects=books.protects_of(name),
        )
        for name, total in books.totals.items()
    ]


def in_words(entry: Entry, books: Books) -> str:
    """Say what an entry is about, on one line; δ is on the scale of the dataset's total now."""
    facts = entry.facts
    match entry.kind:
        case Kind.OPEN:
            members = "" if facts["group"] is None else f" for {', '.join(facts['datasets'])}"
            protects = facts.get("protect", WHOLE_USER)
            within = "" if protects == WHOLE_USER else f", {protects}"
            return f"{_amount(entry, books)}{members}{within}"
        case Kind.JOIN:
            return f"into {facts['group']}: {facts['reason']}"
        case Kind.EXTEND:
            return f"to {_amount(entry, books)}: {facts['reason']}"
        case Kind.CAP:
            return f"{facts['of']} at most ρ = {short(Fraction(facts['rho']))}"
        case Kind.RESERVE:
            return f"{_amount(entry, books)} for {_question(facts['asked'])}"
        case Kind.SETTLE:
            known_by = f"{facts['release'][:16]}…"
            return f"{_amount(entry, books)} of entry {facts['reservation']}, release {known_by}"
        case Kind.RETURN:
            return f"entry {facts['reservation']}: {facts['reason']}"
        case Kind.RETIRE:
            return str(facts["reason"])


def _amount(entry: Entry, books: Books) -> str:
    facts = entry.facts
    if "total_delta" in facts:
        return shown(Cost(Fraction(facts["rho"]), Fraction(facts["total_delta"])))
    cost = Cost(Fraction(facts["rho"]), Fraction(facts["delta"]))
    return shown(books.total(entry.dataset).as_given(cost))


def _question(asked: Mapping[str, Any]) -> str:
    what = asked.get("item")
    where = asked.get("sql") or asked.get("table")
    parts = [f"{', '.join(what)} by {asked['user']}" if what else "counts"]
    parts.append(f" of {asked['source']}" + (f" ({where})" if where else ""))
    return f"{''.join(parts)}, {asked['method']}"
