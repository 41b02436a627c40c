"""Whether a ledger, and what it keeps, is what was written."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headcount.errors import LedgerError, VerificationError
from headcount.ledger.balance import Books
from headcount.ledger.entries import Entry, Kind
from headcount.ledger.stored_releases import from_bytes
from headcount.results.canonical import fingerprint
from headcount.results.release import Release

if TYPE_CHECKING:
    from headcount.ledger.store import Transaction


@dataclass(frozen=True)
class Checked:
    """What a verified ledger looks like.

    Attributes:
        entries: how many there are.
        head: the hash of the last, which covers all of them.
    """

    entries: int
    head: str


def check(transaction: "Transaction", head: str | None) -> Checked:
    """Check everything that a ledger keeps, and that it has a hash noted down earlier, if any."""
    if head is not None and not re.fullmatch("[0-9a-f]{64}", head):
        raise LedgerError("that is not a hash: a hash has 64 digits, 0 to 9 and a to f")
    entries = transaction.entries()
    Books(entries)
    settled = [entry for entry in entries if entry.kind is Kind.SETTLE]
    # The first form of ledgers kept no releases, and its entries do not mention questions.
    kept = [entry for entry in settled if "question" in entry.facts]
    for entry in kept:
        release_of(entry, transaction)
    if set(transaction.kept_numbers()) != {entry.number for entry in kept}:
        raise VerificationError(
            "the ledger was edited: it holds a release that no entry mentions, so entries at its "
            "end may be missing"
        )
    if head is not None and head not in transaction.hashes():
        raise VerificationError(
            "no entry of the ledger has this hash: the ledger was rewritten, or replaced by an old "
            "copy, or the hash is of another ledger"
        )
    return Checked(len(entries), transaction.head)


def release_of(entry: Entry, transaction: "Transaction") -> Release:
    """Return the release of an entry, checked to be what the entry says."""
    content = transaction.kept(entry.number)
    if content is None:
        raise VerificationError(f"the release of entry {entry.number} is missing")
    try:
        release = from_bytes(content)
        same = fingerprint(release.table) == entry.facts.get("release")
    except Exception:  # whatever is wrong with it
        same = False
    if not same:
        raise VerificationError(f"the release of entry {entry.number} was edited")
    return release
