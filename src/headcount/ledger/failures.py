"""Database errors in our own words, because their messages quote rows and addresses."""

import sqlite3

from headcount.errors import LedgerError, LedgerUnavailableError

_SQLITE_REASONS: dict[str, tuple[type[LedgerError], str]] = {
    "SQLITE_BUSY": (LedgerUnavailableError, "it is locked by another process"),
    "SQLITE_LOCKED": (LedgerUnavailableError, "it is locked by another process"),
    "SQLITE_FULL": (LedgerUnavailableError, "the disk is full"),
    "SQLITE_READONLY": (LedgerUnavailableError, "it is read-only"),
    "SQLITE_CANTOPEN": (LedgerUnavailableError, "the file cannot be opened"),
    "SQLITE_PERM": (LedgerUnavailableError, "the file cannot be opened"),
    "SQLITE_IOERR": (LedgerUnavailableError, "the disk is full or failed"),
    "SQLITE_NOTADB": (LedgerError, "the file is not a ledger"),
    "SQLITE_ERROR": (LedgerError, "the file is not a ledger"),
    "SQLITE_CORRUPT": (LedgerUnavailableError, "the file is damaged"),
}
_POSTGRES_REASONS: dict[str, tuple[type[LedgerError], str]] = {
    "08": (LedgerUnavailableError, "the connection was lost"),
    "28": (LedgerUnavailableError, "the server refused the login"),
    "3D": (LedgerError, "there is no such database"),
    "42": (LedgerError, "there is no ledger, or this login may not use it"),
    "53": (LedgerUnavailableError, "the server has too little memory, disk or connections left"),
    "55": (LedgerUnavailableError, "it is locked by another process"),
    "57": (LedgerUnavailableError, "the connection was lost"),
}


def _sqlite_name(error: BaseException | None) -> str:
    return "_".join((getattr(error, "sqlite_errorname", None) or "").split("_")[:2])


def lacks_a_table(error: BaseException | None) -> bool:
    """Whether a statement failed because a table or a column is missing."""
    undefined = ("42P01", "42703")  # a table, a column
    return _sqlite_name(error) == "SQLITE_ERROR" or getattr(error, "sqlstate", "") in undefined


def failure(error: BaseException) -> LedgerError:
    """Return our own error for one that a database raised, without quoting its message."""
    kind: type[LedgerError] = LedgerUnavailableError
    reason = "the connection was lost or cannot be made"
    if isinstance(error, sqlite3.Error):
        kind, reason = _SQLITE_REASONS.get(_sqlite_name(error), (kind, "SQLite failed"))
    elif state := getattr(error, "sqlstate", None):
        failed = (kind, f"the server failed (SQLSTATE {state})")
        kind, reason = _POSTGRES_REASONS.get(state[:2], failed)
    return kind(f"the ledger cannot be used: {reason}")
