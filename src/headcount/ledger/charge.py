"""The charge for one release, from before it reads anything until it may be seen."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import PathLike

from headcount.errors import (
    CancelledError,
    HeadcountError,
    LedgerError,
    LedgerUnavailableError,
    NotPrivateError,
    SettingsError,
    SourceError,
)
from headcount.ledger.balance import WHOLE_USER, Reservation, same_column
from headcount.ledger.entries import Kind
from headcount.ledger.ledger import Ledger
from headcount.ledger.refusal import ensure_affordable, shown
from headcount.ledger.stored_releases import AnyQuestion, known_by, written_down
from headcount.question import Question
from headcount.results.canonical import fingerprint
from headcount.results.release import Release

FAILED_BEFORE_NOISE = "the run failed before any noise was drawn"


class Charge:
    """What the steps of a release do to its ledger; nothing, if it has none.

    In this order: `answer` looks for an earlier release; `ensure_allowed` refuses what will not be
    allowed; `reserve` sets its cost aside or refuses; the data is counted under
    `returned_if_it_fails`; `drawing` is set before the mechanism runs; and only what `settled`
    returns may be seen. All of it happens under `accounted_for`.
    """

    def __init__(
        self,
        ledger: Ledger | str | PathLike[str] | None,
        dataset: str | None,
        question: AnyQuestion,
        *,
        private: bool,
    ) -> None:
        if (ledger is None) != (dataset is None):
            raise LedgerError(
                "--ledger and --dataset (ledger=, dataset=) must be given together, or not at all"
            )
        if ledger is not None and not private:
            raise NotPrivateError("a release with a seed is not private, and no ledger accepts it")
        self._ledger = ledger if isinstance(ledger, Ledger | None) else Ledger(ledger)
        self._dataset = dataset or ""
        self._question = question
        #: Whether noise may have been drawn: from then on what was reserved counts as spent.
        self.drawing = False
        self._made: Release | None = None
        self._known_by: str | None = None
        self._reservation: Reservation | None = None
        self._counted_by: str | None = None
        self._counted_in: Mapping[str, object] | None = None
        self._unit: str | None = None
        self._protect, sql = WHOLE_USER, None
        if isinstance(question, Question):
            self._protect, sql = question.protect, question.sql
        if ledger is not None and self._protect != WHOLE_USER and sql is not None:
            raise LedgerError(
                f"with a ledger, --protect {self._protect} works on tables only: SQL could select "
                "any column of times, and a budget protects periods of one column"
            )

    def answer(self, question: Question, *, again: bool) -> Release | None:
        """Return the earlier answer to the same question about the same version of the data.

        That costs nothing. Without a version, each question is new: nobody can tell whether a
        table has changed without looking at it.

        Args:
            question: what is asked.
            again: whether to ignore an earlier answer.
        """
        if again and question.data_version is None:
            raise SettingsError(
                "--again (again=True) has no effect without --data-version (data_version=): "
                "without a version of the data, every question is new"
            )
        if self._ledger is None:
            return None
        self._known_by = known_by(self._dataset, question)
        entry, release = self._ledger.answered(self._known_by)
        if again or entry is None or release is None:
            return None
        self._ledger.tell(
            f"Answered with the release of {entry.time} (entry {entry.number} of the ledger), at "
            "no cost. To count and pay again, use --again (again=True)."
        )
        return replace(release, answered=True)

    def ensure_allowed(self) -> None:
        """Refuse what the budget does not allow, before anybody is warned of what it would cost.

        It reads the ledger alone and writes nothing; `reserve` decides.
        """
        if self._ledger is not None:
            books = self._ledger.books()
            ensure_affordable(books, self._dataset, self._ledger.actor, self._question.budget)
            books.may_protect(self._dataset, self._protect)
            self._unit = books.unit(self._dataset)

    def may_count_by(self, user: str) -> bool:
        """Whether the budget allowed to count by a column when `ensure_allowed` was called."""
        return self._unit is None or same_column(user, self._unit)

    def reserve(self, counted_by: str | None) -> None:
        """Set aside the most that the release can cost, or refuse it.

        Args:
            counted_by: the column that identifies the users, if no SQL may have renamed it.
        """
        if self._ledger is not None:
            self._reservation = self._ledger.reserve(
                self._dataset,
                self._question.budget,
                written_down(self._question),
                counted_by,
                self._protect,
            )

    @property
    def reference(self) -> dict[str, object] | None:
        """Where a release is charged, as it says itself; None without a ledger.

        The ledger's own place is left out: a path or an address is nobody else's business.
        """
        if self._reservation is None:
            return None
        return {"dataset": self._dataset, "reservation": self._reservation.number}

    def ensure_counted_by(
        self, column: str | None, periods: Mapping[str, object] | None = None
    ) -> None:
        """Refuse a release that turns out to count by other users or periods than earlier ones.

        Args:
            column: what identifies the users; None if the SQL computes it, so nobody can tell.
            periods: the column of times and the time zone of the periods, if there are any.
        """
        self._counted_by = column
        if self._ledger is None:
            return
        if column is None:
            raise LedgerError(
                "the SQL computes the user column, or headcount cannot tell that it does not, and "
                "a budget protects the users of one column: select that column, unchanged"
            )
        books = self._ledger.books()
        books.may_count_by(self._dataset, column)
        if self._protect != WHOLE_USER and periods is not None:
            self._counted_in = periods
            books.may_count_in(self._dataset, periods)

    @contextmanager
    def returned_if_it_fails(self) -> Iterator[None]:
        """Return the reservation if what is done here fails. No noise may be drawn here."""
        try:
            yield
        except BaseException:
            if self._ledger is not None and self._reservation is not None:
                with suppress(HeadcountError):  # then it stays reserved
                    self._ledger.abandon(self._reservation, reason=FAILED_BEFORE_NOISE)
            raise

    @contextmanager
    def while_reading(self, *, chosen_rows: bool) -> Iterator[None]:
        """Return the reservation if reading fails, unless the asker could choose when it does.

        In SQL, or in a view or an expression, an error can be made to depend on what anybody's row
        says, and a failure can be seen: if it were free, it would answer any question about one
        person. So it costs what was reserved. With a delimiter, or a limit on memory, the asker
        chooses too. Ctrl-C and cancelling cost it as well: anyone who ends a query before it fails
        has seen that it had not failed yet.
        """
        if not chosen_rows:
            with self.returned_if_it_fails():
                yield
            return
        try:
            yield
        except BaseException as error:
            if self._ledger is not None and self._reservation is not None:
                error.add_note(f"The query ended while it read rows. {self._stays()}")
                failed = isinstance(error, Exception) and not isinstance(error, CancelledError)
                wrong = isinstance(error, SourceError)
                hint = " (TRY_CAST instead of CAST may help)" if wrong else ""
                ended = "failed, which a single row can cause" if failed else "was interrupted"
                self._ledger.tell(f"The query {ended}{hint}, while it read rows. {self._stays()}")
            raise

    def _stays(self) -> str:
        assert self._reservation is not None  # noqa: S101 (asked for only then)
        return (
            f"What was reserved for it (entry {self._reservation.number} of the ledger) counts as "
            "spent, until the owner of the budget decides otherwise (headcount ledger return)."
        )

    @contextmanager
    def accounted_for(self) -> Iterator[None]:
        """Say what was paid for if a run ends after noise may have been drawn."""
        try:
            yield
        except BaseException as error:
            if self._ledger is None or self._reservation is None or not self.drawing:
                raise
            if isinstance(error, LedgerUnavailableError):
                says = f"{error}. Nothing was released. {self._stays()}"
                raise LedgerUnavailableError(says) from None
            kept = None if self._made is None else where_kept(self._ledger, self._made)
            error.add_note(kept or self._stays())
            self._ledger.tell(kept or f"The run ended while noise was drawn. {self._stays()}")
            raise

    def settled(self, release: Release) -> Release:
        """Charge what the release cost; return the release once that is on disk."""
        if self._ledger is not None and self._reservation is not None:
            self._made = release
            left = self._ledger.settle(
                self._reservation, release, self._known_by, self._counted_by, self._counted_in
            )
            self._ledger.tell(f"Charged to {self._dataset!r}, which has {shown(left)} left.")
        return release


def where_kept(ledger: Ledger, release: Release) -> str | None:
    """Return how to get a release that was paid for, and is lost otherwise; None if it was not."""
    wanted = fingerprint(release.table)
    with suppress(HeadcountError):
        for entry in ledger.log():
            if entry.kind is Kind.SETTLE and entry.facts["release"] == wanted:
                return (
                    "The release was paid for, and the ledger keeps it: `headcount ledger fetch "
                    f"LEDGER {entry.number}` (Ledger.released({entry.number})) gets it at no cost."
                )
    return None
