"""Whether a ledger, and what it keeps, is what was written."""

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headcount.errors import LedgerError, VerificationError
from headcount.ledger.balance import Books
from headcount.ledger.entries import Entry, Kind
from headcount.ledger.stored import fingerprint, from_bytes
from headcount.release import Release

if TYPE_CHECKING:
    from headcount.ledger.store import Kept, Transaction


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
    """Check all that a ledger keeps, and that it has the hash that was noted down, if any."""
    if head is not None and not re.fullmatch("[0-9a-f]{64}", head):
        raise LedgerError("that is no hash: one has 64 digits, 0 to 9 and a to f")
    entries = transaction.entries()
    Books(entries)
    key = transaction.key()
    for entry in entries:
        if entry.kind is Kind.SETTLE:
            kept = transaction.kept(entry.number)
            if kept is None:
                raise VerificationError(f"the release of entry {entry.number} is missing")
            unchanged(entry, kept, key)
    if head is not None and head not in transaction.hashes():
        raise VerificationError(
            "no entry of the ledger has this hash: the ledger was rewritten, or replaced by an old "
            "copy, or the hash is of another ledger"
        )
    return Checked(len(entries), transaction.head)


def seal(key: bytes, reservation: int, known_by: str | None) -> str:
    """Return what ties a question to the entry that answers it.

    It goes into the entry, under the chain of hashes. It is another one for each entry, so that
    entries do not show whether the data had changed between them.
    """
    return hmac.new(key, f"{reservation}\n{known_by or ''}".encode(), hashlib.sha256).hexdigest()


def unchanged(entry: Entry, kept: "Kept", key: bytes) -> Release:
    """Return a release that is what its entry says, and answers what its entry says."""
    try:
        release = from_bytes(kept.content)
        same = fingerprint(release) == entry.facts.get("release")
    except Exception:  # whatever is wrong with it
        same = False
    if not same:
        raise VerificationError(f"the release of entry {entry.number} was edited")
    if entry.facts.get("question") != seal(key, entry.facts["reservation"], kept.question):
        raise VerificationError(
            f"the question that the release of entry {entry.number} answers was edited, or the "
            "key of the ledger was"
        )
    return release
