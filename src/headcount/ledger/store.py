"""Where entries are kept: a SQLite file or a PostgreSQL database, through SQLAlchemy.

One transaction at a time writes. It holds the lock of the file (SQLite, BEGIN IMMEDIATE) or of a
table (PostgreSQL) from before it reads the entries until it has committed to disk, so what it read
is still true when it writes.
"""

import logging
import os
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

import sqlalchemy as sa

from headcount.engines.files import as_path
from headcount.engines.names import UNSPEAKABLE, is_unspeakable
from headcount.errors import (
    LedgerError,
    LedgerUnavailableError,
    MissingExtraError,
    VerificationError,
)
from headcount.ledger.entries import NO_HASH, Entry, StoredEntry, link, read_chain
from headcount.ledger.failures import failure, lacks_a_table
from headcount.ledger.file import make_private, make_room, require_file, require_one_name

#: 1 had entries only. 2 had stored releases too, and a key that identified questions. 3 has no key,
#: and room for what is not settled yet. 4 has budgets for one user within one period, which an
#: older headcount would take for budgets of users.
SCHEMA_VERSION = 4
#: How many seconds another process may hold the ledger before the caller is told.
SILENCE = 2.0

_metadata = sa.MetaData()
_entries = sa.Table(
    "headcount_entries",
    _metadata,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)
_head = sa.Table(
    "headcount_ledger",
    _metadata,
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)
_releases = sa.Table(
    "headcount_releases",
    _metadata,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
)


class Transaction:
    """What is done to the ledger all at once, or not at all."""

    def __init__(self, connection: sa.Connection, *, writes: bool) -> None:
        self._connection = connection
        found = self._head()
        if found.version > SCHEMA_VERSION:
            raise LedgerError(
                f"this ledger was made by a newer headcount (its format is {found.version}, and "
                f"this version knows formats up to {SCHEMA_VERSION}); upgrade headcount to use it"
            )
        self.version = found.version
        self._last = StoredEntry(found.number, "", found.hash)
        if writes and self.version < SCHEMA_VERSION:
            self._migrate()

    @property
    def head(self) -> str:
        """The hash of the last entry, which covers all of them."""
        return self._last.hash

    def entries(self) -> list[Entry]:
        """Return all entries, checked to be unchanged, complete and in order."""
        rows = self._connection.execute(sa.select(_entries).order_by(_entries.c.number)).all()
        if not all(_is(row, int, str, str) for row in rows):
            raise VerificationError(
                "the ledger was edited: an entry does not have the form in which it was written"
            )
        return read_chain((StoredEntry(*row) for row in rows), self._last)

    def hashes(self) -> set[str]:
        """Return the hashes of all entries."""
        return set(self._connection.execute(sa.select(_entries.c.hash)).scalars())

    @property
    def next_number(self) -> int:
        """The number that the next entry gets."""
        return self._last.number + 1

    def append(self, entry: Entry) -> None:
        """Add an entry at the end."""
        body = entry.body()
        row = StoredEntry(entry.number, body, link(self._last.hash, body))
        self._connection.execute(
            _entries.insert().values(number=row.number, body=row.body, hash=row.hash)
        )
        self._connection.execute(_head.update().values(number=row.number, hash=row.hash))
        self._last = row

    def _head(self) -> sa.Row[Any]:
        rows = self._connection.execute(sa.select(_head).limit(2)).all()
        if len(rows) != 1 or not _is(rows[0], int, int, str):
            why = "is there twice" if len(rows) > 1 else "is missing or not of the form it had"
            raise VerificationError(f"the ledger was edited: the record of its last entry {why}")
        return rows[0]

    def keep(self, number: int, content: bytes) -> None:
        """Store the release of an entry."""
        self._connection.execute(_releases.insert().values(number=number, content=content))

    def kept(self, number: int) -> bytes | None:
        """Return the stored release of an entry, if there is one."""
        if self.version < 2:
            return None
        query = sa.select(_releases.c.content).where(_releases.c.number == number)
        found: object = self._connection.execute(query).scalar_one_or_none()
        if not isinstance(found, bytes | None):  # SQLite accepts any value in any column
            raise VerificationError(f"the release of entry {number} was edited")
        return found

    def kept_numbers(self) -> list[int]:
        """Return the numbers of the entries whose releases are stored."""
        if self.version < 2:
            return []
        return list(self._connection.execute(sa.select(_releases.c.number)).scalars())

    def make_room(self) -> None:
        """Leave room for what is settled next; a full disk is noticed before anything is spent."""
        make_room(self._connection)

    def _migrate(self) -> None:
        _metadata.create_all(self._connection)
        if self.version == 2:
            # Questions were identified by sizes and times of files, which depend on private data.
            for statement in (
                "UPDATE headcount_releases SET question = NULL",
                "DROP TABLE headcount_keys",
            ):
                self._connection.exec_driver_sql(statement)
        self._connection.execute(_head.update().values(version=SCHEMA_VERSION))
        self.version = SCHEMA_VERSION


class Store:
    """The database of a ledger. Connections are opened for one transaction and closed."""

    def __init__(self, where: str, patience: float, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._is_server = where.startswith(("postgres://", "postgresql://"))
        if is_unspeakable(where, "strict" if self._is_server else "surrogateescape"):
            raise LedgerError(f"the address of the ledger {UNSPEAKABLE}")
        self._where = where
        self._patience = patience
        if self._is_server:
            self._engine = _postgres(where, patience)
        else:
            self._path = as_path(where)
            self._engine = _sqlite(self._path, patience)

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[Transaction]:
        """Open a transaction that is committed, durably, if nothing is raised in it.

        Args:
            writes: whether it may write; at any time only one does.
        """
        if not self._is_server:
            require_file(self._path)
        committing = False
        try:
            with self._opened(writes=writes) as transaction:
                yield transaction
                committing = writes
        except LedgerError as error:
            if not committing or not self._has(transaction.head, error):
                raise

    def _has(self, head: str, error: LedgerError) -> bool:
        """Whether an entry is there although its commit failed: only the answer may be lost."""
        try:
            # Writing waits until a server has ended the transaction whose connection was lost.
            with self._opened(writes=True) as after:
                return head in after.hashes()
        except LedgerError:
            raise LedgerUnavailableError(
                f"{error}. Whether this was written is not known: look at `headcount ledger log` "
                "once the ledger can be used"
            ) from None

    @contextmanager
    def _opened(self, *, writes: bool) -> Iterator[Transaction]:
        with self._translated(), ExitStack() as until_it_is_ours, ExitStack() as stack:
            until_it_is_ours.enter_context(self._waiting())
            connection = stack.enter_context(self._connected(writes=writes))
            if writes and self._is_server:
                # Only who may write to the ledger can take, and so hold, this lock.
                connection.exec_driver_sql(f"LOCK TABLE {_head.name} IN EXCLUSIVE MODE")
            transaction = Transaction(connection, writes=writes)
            until_it_is_ours.close()
            try:
                yield transaction
            except sa.exc.DBAPIError as error:
                if lacks_a_table(error.orig):
                    message = "the ledger was edited: a table or a column of it is missing"
                    _raise_alone(VerificationError(message))
                raise

    def create(self) -> None:
        """Make the tables, unless they are there."""
        if not self._is_server:
            if not self._path.parent.is_dir():
                raise LedgerError(f"there is no folder {str(self._path.parent)!r} for the ledger")
            with self._translated():
                make_private(self._path)
                sqlite3.connect(self._path).close()
        with self._translated(), _unless_another_did(), self._connected(writes=True) as connection:
            there = sa.inspect(connection).get_table_names()
            if _head.name in there:
                return
            if there and not self._is_server:
                raise LedgerError(
                    f"{str(self._path)!r} is a database, but not a ledger; name a new file"
                )
            _metadata.create_all(connection)
            first = {"version": SCHEMA_VERSION, "number": 0, "hash": NO_HASH}
            connection.execute(_head.insert().values(first))
            make_room(connection)

    @contextmanager
    def _connected(self, *, writes: bool) -> Iterator[sa.Connection]:
        connecting = self._engine.connect().execution_options(writes=writes)
        if self._is_server and not writes:
            # One snapshot: the last entry's record and the entries are read one after the other.
            connecting = connecting.execution_options(isolation_level="REPEATABLE READ")
        with ExitStack() as stack:
            connection = stack.enter_context(connecting)
            if self._is_server:
                stack.enter_context(_answered_within(2 * self._patience, connection))
            stack.enter_context(connection.begin())
            if writes and self._is_server:
                # Whatever the server's settings, a commit that is reported is on its disk.
                patience = f"{round(1000 * self._patience)}ms"
                for name, value in (("synchronous_commit", "on"), ("lock_timeout", patience)):
                    connection.execute(sa.select(sa.func.set_config(name, value, True)))
            yield connection

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Say so if it takes long before the ledger can be used."""
        sentence = (
            "Waiting for the ledger: another process holds it, or its server does not answer. "
            f"It gives up after {self._patience:g} seconds."
        )
        timer = threading.Timer(SILENCE, self._tell, [sentence])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what the database raises into our own; its messages quote rows and addresses."""
        try:
            yield
        except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
            _raise_alone(failure(getattr(error, "orig", None) or error))


def _raise_alone(error: LedgerError) -> NoReturn:
    """Raise an error without what the database raised as its context."""
    try:
        raise error from None
    finally:
        error.__context__ = None


def _is(row: sa.Row[Any], *kinds: type) -> bool:
    """Whether a row has the types that were written; SQLite accepts any value in any column."""
    return all(type(value) is kind for value, kind in zip(row, kinds, strict=True))


@contextmanager
def _unless_another_did() -> Iterator[None]:
    """Do without making the tables if another process made them at the same moment."""
    try:
        yield
    except sa.exc.DBAPIError as error:
        # What PostgreSQL says once the other has committed: a name that is taken, or a table.
        if getattr(error.orig, "sqlstate", "") not in ("23505", "42P07"):
            raise


@contextmanager
def _answered_within(seconds: float, connection: sa.Connection) -> Iterator[None]:
    """Hang up if a server does not answer: one that is frozen keeps its connections alive."""
    number = connection.connection.driver_connection.fileno()  # type: ignore[union-attr]
    over, lock = threading.Event(), threading.Lock()

    def hang_up() -> None:
        with lock:
            if not over.is_set():
                with socket.socket(fileno=os.dup(number)) as line, suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:  # the number may be that of another connection from here on
            over.set()


def _engine(kind: str, connect: Callable[[], Any], **options: Any) -> sa.Engine:  # noqa: ANN401
    """Return an engine that keeps to itself where it connects to and what it writes."""
    engine = sa.create_engine(
        kind, creator=connect, poolclass=sa.NullPool, hide_parameters=True, **options
    )
    # If Ctrl-C comes while it closes a connection it logs that, with host and user.
    engine.pool.logger = logging.Logger("headcount", logging.CRITICAL + 1)
    return engine


def _sqlite(path: Path, patience: float) -> sa.Engine:
    def connect() -> sqlite3.Connection:
        require_one_name(path)
        # Read-write, but never created: a mistyped name must not become an empty ledger.
        address = f"file:{quote(os.fsencode(path.absolute()))}?mode=rw"
        connection = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None)
        # A commit is on the disk when it returns, and no power failure undoes it. With a journal
        # that is kept and overwritten, not unlinked, the folder need not be synced for that.
        connection.execute("PRAGMA journal_mode = PERSIST")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    engine = _engine("sqlite://", connect)

    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    sa.event.listen(engine, "begin", begin)
    return engine


def _postgres(url: str, patience: float) -> sa.Engine:
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        from headcount.engines.postgres.read import CONNECTION_DEFAULTS
    except ModuleNotFoundError:
        raise MissingExtraError("psycopg", "postgres") from None

    def connect() -> Any:  # noqa: ANN401 (psycopg is optional)
        settings: dict[str, Any] = {**CONNECTION_DEFAULTS, **conninfo_to_dict(url)}
        return psycopg.connect(**settings)

    return _engine("postgresql+psycopg://", connect, isolation_level="READ COMMITTED")
