"""The charge for one release, from before it reads anything until it may be seen."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike

from headcount.errors import (
    HeadcountError,
    LedgerError,
    LedgerUnavailableError,
    NotPrivateError,
    SettingsError,
)
from headcount.ledger.balance import Reservation
from headcount.ledger.ledger import Ledger
from headcount.ledger.names import without_secrets
from headcount.ledger.refusal import shown
from headcount.ledger.stored import Asked
from headcount.privacy.accounting.budget import Budget
from headcount.results.release import Release

FAILED_BEFORE_NOISE = "the run failed before any noise was drawn"


class Charge:
    """Nothing, if there is no ledger; else what the steps of a release do to it.

    In this order: `answer` is looked for; `reserve` refuses or sets aside; the data is counted
    under `returned_if_it_fails`; the mechanism runs, and `settled` is called, under
    `spent_if_it_fails`; and only what `settled` returns may be seen.
    """

    def __init__(
        self,
        ledger: Ledger | str | PathLike[str] | None,
        dataset: str | None,
        budget: Budget,
        asked: Asked,
        *,
        private: bool,
    ) -> None:
        if (ledger is None) != (dataset is None):
            raise LedgerError("a ledger and the name of a dataset go together")
        if ledger is not None and not private:
            raise NotPrivateError("a release with a seed is not private: no ledger takes it")
        self._ledger = ledger if isinstance(ledger, Ledger | None) else Ledger(ledger)
        self._dataset = dataset or ""
        self._budget = budget
        self._asked = asked
        self._known_by: str | None = None
        self._reservation: Reservation | None = None

    def answer(
        self, source: object, engine: str | None, conf: Mapping[str, str], *, again: bool
    ) -> Release | None:
        """Return what answered the same question about the same version of the data before.

        That costs nothing. Without a version each question is a new one: whether a table is what it
        was before cannot be told without looking at it.

        Args:
            source: what is read.
            engine: what reads it.
            conf: settings of the engine, which are not written down.
            again: whether not to look for an answer.
        """
        if again and self._asked.get("data_version") is None:
            raise SettingsError(
                "every question is a new one unless a version of the data is stated, so there is "
                "nothing to ask again: leave --again (again=True) out"
            )
        if self._ledger is None:
            return None
        self._known_by, entry, release = self._ledger.answered(
            self._dataset, self._asked, source, [engine, without_secrets(conf)]
        )
        if again or entry is None or release is None:
            return None
        self._ledger.tell(
            f"Answered with the release of {entry.time} (entry {entry.number} of the ledger), at "
            "no cost. To count and to pay once more, ask with --again (again=True)."
        )
        return release

    def reserve(self) -> None:
        """Set the most that the release can cost aside, or refuse it."""
        if self._ledger is not None:
            self._reservation = self._ledger.reserve(self._dataset, self._budget, self._asked)

    @contextmanager
    def returned_if_it_fails(self) -> Iterator[None]:
        """Return the reservation if what is done here fails. No noise may be drawn here."""
        try:
            yield
        except BaseException:
            if self._ledger is not None and self._reservation is not None:
                with suppress(HeadcountError):  # it stays reserved, then
                    self._ledger.abandon(self._reservation, reason=FAILED_BEFORE_NOISE)
            raise

    @contextmanager
    def spent_if_it_fails(self) -> Iterator[None]:
        """Say that the reservation counts as spent if what is done here fails."""
        try:
            yield
        except BaseException as error:
            if self._ledger is None or self._reservation is None:
                raise
            stays = (
                f"What was reserved for it (entry {self._reservation.number} of the ledger) counts "
                "as spent, until the owner of the budget decides otherwise (headcount ledger "
                "return)."
            )
            if isinstance(error, LedgerUnavailableError):
                raise LedgerUnavailableError(f"{error}. Nothing was released. {stays}") from None
            self._ledger.tell(f"The run ended while noise was drawn. {stays}")
            raise

    def settled(self, release: Release) -> Release:
        """Charge what the release did cost; return it once that is on disk."""
        if self._ledger is not None and self._reservation is not None:
            left = self._ledger.settle(self._reservation, release, self._known_by)
            self._ledger.tell(f"Charged to {self._dataset!r}, which has {shown(left)} left.")
        return release
