"""A budget that is never overspent: `ledger.md`, next to this file, proves what it promises."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.errors import BudgetError, LedgerError, LedgerUnavailableError, VerificationError
from headcount.inputs.unit import PROTECTED_PERIODS
from headcount.ledger.amounts import Total, as_typed, charge_of
from headcount.ledger.balance import WHOLE_USER, Books, Reservation
from headcount.ledger.checks import Checked, check, release_of
from headcount.ledger.entries import Entry, Kind, printable
from headcount.ledger.given import given_reason, harmless, named, system_user
from headcount.ledger.names import public_address
from headcount.ledger.published import fingerprint_of_file
from headcount.ledger.refusal import ensure_affordable
from headcount.ledger.stored_releases import to_bytes
from headcount.privacy import mechanisms
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.randomness import random_identity
from headcount.results.canonical import fingerprint
from headcount.results.release import Release

if TYPE_CHECKING:
    from headcount.ledger.store import Store, Transaction

#: How long another process may hold the ledger before it counts as locked, in seconds.
PATIENCE = 60.0
#: How many times as long a release that has been paid for waits.
PATIENCE_TO_SETTLE = 10

# What a release states as spent is rounded up to a float.
_ROUNDED_UP = 1 + Fraction(1, 2**50)


def _within(reserved: Cost, release: Release) -> Cost:
    """Return what a release spent, which is never more than was set aside for it."""
    spent = Cost(Fraction(release.spent["rho"]), Fraction(release.spent["delta"]))
    if spent.rho > reserved.rho * _ROUNDED_UP or spent.delta > reserved.delta * _ROUNDED_UP:
        raise LedgerUnavailableError(
            "this release spent more than was reserved for it, which must never happen"
        )
    return Cost(min(spent.rho, reserved.rho), min(spent.delta, reserved.delta))


def utc_now() -> datetime:
    """Return the time. Nothing else here reads a clock."""
    return datetime.now(UTC)


class Ledger:
    """The budgets of datasets, and every release that was charged to them.

    Formal guarantee: whatever is released through a ledger, by any user and from any number
    of processes, is together within the total of its dataset or group (ledger.md).

    Args:
        where: the path of a SQLite file, or a ``postgres://…`` URL.
        actor: who is acting; the name of the operating system's user if not given.
        patience: how many seconds to wait for another process that is writing.
        tell: called with a sentence about each charge, about each answer at no cost, and when
            another process holds the ledger for a long time. What it raises is ignored.
        clock: returns the time.
    """

    def __init__(
        self,
        where: str | PathLike[str],
        *,
        actor: str | None = None,
        patience: float = PATIENCE,
        tell: Callable[[str], None] = lambda sentence: None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        if not isinstance(where, str | PathLike):
            raise LedgerError("a ledger is named by the path of a SQLite file or a postgres:// URL")
        self.actor = named("an actor", system_user() if actor is None else actor)
        self.tell = harmless(tell)
        self._where = str(where)
        self._patience = patience
        self._clock = clock

    def __repr__(self) -> str:
        return f"Ledger({public_address(self._where)!r}, actor={self.actor!r})"

    def __reduce__(self) -> "tuple[object, ...]":
        """Pickle the address, who is acting, and the patience: another process opens it again."""
        return partial(Ledger, actor=self.actor, patience=self._patience), (self._where,)

    # --- what the owner decides -----------------------------------------------------------------

    def init(
        self,
        *datasets: str,
        budget: Budget,
        group: str | None = None,
        user: str | None = None,
        protect: str = WHOLE_USER,
    ) -> None:
        """Give one dataset a total, or give several that share people one total as a group.

        Args:
            datasets: their names.
            budget: the total. Each release takes its δ from it, so a total needs the δ of all
                releases together; the default of a `Budget` is that of one.
            group: a name for several datasets.
            user: the column that identifies the user in all of these datasets. Every release must
                count by it; if it is not given, the first release of each dataset fixes it.
            protect: what the total is a promise about: ``"user"``, all rows of a person, or
                ``"user-week"`` and the like, those within one period. Every release must protect
                the same; the first of a dataset fixes its column of times and the time zone.
        """
        if not isinstance(budget, Budget):
            raise BudgetError("budget must be a headcount.Budget")
        names = [named("a dataset", name) for name in datasets]
        if group is not None:
            named("a group", group)
        if user is not None:
            named("a user column", user)
        if protect not in PROTECTED_PERIODS:
            raise LedgerError(f"a budget protects one of: {', '.join(PROTECTED_PERIODS)}")
        unusual = {} if protect == WHOLE_USER else {"protect": protect}
        Books().may_open(names, group)  # before a file is made in vain
        self._store.create()
        with self._writing() as (books, write):
            books.may_open(names, group)
            total = _total_facts(Total.of(budget))
            write(Kind.OPEN, names[0], datasets=names, group=group, unit=user, **unusual, **total)

    def join(self, dataset: str, group: str, *, reason: str) -> None:
        """Put a dataset into a group, which then pays for what it has used and will use."""
        with self._writing() as (books, write):
            books.may_join(named("a dataset", dataset), group)
            write(Kind.JOIN, dataset, group=group, reason=given_reason(reason))

    def extend(self, dataset: str, *, rho: float = 0.0, delta: float = 0.0, reason: str) -> None:
        """Raise the total of a dataset, or of its group, by these amounts."""
        if not (0 <= rho < float("inf") and 0 <= delta < 1 and rho + delta > 0):
            raise BudgetError("say by how much to raise the total: rho, delta or both, above 0")
        with self._writing() as (books, write):
            books.may_change(dataset)
            total = books.total(dataset).raised(rho, delta)
            write(Kind.EXTEND, dataset, reason=given_reason(reason), **_total_facts(total))

    def retire(self, dataset: str, *, reason: str) -> None:
        """Allow no more releases of a dataset. Past ones still answer questions at no cost."""
        with self._writing() as (books, write):
            books.may_change(dataset)
            write(Kind.RETIRE, dataset, reason=given_reason(reason))

    def cap(self, dataset: str, of: str, *, rho: float, delta: float | None = None) -> None:
        """Limit how much of a dataset's budget one actor may spend."""
        if not 0 <= rho < float("inf") or not 0 <= (delta or 0) < 1:
            raise BudgetError("a cap has a rho of at least 0, and may have a delta between 0 and 1")
        exact = None if delta is None else str(as_typed(delta))
        with self._writing() as (books, write):
            books.may_change(dataset)
            write(Kind.CAP, dataset, of=named("an actor", of), rho=str(as_typed(rho)), delta=exact)

    def give_back(self, reservation: int, *, reason: str) -> None:
        """Return an abandoned reservation: the owner knows that nothing came out of it.

        A run that is alive after all ends without releasing anything.
        """
        with self._writing() as (books, write):
            found = books.reserved(reservation)
            write(Kind.RETURN, found.dataset, reservation=reservation, reason=given_reason(reason))

    # --- what a release does --------------------------------------------------------------------

    def reserve(
        self,
        dataset: str,
        budget: Budget,
        asked: Mapping[str, object],
        counted_by: str | None = None,
        protect: str = WHOLE_USER,
    ) -> Reservation:
        """Set aside the most that a release can cost, durably, or refuse.

        Args:
            dataset: whose budget it is.
            budget: what the release may spend.
            asked: the question, as it is written down.
            counted_by: the column that identifies the users, if that is known already.
            protect: what the release protects.
        """
        unusual = {} if protect == WHOLE_USER else {"protect": protect}
        cost, identity = charge_of(budget), random_identity()
        with self._writing() as (books, write):
            ensure_affordable(books, dataset, self.actor, budget)
            number = write(
                Kind.RESERVE,
                dataset,
                asked=dict(asked),
                counted_by=counted_by,
                identity=identity,
                **unusual,
                **_cost_facts(cost),
            )
            write.transaction.make_room()
        return Reservation(number, dataset, self.actor, cost, identity)

    def abandon(self, reservation: Reservation, *, reason: str) -> None:
        """Return the caller's own reservation, out of which nothing came."""
        with self._writing() as (books, write):
            _require_own(books, reservation)
            number = reservation.number
            write(Kind.RETURN, reservation.dataset, reservation=number, reason=given_reason(reason))

    def settle(
        self,
        reservation: Reservation,
        release: Release,
        known_by: str | None,
        counted_by: str | None = None,
        counted_in: Mapping[str, object] | None = None,
    ) -> Cost:
        """Charge what a release cost and keep it, in one step; only then may anybody see it.

        Returns what is left of the dataset's budget, with δ on the scale of the total.

        Args:
            reservation: what was set aside for it.
            release: the release.
            known_by: what identifies its question.
            counted_by: the column that identified the users.
            counted_in: the periods within which it protects a user, if not all of their rows.

        Raises:
            LedgerUnavailableError: it is not charged, and what was reserved stays reserved.
        """
        unusual = {} if counted_in is None else {"counted_in": dict(counted_in)}
        release.guarantee.require_private()
        spent = reservation.cost
        if mechanisms.pays_what_it_gets(release.guarantee.method):
            spent = _within(reservation.cost, release)
        with self._writing(self._patient_store) as (books, write):
            _require_own(books, reservation)
            number = write(
                Kind.SETTLE,
                reservation.dataset,
                reservation=reservation.number,
                release=fingerprint(release.table),
                question=known_by,
                counted_by=counted_by,
                **unusual,
                **release.guarantee.to_dict(),
                **_cost_facts(spent),
            )
            write.transaction.keep(number, to_bytes(release))
            return books.total(reservation.dataset).as_given(books.left(reservation.dataset))

    def answered(self, known_by: str | None) -> tuple[Entry | None, Release | None]:
        """Return the last release that answered a question, with its entry, if any.

        Args:
            known_by: what identifies the question; None if it is new each time it is asked.
        """
        with self._store.transaction(writes=False) as transaction:
            for entry in reversed(transaction.entries() if known_by else []):
                if entry.kind is Kind.SETTLE and entry.facts.get("question") == known_by:
                    return entry, release_of(entry, transaction)
        return None, None

    # --- what anybody may ask -------------------------------------------------------------------

    def books(self) -> Books:
        """Return every budget as it is now."""
        with self._store.transaction(writes=False) as transaction:
            return Books(transaction.entries(), trusted=True)

    def log(self, dataset: str | None = None) -> list[Entry]:
        """Return all entries, or those about a dataset."""
        with self._store.transaction(writes=False) as transaction:
            entries = transaction.entries()
        if dataset is None:
            return entries
        Books(entries, trusted=True).known(dataset)
        return [
            entry
            for entry in entries
            if entry.dataset == dataset or dataset in entry.facts.get("datasets", ())
        ]

    def verify(self, head: str | None = None) -> Checked:
        """Check that nothing was edited, removed, inserted or reordered, and nothing overspent.

        Args:
            head: the hash of the last entry, as it was noted down at some time; the ledger must
                still have that entry.
        """
        with self._store.transaction(writes=False) as transaction:
            return check(transaction, head)

    def released(self, number: int) -> Release:
        """Return the release that an entry was charged for, unchanged, at no cost."""
        with self._store.transaction(writes=False) as transaction:
            entries = transaction.entries()
            if not 1 <= number <= len(entries) or entries[number - 1].kind is not Kind.SETTLE:
                raise LedgerError(
                    f"entry {number} of the ledger is not a release; releases are the lines that "
                    "say settle in `headcount ledger log`"
                )
            return release_of(entries[number - 1], transaction)

    def find(self, path: Path) -> Entry:
        """Return the entry that charged for a published file."""
        wanted = fingerprint_of_file(path)
        for entry in self.log():
            if entry.kind is Kind.SETTLE and entry.facts["release"] == wanted:
                return entry
        raise VerificationError(
            f"no release in this ledger matches {str(path)!r}: it was made without the ledger, "
            "or edited since"
        )

    # --------------------------------------------------------------------------------------------

    @cached_property
    def _store(self) -> "Store":
        from headcount.ledger.store import Store  # SQLAlchemy takes 0.15 s to import

        return Store(self._where, self._patience, self.tell)

    @cached_property
    def _patient_store(self) -> "Store":
        from headcount.ledger.store import Store

        return Store(self._where, PATIENCE_TO_SETTLE * self._patience, self.tell)

    @contextmanager
    def _writing(self, store: "Store | None" = None) -> "Iterator[tuple[Books, _Writer]]":
        with (store or self._store).transaction(writes=True) as transaction:
            books = Books(transaction.entries(), trusted=True)
            yield books, _Writer(transaction, books, self.actor, self._clock())


class _Writer:
    """Writes entries, each of which the books must accept."""

    def __init__(self, transaction: "Transaction", books: Books, actor: str, now: datetime) -> None:
        self.transaction = transaction
        self._books = books
        self._actor = actor
        self._now = now

    def __call__(self, kind: Kind, dataset: str, **facts: object) -> int:
        time = self._now.astimezone(UTC).isoformat(timespec="seconds")
        number = self.transaction.next_number
        entry = Entry(number, time, self._actor, kind, dataset, printable(facts))
        self._books.add(entry)
        self.transaction.append(entry)
        return number


def _require_own(books: Books, reservation: Reservation) -> None:
    """Refuse to go on with a reservation that the ledger no longer has as it was made."""
    if books.open.get(reservation.number) != reservation:
        raise LedgerUnavailableError(
            "the ledger no longer has the reservation of this release (entry "
            f"{reservation.number}): it was returned, or the ledger was replaced by a copy, while "
            "the release ran"
        )


def _cost_facts(cost: Cost) -> dict[str, str]:
    return {"rho": str(cost.rho), "delta": str(cost.delta)}


def _total_facts(total: Total) -> dict[str, str]:
    return {"total_delta": str(total.delta), **_cost_facts(total.limit)}
