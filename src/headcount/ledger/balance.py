"""The entries folded into balances, in exact arithmetic. Nothing here reads or writes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from headcount.errors import BudgetRefusedError, LedgerError, VerificationError
from headcount.inputs.unit import PROTECTED_PERIODS
from headcount.ledger.amounts import Total, minus
from headcount.ledger.entries import Entry, Kind
from headcount.privacy.accounting.filter import Cost

#: What a budget protects unless its owner says otherwise; entries leave it out.
WHOLE_USER = "user"


@dataclass(frozen=True)
class Balance:
    """What was settled, and what is reserved and not settled yet."""

    spent: Cost
    reserved: Cost

    @property
    def used(self) -> Cost:
        """All that is not left."""
        return self.spent + self.reserved


@dataclass(frozen=True)
class Reservation:
    """The most that a release can cost, set aside.

    Attributes:
        number: the number of its entry.
        dataset: whose budget it is.
        actor: who asked for it.
        cost: ρ and δ.
        identity: a random text that no other reservation has, in this ledger or in a copy of it;
            empty in entries of an older headcount.
    """

    number: int
    dataset: str
    actor: str
    cost: Cost
    identity: str


@dataclass(frozen=True)
class Cap:
    """The most that one actor may spend of a dataset; None leaves δ to the dataset's total."""

    rho: Fraction
    delta: Fraction | None


class Books:
    """Every budget as the entries so far leave it.

    Formal guarantee: after any sequence of entries that `add` takes, what is spent and reserved
    of each budget is within its total, in ρ and in δ.

    Args:
        entries: all so far, in order.
        trusted: whether to assume that they fitted when they were written; the chain of hashes
            shows that they are what was written.
    """

    def __init__(self, entries: Iterable[Entry] = (), *, trusted: bool = False) -> None:
        self.totals: dict[str, Total] = {}
        self.budget_of: dict[str, str] = {}  # a dataset's budget: its group's, or its own
        self.retired: set[str] = set()
        self.caps: dict[tuple[str, str], Cap] = {}
        self._units: dict[str, str] = {}  # a dataset's user column, if the owner fixed it
        self._counted_by: dict[str, dict[int, str]] = {}  # … and those of its releases
        self._protects: dict[str, str] = {}  # by budget, unless it is whole users
        self._counted_in: dict[str, Mapping[str, Any]] = {}  # a dataset's periods, once it has some
        self._open: dict[int, Entry] = {}
        self._spent: dict[tuple[str, str], Cost] = {}  # by dataset and actor
        self._trusting = trusted
        for entry in entries:
            try:
                self.add(entry)
            except (LedgerError, KeyError, TypeError, ValueError) as error:
                why = f": {error}" if isinstance(error, LedgerError) else ""
                raise VerificationError(
                    f"entry {entry.number} of the ledger cannot be true{why}"
                ) from None
        self._trusting = False

    def __repr__(self) -> str:
        named = (f"{name!r}: {total!r}" for name, total in self.totals.items())
        return f"<Books of {', '.join(named) or 'no budget'}>"

    @property
    def open(self) -> dict[int, Reservation]:
        """The reservations that were neither settled nor returned."""
        return {number: self.reserved(number) for number in self._open}

    def datasets_of(self, budget: str) -> list[str]:
        """Return the datasets that share a budget."""
        return [dataset for dataset, name in self.budget_of.items() if name == budget]

    def balance(self, budget: str) -> Balance:
        """Return what all datasets of a budget have used."""
        return self._balance(lambda dataset, actor: self.budget_of[dataset] == budget)

    def _balance(self, counts: Callable[[str, str], bool]) -> Balance:
        spent = (cost for whose, cost in self._spent.items() if counts(*whose))
        reserved = (_cost(e.facts) for e in self._open.values() if counts(e.dataset, e.actor))
        return Balance(sum(spent, Cost()), sum(reserved, Cost()))

    def left(self, dataset: str, actor: str | None = None) -> Cost:
        """Return what may still be reserved of a dataset, by an actor if one is named."""
        total = self.total(dataset)
        left = minus(total.limit, self.balance(self.budget_of[dataset]).used)
        cap = None if actor is None else self.caps.get((dataset, actor))
        if cap is None or actor is None:
            return left
        used = self.of_actor(dataset, actor).used
        most = total.limit.delta if cap.delta is None else total.selection(cap.delta)
        rest = minus(Cost(cap.rho, most), used)
        return Cost(min(rest.rho, left.rho), min(rest.delta, left.delta))

    def of_actor(self, dataset: str, actor: str) -> Balance:
        """Return what one actor has used of a dataset."""
        return self._balance(lambda *whose: whose == (dataset, actor))

    def known(self, dataset: str) -> str:
        """Return the name of a dataset's budget; refuse a dataset that has none."""
        if dataset not in self.budget_of:
            if dataset in self.totals:
                members = ", ".join(map(repr, self.datasets_of(dataset)))
                raise LedgerError(f"{dataset!r} is a group; name one of its datasets: {members}")
            there = ", ".join(map(repr, self.budget_of)) or "none"
            raise LedgerError(f"the ledger has no dataset {dataset!r}; there are: {there}")
        return self.budget_of[dataset]

    def total(self, dataset: str) -> Total:
        """Return what all releases of a dataset, or of its group, may cost."""
        return self.totals[self.known(dataset)]

    def reserved(self, number: int) -> Reservation:
        """Return a reservation that was neither settled nor returned."""
        entry = self._opened(number)
        cost, identity = _cost(entry.facts), str(entry.facts.get("identity", ""))
        return Reservation(number, entry.dataset, entry.actor, cost, identity)

    def _opened(self, number: int) -> Entry:
        if number not in self._open:
            raise LedgerError(f"entry {number} is not an open reservation")
        return self._open[number]

    # Each name stands for one thing, a dataset or a group, and a budget that is a dataset's own has
    # it as its only member. So what was used always belongs to the one budget that pays for it.

    def may_open(self, datasets: Sequence[str], group: str | None) -> None:
        """Refuse names that are taken, and datasets that have a budget."""
        if not datasets or (len(datasets) > 1 and group is None):
            raise LedgerError("give one dataset, or several and the name of their group")
        if group in datasets or len(set(datasets)) < len(datasets):
            raise LedgerError("the group and its datasets need different names")
        for dataset in datasets:
            if dataset in self.budget_of:
                raise LedgerError(
                    f"the dataset {dataset!r} already has a budget; `headcount ledger extend` "
                    "raises it"
                )
        if group in self.budget_of:
            raise LedgerError(f"{group!r} is a dataset; give the group another name")
        for name in (group, *datasets):
            if name in self.totals:
                raise LedgerError(
                    f"there is already a group {name!r}; `headcount ledger join` puts a dataset "
                    "into it"
                )

    def may_change(self, dataset: str) -> None:
        """Refuse to change anything about a dataset that is retired or does not exist."""
        self.known(dataset)
        if dataset in self.retired:
            raise LedgerError(f"the dataset {dataset!r} is retired")

    def unit(self, dataset: str) -> str | None:
        """Return the column that says who a user of a dataset is; None if nothing fixed it yet.

        The owner fixes it, or the first release that was not returned does.
        """
        charged = self._counted_by.get(dataset, {})
        return self._units.get(dataset) or next(iter(charged.values()), None)

    def may_count_by(self, dataset: str, user: str | None) -> None:
        """Refuse a release in which "one user" means something other than in earlier ones."""
        unit = self.unit(dataset)
        if user is not None and unit is not None and not same_column(user, unit):
            raise LedgerError(
                f"the budget of {dataset!r} is for users identified by {unit!r}, but this release "
                f"uses {user!r}. Use --user {unit!r} (user={unit!r}), unchanged, or create another "
                "dataset"
            )

    def protects(self, dataset: str) -> str:
        """Return what the budget of a dataset protects: ``"user"``, or rows within a period."""
        return self.protects_of(self.known(dataset))

    def protects_of(self, budget: str) -> str:
        """Return what a budget protects."""
        return self._protects.get(budget, WHOLE_USER)

    def may_protect(self, dataset: str, protect: str) -> None:
        """Refuse a release that would protect something other than the budget of a dataset does."""
        has = self.protects(dataset)
        if protect != has:
            raise LedgerError(
                f"the budget of {dataset!r} protects {in_full(has)} ({has}), and this release "
                f"would protect {in_full(protect)} ({protect}): the two cannot be added up. Ask "
                f"with --protect {has}, or open another dataset with --protect {protect}"
            )

    def may_count_in(self, dataset: str, periods: Mapping[str, Any]) -> None:
        """Refuse a release whose periods differ from those of earlier ones."""
        known = self._counted_in.get(dataset)
        if known is not None and _times(known) != _times(periods):
            raise LedgerError(
                f"the budget of {dataset!r} protects rows within periods of the column "
                f"{known['column']!r}, {_zone(known)}; this release would take them of the column "
                f"{periods['column']!r}, {_zone(periods)}"
            )
        for other in self.datasets_of(self.known(dataset)):
            zone = self._counted_in.get(other, periods)["timezone"]
            if zone != periods["timezone"]:
                raise LedgerError(
                    f"the periods of {other!r}, which shares the budget of {dataset!r}, are taken "
                    f"{_zone(self._counted_in[other])}, and those of this release {_zone(periods)}"
                )

    def may_reserve(self, dataset: str, actor: str, cost: Cost) -> None:
        """Refuse a cost that does not fit."""
        self.known(dataset)
        if dataset in self.retired:
            raise BudgetRefusedError(
                f"the dataset {dataset!r} is retired: it gets no more releases"
            )
        if not cost.fits(self.left(dataset, actor)):
            raise BudgetRefusedError("the release asks for more than is left")

    def may_join(self, dataset: str, group: str) -> None:
        """Refuse to put a dataset into a group that cannot pay for what it has used."""
        if group not in self.totals or group in self.budget_of:
            raise LedgerError(f"there is no group {group!r}")
        if self.budget_of.get(dataset) == group:
            raise LedgerError(f"the dataset {dataset!r} is in the group {group!r} already")
        if dataset not in self.budget_of:
            if dataset in self.totals:
                raise LedgerError(f"{dataset!r} is a group, and a group cannot join another")
            return
        if self.budget_of[dataset] != dataset:
            raise LedgerError(f"the dataset {dataset!r} is in another group")
        if self.protects(dataset) != self.protects_of(group):
            raise LedgerError(
                f"the budgets of {dataset!r} and {group!r} protect different things: one user, "
                "or one user within one period"
            )
        zones = {
            self._counted_in[one]["timezone"]
            for one in (dataset, *self.datasets_of(group))
            if one in self._counted_in
        }
        if len(zones) > 1:
            raise LedgerError(
                f"the periods of {dataset!r} and {group!r} are in different time zones"
            )
        used = self.balance(dataset).used + self.balance(group).used
        if not used.fits(self.totals[group].limit):
            raise BudgetRefusedError(
                f"what was used of {dataset!r} does not fit into what is left of {group!r}"
            )

    def add(self, entry: Entry) -> None:
        """Take one more entry, or refuse what the ledger would never have written."""
        dataset, actor, facts = entry.dataset, entry.actor, entry.facts
        match entry.kind:
            case Kind.OPEN:
                self.may_open(facts["datasets"], facts["group"])
                budget = facts["group"] or facts["datasets"][0]
                self.totals[budget] = _total(facts)
                self.budget_of |= dict.fromkeys(facts["datasets"], budget)
                if (protect := facts.get("protect", WHOLE_USER)) != WHOLE_USER:
                    self._protects[budget] = protect
                if facts.get("unit") is not None:
                    self._units |= dict.fromkeys(facts["datasets"], facts["unit"])
            case Kind.JOIN:
                self.may_join(dataset, facts["group"])
                self.totals.pop(dataset, None)
                self._protects.pop(dataset, None)
                self.budget_of[dataset] = facts["group"]
            case Kind.EXTEND:
                total = _total(facts)
                if not self.total(dataset).limit.fits(total.limit):
                    raise LedgerError("a total can be raised, never lowered")
                self.totals[self.known(dataset)] = total
            case Kind.RETIRE:
                self.known(dataset)
                self.retired.add(dataset)
            case Kind.CAP:
                self.known(dataset)
                delta = None if facts["delta"] is None else Fraction(facts["delta"])
                self.caps[dataset, facts["of"]] = Cap(Fraction(facts["rho"]), delta)
            case Kind.RESERVE:
                user = _user(facts)
                if not self._trusting:
                    self.may_reserve(dataset, actor, _cost(facts))
                    self.may_protect(dataset, facts.get("protect", WHOLE_USER))
                    if "identity" in facts:  # an older headcount did not check this
                        self.may_count_by(dataset, user)
                self._open[entry.number] = entry
                if user is not None:
                    self._counted_by.setdefault(dataset, {})[entry.number] = user
            case Kind.SETTLE:
                reservation, spent = self._opened(facts["reservation"]), _cost(facts)
                if not self._trusting and not spent.fits(_cost(reservation.facts)):
                    raise LedgerError("a release cost more than was reserved for it")
                if reservation.dataset != dataset:
                    raise LedgerError("a release was charged to a dataset other than its own")
                del self._open[reservation.number]
                if (user := facts.get("counted_by")) is not None:
                    self.may_count_by(dataset, user)
                    self._counted_by.setdefault(dataset, {})[reservation.number] = user
                if (periods := facts.get("counted_in")) is not None:
                    self.may_count_in(dataset, periods)
                    self._counted_in.setdefault(dataset, periods)
                whose = reservation.dataset, reservation.actor
                self._spent[whose] = self._spent.get(whose, Cost()) + spent
            case Kind.RETURN:
                returned = self._opened(facts["reservation"])
                del self._open[returned.number]
                self._counted_by.get(returned.dataset, {}).pop(returned.number, None)


def same_column(one: str, other: str) -> bool:
    """Whether two names of a user column are one, whatever their case."""
    return one.casefold() == other.casefold()


def in_full(protect: str) -> str:
    """Say what is protected."""
    within = PROTECTED_PERIODS.get(protect)
    return "all rows of one user" if within is None else f"one user's rows within one {within}"


def _zone(periods: Mapping[str, Any]) -> str:
    zone = periods["timezone"]
    return "as its times are written" if zone is None else f"in the time zone {zone}"


def _times(periods: Mapping[str, Any]) -> tuple[str, str | None]:
    return str(periods["column"]).casefold(), periods["timezone"]


def _cost(facts: Mapping[str, Any]) -> Cost:
    return Cost(Fraction(facts["rho"]), Fraction(facts["delta"]))


def _user(facts: Mapping[str, Any]) -> str | None:
    """Return what a release counts by, if that is known before its source is opened."""
    older = facts.get("asked", {}).get("user")
    user = facts.get("counted_by", older)
    return None if user is None else str(user)


def _total(facts: Mapping[str, Any]) -> Total:
    return Total(Fraction(facts["total_delta"]), _cost(facts))
