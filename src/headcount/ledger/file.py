"""The file of a SQLite ledger: there, its owner's alone, under one name, with room in it."""

import os
import re
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from headcount.errors import LedgerError, LedgerUnavailableError

#: Where Linux lists what is mounted.
MOUNTS = Path("/proc/self/mountinfo")
#: How much room a reservation leaves in a SQLite file for what is settled until the next one: some
#: hundred thousand items, and what the journal needs for that (ledger.md).
ROOM, ROOM_IN_JOURNAL = 2**22, 2**17
# In SQLite alone. What is in it means nothing.
_room = sa.Table(
    "headcount_room",
    sa.MetaData(),
    sa.Column("identity", sa.Text, primary_key=True),
    sa.Column("filler", sa.LargeBinary, nullable=False),
)


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


def make_room(connection: sa.Connection) -> None:
    """Leave room in a SQLite file, and in its journal, for what is settled next (ledger.md)."""
    if connection.dialect.name != "sqlite":
        return

    def fill(size: int) -> None:
        filler = sa.func.zeroblob(size)
        connection.execute(_room.insert().values(identity="", filler=filler))

    _room.create(connection, checkfirst=True)
    # This is what lengthens the journal, which keeps what was there before.
    connection.execute(_room.delete())
    pragmas = ("freelist_count", "page_size")
    pages, size = (connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in pragmas)
    if pages * size < ROOM:
        fill(ROOM)
        # What is deleted is overwritten (secure_delete): these pages are on the disk, and free.
        connection.execute(_room.delete())
    fill(ROOM_IN_JOURNAL)
