"""The file of a SQLite ledger: it is there, its owner's alone, and has one name."""

import os
import re
from contextlib import suppress
from pathlib import Path

from headcount.errors import LedgerError, LedgerUnavailableError

#: Where Linux lists what is mounted.
MOUNTS = Path("/proc/self/mountinfo")


def require_file(path: Path) -> None:
    """Refuse to go on if there is no such file."""
    try:
        there = path.is_file()
    except OSError as error:  # a folder that may not be read
        why = f"the ledger cannot be used: {error.strerror}"
        raise LedgerUnavailableError(why) from None
    if not there:
        raise LedgerError(
            f"there is no ledger {str(path)!r}; create one with `headcount ledger init`"
        )


def make_private(path: Path) -> None:
    """Make an empty file that only its owner may read; SQLite gives its journal the same rights."""
    with suppress(OSError):  # it is there, or SQLite will say why it cannot be made
        os.close(os.open(os.path.realpath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def require_one_name(path: Path) -> None:
    """Refuse a file that can be opened by another name as well.

    The journal is named after the name that was used. After a crash, who opens the file by another
    name does not find it, and who comes back to the first name undoes all that was written since.
    """
    file = os.path.realpath(path)  # a symlink does no harm: SQLite follows it too
    forgets = "SQLite could forget charges after a crash"
    try:
        names = Path(file).stat().st_nlink
    except OSError:
        return  # SQLite will say what is wrong with it
    if names > 1:
        raise LedgerError(
            f"the ledger {str(path)!r} has more than one name (hard links), and {forgets}; "
            "remove every name but one"
        )
    if os.fsencode(file) in _mount_points():
        raise LedgerError(
            f"the ledger {str(path)!r} is mounted as a single file, so it has another name "
            f"elsewhere, and {forgets}; mount its folder instead"
        )


def _mount_points() -> set[bytes]:
    """Return the paths on which something is mounted, files too; none if Linux does not say."""
    try:
        lines = MOUNTS.read_bytes().split(b"\n")
    except OSError:
        return set()
    places = (line.split(b" ")[4] for line in lines if line)
    # Spaces and the like are written as \040.
    return {re.sub(rb"\\(\d{3})", lambda code: bytes([int(code[1], 8)]), one) for one in places}
