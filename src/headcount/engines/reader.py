"""What an engine declares: what it reads, and how that is opened.

A reader is small and imports nothing heavy. The registry asks it what it is for; the rest of the
engine is imported in its methods, when they are called.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol

from headcount.engines.base import Engine, Expression
from headcount.engines.catalog import Catalog
from headcount.engines.layout import BY_NAME, Layout
from headcount.engines.session import Session
from headcount.errors import MissingExtraError, SourceError


@dataclass(frozen=True)
class Opened:
    """A table, and the engine that runs queries over it.

    Attributes:
        table: an Ibis table.
        engine: what runs it.
        queried: whether it is the result of a query, in which one person's rows may have changed
            what became of another's.
    """

    table: Expression
    engine: Engine
    queried: bool = False


class Database(Protocol):
    """A database that is open for reading."""

    @property
    def engine(self) -> Engine:
        """What runs queries over its tables."""

    @property
    def catalog(self) -> Catalog:
        """Its tables and functions. Not asked for if the reader has no dialect."""

    def table(self, name: str | None) -> tuple[Expression, bool]:
        """Return a table or view as an Ibis table, and whether it holds its rows itself.

        Without a name, raise a `SourceError` that lists the tables.
        """

    def query(self, select: str) -> Expression:
        """Return the result of one SELECT, checked to be that, as an Ibis table."""


class Reader:
    """What one engine reads. A subclass sets what applies and implements the methods for it.

    Whatever a method raises must be a `headcount.HeadcountError` without data in its message, and
    not be chained to the engine's own exception: see `headcount.engines.guard`.
    """

    #: What the engine is called in ``engine=`` and ``--engine``, and in the entry point.
    name: ClassVar[str]
    #: What it is called in sentences.
    title: ClassVar[str]
    #: The package that headcount's extra of the engine's name installs; None if it needs none.
    package: ClassVar[str | None] = None
    #: What Ibis calls the backend, if tables that users made with Ibis can be of this engine.
    ibis_backend: ClassVar[str | None] = None

    #: The forms of files of events that it reads (see `headcount.engines.files.FORMS`). With any,
    #: it can be chosen with ``engine=``.
    file_forms: ClassVar[Collection[str]] = ()
    #: Whether `read_files` and `query_files` take a ``layout``: what is said about files besides
    #: their name. Without it, an input format and a delimiter are refused.
    takes_layout: ClassVar[bool] = False
    #: Whether it finds files itself: folders, and addresses that are not of this machine.
    finds_files: ClassVar[bool] = False
    #: Schemes of the URLs of its servers: the part before ``://``. Errors name the first.
    url_schemes: ClassVar[tuple[str, ...]] = ()
    #: Endings of its database files, and at which offset they have which bytes.
    database_suffixes: ClassVar[tuple[str, ...]] = ()
    database_magic: ClassVar[tuple[int, bytes] | None] = None
    #: sqlglot's name for its SQL; None if it takes tables only.
    dialect: ClassVar[str | None] = None
    #: Types of Python objects, as the package they are from and their name: ``pandas.DataFrame``.
    objects: ClassVar[tuple[str, ...]] = ()
    #: Whether ``spark_conf`` is for it.
    takes_settings: ClassVar[bool] = False

    def require(self) -> None:
        """Say which extra is missing, if one is."""
        try:
            if self.package is not None:
                import_module(self.package)
        except ModuleNotFoundError:
            raise MissingExtraError(self.package or "", self.name) from None

    def engine(self, backend: Any, session: Session) -> Engine:  # noqa: ANN401 (an Ibis backend)
        """Return the engine for a backend that a user made with Ibis."""
        return Engine(backend, session)

    def is_stored(self, backend: Any, schema: str | None, name: str) -> bool:  # noqa: ANN401
        """Whether a table of such a backend is known to hold its rows itself."""
        return False

    def read_files(
        self,
        session: Session,
        name: str,
        columns: Collection[str] | None,
        settings: Mapping[str, str],
        layout: Layout = BY_NAME,
    ) -> Opened:
        """Open files of events.

        Args:
            session: what is to be closed or removed goes with it.
            name: a path or a glob.
            columns: those that will be asked for: the others may be of any type.
            settings: of an engine that takes some.
            layout: what was said about the files; given only to an engine that takes it.
        """
        raise self._does_not("read files")

    def query_files(self, session: Session, name: str, layout: Layout = BY_NAME) -> Database:
        """Open files of events as a database with one table, which is called events."""
        raise self._does_not("run SQL on files")

    def open_database(
        self, session: Session, where: Path | str, settings: Mapping[str, str]
    ) -> Database:
        """Open a database file, given as a path, or a server, given as a URL."""
        raise self._does_not("open databases")

    def read_object(
        self,
        session: Session,
        source: Any,  # noqa: ANN401 (of one of the types that are declared)
        columns: Collection[str] | None,
    ) -> Opened:
        """Open a table in memory; only the columns that are asked for need be readable."""
        raise self._does_not("read tables in memory")

    def _does_not(self, what: str) -> SourceError:
        return SourceError(f"{self.title} does not {what} here")
