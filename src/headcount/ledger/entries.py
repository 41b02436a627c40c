"""The entries of a ledger: what one says, its canonical form, and the chain of hashes."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from headcount.errors import VerificationError
from headcount.results.canonical import canonical_json

#: What the first entry is chained to.
NO_HASH = "0" * 64


class Kind(StrEnum):
    """What an entry does to the budgets."""

    OPEN = "open"  # a total, for one dataset or for a group of them
    JOIN = "join"  # a dataset is put into a group
    EXTEND = "extend"  # a total is raised
    RETIRE = "retire"  # a dataset gets no more releases
    CAP = "cap"  # the most that one actor may spend of a dataset
    RESERVE = "reserve"  # the most that a release can cost, before it runs
    SETTLE = "settle"  # what the release cost
    RETURN = "return"  # a reservation that bought nothing


@dataclass(frozen=True)
class Entry:
    """One row of the ledger; never changed, never removed.

    Attributes:
        number: 1, 2, 3, …
        time: when it was written, in UTC.
        actor: who had it written, by their own account.
        kind: what it does.
        dataset: the dataset that it is about.
        facts: everything else, as JSON values; exact amounts are texts such as "1/2".
    """

    number: int
    time: str
    actor: str
    kind: Kind
    dataset: str
    facts: Mapping[str, Any]

    def body(self) -> str:
        """Return the canonical form, which is what is stored and hashed."""
        return canonical_json(asdict(self))

    @classmethod
    def from_body(cls, body: str) -> "Entry":
        """Return the entry that a canonical form stands for."""
        found = json.loads(body)
        return cls(**{**found, "kind": Kind(found["kind"])})


def link(previous: str, body: str) -> str:
    """Return the hash of an entry, which covers all entries before it."""
    return hashlib.sha256(f"{previous}\n{body}".encode()).hexdigest()


def printable(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """Return a JSON value whose text UTF-8 can hold, which is not true of every file name."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case Mapping():
            return {printable(key): printable(each) for key, each in value.items()}
        case list() | tuple():
            return [printable(each) for each in value]
    return value


@dataclass(frozen=True)
class StoredEntry:
    """An entry as the database keeps it."""

    number: int
    body: str
    hash: str


def read_chain(rows: Iterable[StoredEntry], head: StoredEntry) -> list[Entry]:
    """Return the entries of rows that are unchanged, complete and in order.

    Args:
        rows: all rows, in the order of their numbers.
        head: number and hash of the last row, which the database keeps apart from the rows.
    """
    entries: list[Entry] = []
    hash_ = NO_HASH
    for expected, row in enumerate(rows, 1):
        if row.number != expected:
            raise VerificationError(f"entry {expected} of the ledger is missing")
        hash_ = link(hash_, row.body)
        if row.hash != hash_:
            raise VerificationError(f"entry {expected} of the ledger, or one before it, was edited")
        entries.append(_read(expected, row.body))
    if len(entries) < head.number:
        raise VerificationError(f"entry {len(entries) + 1} of the ledger is missing")
    if len(entries) > head.number or hash_ != head.hash:
        raise VerificationError("the ledger's record of its last entry does not match the entries")
    return entries


def _read(number: int, body: str) -> Entry:
    try:
        entry = Entry.from_body(body)
    except (KeyError, TypeError, ValueError):
        entry = None
    if entry is None or entry.number != number:
        raise VerificationError(f"entry {number} of the ledger is one this version cannot read")
    return entry
