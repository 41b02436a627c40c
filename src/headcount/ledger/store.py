"""Where entries are kept: a SQLite file or a PostgreSQL database, through SQLAlchemy.

One transaction at a time writes. It holds the lock of the file (SQLite, BEGIN IMMEDIATE) or an
advisory lock (PostgreSQL) from before it reads the entries until it has committed to disk, so
what it read is still true when it writes.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

import sqlalchemy as sa

from headcount.errors import LedgerError, MissingExtraError, VerificationError
from headcount.ledger.entries import NO_HASH, Entry, Row, link, read_chain
from headcount.ledger.failures import failure, lacks_a_table
from headcount.privacy.entropy import secret_key

#: 1 had entries only. 2 has stored releases too, and the key that questions are known by.
SCHEMA_VERSION = 2
#: How many seconds another process may hold the ledger before that is said.
SILENCE = 2.0
#: The name of the advisory lock, which is the same everywhere and means nothing.
_POSTGRES_LOCK = 0x6865616463

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
_keys = sa.Table("headcount_keys", _metadata, sa.Column("key", sa.LargeBinary, nullable=False))
_releases = sa.Table(
    "headcount_releases",
    _metadata,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("question", sa.Text, index=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)


@dataclass(frozen=True)
class Kept:
    """A stored release: the number of its entry, what its question is known by, and itself."""

    number: int
    question: str | None
    content: bytes


class Transaction:
    """What is done to the ledger all at once, or not at all."""

    def __init__(self, connection: sa.Connection, *, writes: bool) -> None:
        self._connection = connection
        found = self._single(_head, "record of its last entry")
        if found.version > SCHEMA_VERSION:
            raise LedgerError(
                f"this ledger was made by a newer headcount (its form is {found.version}, this "
                f"version knows forms up to {SCHEMA_VERSION}); upgrade headcount to use it"
            )
        self.version = int(found.version)
        self._last = Row(int(found.number), "", found.hash)
        if writes and self.version < SCHEMA_VERSION:
            self._migrate()

    @property
    def head(self) -> str:
        """The hash of the last entry, which covers all of them."""
        return self._last.hash

    def entries(self) -> list[Entry]:
        """Return all entries, checked to be unchanged, complete and in order."""
        rows = self._connection.execute(sa.select(_entries).order_by(_entries.c.number))
        return read_chain((Row(*row) for row in rows), self._last)

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
        row = Row(entry.number, body, link(self._last.hash, body))
        self._connection.execute(
            _entries.insert().values(number=row.number, body=row.body, hash=row.hash)
        )
        self._connection.execute(_head.update().values(number=row.number, hash=row.hash))
        self._last = row

    def key(self) -> bytes:
        """Return the secret that questions are known by; empty in a ledger of the first form."""
        if self.version < 2:
            return b""
        return bytes(self._single(_keys, "key").key)

    def _single(self, table: sa.Table, what: str) -> sa.Row[Any]:
        rows = self._connection.execute(sa.select(table).limit(2)).all()
        if len(rows) != 1:
            why = "is there twice" if rows else "is missing"
            raise VerificationError(f"the ledger was edited: the {what} {why}")
        return rows[0]

    def keep(self, number: int, question: str | None, content: bytes) -> None:
        """Store what the release of an entry was."""
        self._connection.execute(
            _releases.insert().values(number=number, question=question, content=content)
        )

    def kept(self, number: int) -> Kept | None:
        """Return what the release of an entry was."""
        return self._kept(sa.select(_releases).where(_releases.c.number == number))

    def answer(self, question: str) -> Kept | None:
        """Return the last release that answered a question."""
        query = sa.select(_releases).where(_releases.c.question == question)
        return self._kept(query.order_by(_releases.c.number.desc()).limit(1))

    def _kept(self, query: sa.Select[Any]) -> Kept | None:
        found = None if self.version < 2 else self._connection.execute(query).one_or_none()
        if found is None:
            return None
        return Kept(int(found.number), found.question, bytes(found.content))

    def _migrate(self) -> None:
        _metadata.create_all(self._connection)
        self._connection.execute(_keys.insert().values(key=secret_key()))
        self._connection.execute(_head.update().values(version=SCHEMA_VERSION))
        self.version = SCHEMA_VERSION


class Store:
    """The database of a ledger. Connections are opened for one transaction and closed."""

    def __init__(self, where: str, patience: float, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._is_server = where.startswith(("postgres://", "postgresql://"))
        self._where = where
        self._patience = patience
        if self._is_server:
            self._engine = _postgres(where, patience)
        else:
            self._path = Path(where).expanduser()
            self._engine = _sqlite(self._path, patience)

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[Transaction]:
        """Open a transaction that is committed, durably, if nothing is raised in it."""
        if not self._is_server and not self._path.is_file():
            raise LedgerError(
                f"there is no ledger {str(self._path)!r}; `headcount ledger init` makes one"
            )
        with self._translated(), ExitStack() as until_it_is_ours, ExitStack() as stack:
            until_it_is_ours.enter_context(self._waiting())
            connection = stack.enter_context(self._connected(writes=writes))
            transaction = Transaction(connection, writes=writes)
            until_it_is_ours.close()
            try:
                yield transaction
            except sa.exc.DBAPIError as error:
                if lacks_a_table(error.orig):
                    says = "the ledger was edited: a table or a column of it is missing"
                    _raise_alone(VerificationError(says))
                raise

    def create(self) -> None:
        """Make the tables, unless they are there."""
        if not self._is_server:
            if not self._path.parent.is_dir():
                raise LedgerError(f"there is no folder {str(self._path.parent)!r} for the ledger")
            with self._translated():
                sqlite3.connect(self._path).close()
        with self._translated(), self._connected(writes=True) as connection:
            there = sa.inspect(connection).get_table_names()
            if _head.name in there:
                return
            if there and not self._is_server:
                raise LedgerError(
                    f"{str(self._path)!r} is a database of something else; name a new file"
                )
            _metadata.create_all(connection)
            first = {"version": SCHEMA_VERSION, "number": 0, "hash": NO_HASH}
            connection.execute(_head.insert().values(first))
            connection.execute(_keys.insert().values(key=secret_key()))

    @contextmanager
    def _connected(self, *, writes: bool) -> Iterator[sa.Connection]:
        connecting = self._engine.connect().execution_options(writes=writes)
        if self._is_server and not writes:
            # One snapshot: the last entry's record and the entries are read one after the other.
            connecting = connecting.execution_options(isolation_level="REPEATABLE READ")
        with connecting as connection, connection.begin():
            if writes and self._is_server:
                # Whatever the server is set to: a commit that is reported is on its disk.
                patience = f"{round(1000 * self._patience)}ms"
                for name, value in (("synchronous_commit", "on"), ("lock_timeout", patience)):
                    connection.execute(sa.select(sa.func.set_config(name, value, True)))
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_POSTGRES_LOCK)))
            yield connection

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Say so if it takes long until the ledger can be used."""
        sentence = (
            "Waiting for the ledger: another process holds it, or its server does not answer. "
            f"This ends after {self._patience:g} seconds."
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
    """Raise an error that does not carry along, as its context, what the database raised."""
    try:
        raise error from None
    finally:
        error.__context__ = None


# hide_parameters: no error of SQLAlchemy's own is to hold what was being written.
def _sqlite(path: Path, patience: float) -> sa.Engine:
    def connect() -> sqlite3.Connection:
        # Read-write but not made anew: a mistyped name must not become an empty ledger.
        address = f"file:{quote(str(path.absolute()))}?mode=rw"
        connection = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None)
        # A commit is on the disk when it returns, and no power failure undoes it: with a journal
        # that is kept and overwritten, not unlinked, that takes no syncing of the folder.
        connection.execute("PRAGMA journal_mode = PERSIST")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    engine = sa.create_engine(
        "sqlite://", creator=connect, poolclass=sa.NullPool, hide_parameters=True
    )

    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    sa.event.listen(engine, "begin", begin)
    return engine


def _postgres(url: str, patience: float) -> sa.Engine:
    try:
        import psycopg
    except ModuleNotFoundError:
        raise MissingExtraError("psycopg", "postgres") from None

    def connect() -> Any:  # noqa: ANN401 (psycopg is optional)
        return psycopg.connect(url, connect_timeout=30, fallback_application_name="headcount")

    return sa.create_engine(
        "postgresql+psycopg://",
        creator=connect,
        poolclass=sa.NullPool,
        hide_parameters=True,
        isolation_level="READ COMMITTED",
    )
