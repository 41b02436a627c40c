"""The entries folded into balances, in exact arithmetic. Nothing here reads or writes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from headcount.errors import BudgetRefusedError, LedgerError, VerificationError
from headcount.ledger.amounts import Total, minus
from headcount.ledger.entries import Entry, Kind
from headcount.privacy.filter import Cost


@dataclass
class Balance:
    """What was settled, and what is reserved and not settled yet."""

    spent: Cost = field(default_factory=Cost)
    reserved: Cost = field(default_factory=Cost)

    @property
    def used(self) -> Cost:
        """All that is not left."""
        return self.spent + self.reserved


@dataclass(frozen=True)
class Reservation:
    """The most that a release can cost, set aside.

    Attributes:
        number: of the entry that says so.
        dataset: whose budget it is.
        actor: who asked for it.
        cost: ρ and δ.
    """

    number: int
    dataset: str
    actor: str
    cost: Cost


@dataclass(frozen=True)
class Cap:
    """The most that one actor may spend of a dataset; None leaves δ to the dataset's total."""

    rho: Fraction
    delta: Fraction | None


class Books:
    """Every budget as the entries so far have it.

    Formal guarantee: after any sequence of entries that `add` takes, what is spent and reserved
    of each budget is within its total, in ρ and in δ.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.totals: dict[str, Total] = {}
        self.budget_of: dict[str, str] = {}  # a dataset's budget: its group's, or its own
        self.retired: set[str] = set()
        self.caps: dict[tuple[str, str], Cap] = {}
        self.open: dict[int, Reservation] = {}
        self._of_dataset: dict[str, Balance] = {}
        self._of_actor: dict[tuple[str, str], Balance] = {}
        for entry in entries:
            try:
                self.add(entry)
            except (LedgerError, KeyError, TypeError, ValueError) as error:
                why = f": {error}" if isinstance(error, LedgerError) else ""
                raise VerificationError(
                    f"entry {entry.number} of the ledger cannot be true{why}"
                ) from None

    def datasets_of(self, budget: str) -> list[str]:
        """Return the datasets that share a budget."""
        return [dataset for dataset, name in self.budget_of.items() if name == budget]

    def balance(self, budget: str) -> Balance:
        """Return what all datasets of a budget have used."""
        parts = [self._of_dataset[dataset] for dataset in self.datasets_of(budget)]
        return Balance(
            sum((part.spent for part in parts), Cost()),
            sum((part.reserved for part in parts), Cost()),
        )

    def left(self, dataset: str, actor: str | None = None) -> Cost:
        """Return what may still be reserved of a dataset, by an actor if one is named."""
        budget = self.known(dataset)
        left = minus(self.totals[budget].limit, self.balance(budget).used)
        cap = None if actor is None else self.caps.get((dataset, actor))
        if cap is None or actor is None:
            return left
        used = self.of_actor(dataset, actor).used
        rest = minus(Cost(cap.rho, left.delta if cap.delta is None else cap.delta), used)
        delta = left.delta if cap.delta is None else min(rest.delta, left.delta)
        return Cost(min(rest.rho, left.rho), delta)

    def of_actor(self, dataset: str, actor: str) -> Balance:
        """Return what one actor has used of a dataset."""
        return self._of_actor.get((dataset, actor), Balance())

    def known(self, dataset: str) -> str:
        """Return the name of a dataset's budget; refuse a dataset that has none."""
        if dataset not in self.budget_of:
            there = ", ".join(map(repr, self.budget_of)) or "none"
            raise LedgerError(f"the ledger has no dataset {dataset!r}; there are: {there}")
        return self.budget_of[dataset]

    def reserved(self, number: int) -> Reservation:
        """Return a reservation that was neither settled nor returned."""
        if number not in self.open:
            raise LedgerError(f"entry {number} is no reservation that is still open")
        return self.open[number]

    def may_open(self, datasets: Iterable[str], budget: str) -> None:
        """Refuse a budget whose name is taken, or datasets that have one."""
        for dataset in datasets:
            if dataset in self.budget_of:
                raise LedgerError(
                    f"the dataset {dataset!r} has a budget already; it can be extended"
                )
        if budget in self.totals:
            raise LedgerError(f"there is a budget {budget!r} already")

    def may_reserve(self, dataset: str, actor: str, cost: Cost) -> None:
        """Refuse a cost that does not fit."""
        self.known(dataset)
        if dataset in self.retired:
            raise BudgetRefusedError(
                f"the dataset {dataset!r} is retired: it gets no more releases"
            )
        if not cost.fits(self.left(dataset, actor)):
            raise BudgetRefusedError("more is asked for than is left")

    def may_join(self, dataset: str, group: str) -> None:
        """Refuse to put a dataset into a group that cannot pay for what it has used."""
        if group not in self.totals or group in self.budget_of:
            raise LedgerError(f"there is no group {group!r}")
        if self.budget_of.get(dataset) == group:
            raise LedgerError(f"the dataset {dataset!r} is in the group {group!r} already")
        if dataset not in self.budget_of:
            return
        if self.budget_of[dataset] != dataset:
            raise LedgerError(f"the dataset {dataset!r} is in another group")
        used = self._of_dataset[dataset].used + self.balance(group).used
        if not used.fits(self.totals[group].limit):
            raise BudgetRefusedError(
                f"what was used of {dataset!r} does not fit into what is left of {group!r}"
            )

    def add(self, entry: Entry) -> None:
        """Take one more entry, or refuse what the ledger would never have written."""
        dataset, actor, facts = entry.dataset, entry.actor, entry.facts
        match entry.kind:
            case Kind.OPEN:
                budget = facts["group"] or dataset
                self.may_open(facts["datasets"], budget)
                self.totals[budget] = _total(facts)
                for name in facts["datasets"]:
                    self._put(name, budget)
            case Kind.JOIN:
                self.may_join(dataset, facts["group"])
                self.totals.pop(dataset, None)
                self._put(dataset, facts["group"])
            case Kind.EXTEND:
                self.totals[self.known(dataset)] = _total(facts)
            case Kind.RETIRE:
                self.known(dataset)
                self.retired.add(dataset)
            case Kind.CAP:
                self.known(dataset)
                delta = None if facts["delta"] is None else Fraction(facts["delta"])
                self.caps[dataset, facts["of"]] = Cap(Fraction(facts["rho"]), delta)
            case Kind.RESERVE:
                cost = _cost(facts)
                self.may_reserve(dataset, actor, cost)
                self.open[entry.number] = Reservation(entry.number, dataset, actor, cost)
                for balance in self._balances(dataset, actor):
                    balance.reserved += cost
            case Kind.SETTLE | Kind.RETURN:
                spent = _cost(facts) if entry.kind is Kind.SETTLE else Cost()
                self._close(self.reserved(facts["reservation"]), spent)

    def _close(self, reservation: Reservation, spent: Cost) -> None:
        if not spent.fits(reservation.cost):
            raise LedgerError("a release cost more than was reserved for it")
        del self.open[reservation.number]
        for balance in self._balances(reservation.dataset, reservation.actor):
            balance.reserved = minus(balance.reserved, reservation.cost)
            balance.spent += spent

    def _put(self, dataset: str, budget: str) -> None:
        self.budget_of[dataset] = budget
        self._of_dataset.setdefault(dataset, Balance())

    def _balances(self, dataset: str, actor: str) -> tuple[Balance, Balance]:
        of_actor = self._of_actor.setdefault((dataset, actor), Balance())
        return self._of_dataset[dataset], of_actor


def _cost(facts: object) -> Cost:
    assert isinstance(facts, dict)  # noqa: S101 (an entry's facts)
    return Cost(Fraction(facts["rho"]), Fraction(facts["delta"]))


def _total(facts: object) -> Total:
    assert isinstance(facts, dict)  # noqa: S101 (an entry's facts)
    return Total(Fraction(facts["total_delta"]), _cost(facts))
