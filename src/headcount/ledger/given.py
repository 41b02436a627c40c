"""What people give a ledger: names and reasons, which are kept in it, and whom it tells."""

import getpass
import os
from collections.abc import Callable
from contextlib import suppress

from headcount.engines.names import UNSPEAKABLE, is_unspeakable
from headcount.errors import LedgerError


def system_user() -> str:
    """Return who is acting, if nobody says."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no entry for this user, as in many containers
        return f"user {os.getuid()}"


def named(what: str, name: str) -> str:
    """Return a name that can be written down; refuse others."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise LedgerError(f"the name of {what} must be printable text, and not empty")
    return name


def given_reason(reason: str) -> str:
    """Return a reason; refuse one that says nothing."""
    if not isinstance(reason, str) or not reason.strip():
        raise LedgerError("give a reason: it is kept in the ledger")
    if is_unspeakable(reason):
        raise LedgerError(f"the reason {UNSPEAKABLE}")
    return reason


def harmless(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that ignores what another raises: talk loses no release that is paid for.

    That includes SystemExit, which rich raises if nobody reads any more what it prints.
    """

    def told(sentence: str) -> None:
        with suppress(Exception, SystemExit):
            tell(sentence)

    return told
