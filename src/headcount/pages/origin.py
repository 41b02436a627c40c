"""Where a release comes from: what is known and may be disclosed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from headcount.inputs.stdin import STDIN
from headcount.ledger import Ledger
from headcount.ledger.entries import Entry, Kind
from headcount.results.canonical import fingerprint
from headcount.results.guarantee import Guarantee
from headcount.results.release import Release


@dataclass(frozen=True)
class Origin:
    """Where a release comes from. Its file says little of that; a ledger says all.

    Attributes:
        source: the name of the file or table, without its folders or server.
        user: the column that identifies the users.
        time: when it was released.
        entry: the number of the ledger entry that charged for it.
        dataset: the dataset whose budget was charged.
        reservation: the number of the ledger entry that reserved the budget beforehand.
    """

    source: str | None = None
    user: str | None = None
    time: datetime | None = None
    entry: int | None = None
    dataset: str | None = None
    reservation: int | None = None

    @classmethod
    def of_asked(cls, asked: Mapping[str, Any], time: datetime | None = None) -> "Origin":
        """Return what the question tells about the origin of a release."""
        user = asked.get("user")
        return cls(source_name(asked), None if user is None else str(user), time)

    @classmethod
    def of_release(cls, release: Release, ledger: Ledger) -> "Origin | None":
        """Return what a ledger knows about a release, if the release was charged to it."""
        wanted = fingerprint(release.table)
        settled = (entry for entry in ledger.log() if entry.kind is Kind.SETTLE)
        entry = next((entry for entry in settled if entry.facts["release"] == wanted), None)
        return None if entry is None else cls.of_entry(entry, ledger)

    @classmethod
    def of_entry(cls, entry: Entry, ledger: Ledger) -> "Origin":
        """Return what a ledger knows about the release of an entry."""
        reservation = ledger.log()[entry.facts["reservation"] - 1]
        asked = cls.of_asked(reservation.facts.get("asked", {}))
        user = entry.facts.get("counted_by") or asked.user
        time = datetime.fromisoformat(entry.time).astimezone(UTC)
        return cls(asked.source, user, time, entry.number, entry.dataset, reservation.number)

    @property
    def charge_in_words(self) -> str:
        """Which entries of the ledger the charge is, as `headcount describe` and `verify` do."""
        reserved = "" if self.reservation is None else f"reserved by entry {self.reservation}"
        if self.entry is None:
            return reserved
        return f"entry {self.entry}, {reserved}" if reserved else f"entry {self.entry}"

    def stated_by(self, guarantee: Guarantee) -> "Origin":
        """Return it with the charge that the file states, unless a ledger told more."""
        match guarantee.provenance.ledger:
            case {"dataset": str(dataset), "reservation": int(number)} if self.dataset is None:
                return replace(self, dataset=dataset, reservation=number)
        return self


def source_name(asked: Mapping[str, Any]) -> str | None:
    """Return the name of a source, without any folder, server, password or SQL."""
    source, table = asked.get("source"), asked.get("table")
    parts = []
    if source == STDIN:
        parts.append("stdin")
    elif isinstance(source, str) and not re.match(r"\w[\w+.-]*://", source):
        parts.append(PurePath(source).name)
    if table is not None:
        parts.append(f"table {table}")
    elif asked.get("sql") is not None:
        parts.append("an SQL query")
    return ", ".join(part for part in parts if part) or None
