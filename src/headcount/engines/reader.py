"""What an engine declares: what it reads, and how to open it.

A reader is small and imports nothing heavy, so that the registry can ask what it reads. Its methods
import the rest of the engine when they are called.
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

#: What an error says to somebody whose source is none.
A_SOURCE_IS = (
    "a source is a path, a URL, a pandas, Polars or Spark data frame, a table, dataset or stream "
    "of PyArrow, a DuckDB relation or an Ibis table"
)


@dataclass(frozen=True)
class Opened:
    """A table, and the engine that runs queries over it.

    Attributes:
        table: an Ibis table.
        engine: what runs it.
        queried: whether it is a query's result, in which one person's rows may have affected what
            became of another's.
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
        """Its tables and functions. Not used if the reader has no dialect."""

    def table(self, name: str | None) -> tuple[Expression, bool]:
        """Return a table or view as an Ibis table, and whether it stores its own rows.

        Without a name, raise a `SourceError` that lists the tables.
        """

    def query(self, select: str) -> Expression:
        """Return the result of a query, already checked to be one SELECT, as an Ibis table."""


class Reader:
    """What an engine reads. A subclass sets the attributes that apply and implements their methods.

    Methods may only raise a `headcount.HeadcountError` whose message contains no data and which is
    not chained to the engine's own exception: see `headcount.engines.guard`.
    """

    #: The engine's name in ``engine=``, in ``--engine`` and as an entry point.
    name: ClassVar[str]
    #: Its name in messages.
    title: ClassVar[str]
    #: The package that headcount's extra of the same name installs; None if it needs none.
    package: ClassVar[str | None] = None
    #: Ibis's name for the backend, if users can pass Ibis tables of this engine.
    ibis_backend: ClassVar[str | None] = None

    #: The forms of files of events that it reads (see `headcount.engines.files.FORMS`). If it has
    #: any, it can be chosen with ``engine=``.
    file_forms: ClassVar[Collection[str]] = ()
    #: Whether `read_files` and `query_files` take a ``layout``: what the user said about files
    #: besides their name. If not, an input format or a delimiter is refused.
    takes_layout: ClassVar[bool] = False
    #: Whether it finds files itself, including folders and addresses on other machines.
    finds_files: ClassVar[bool] = False
    #: Schemes of the URLs of its servers: the part before ``://``. Errors name the first.
    url_schemes: ClassVar[tuple[str, ...]] = ()
    #: Endings of its database files, and the offset and value of their magic bytes.
    database_suffixes: ClassVar[tuple[str, ...]] = ()
    database_magic: ClassVar[tuple[int, bytes] | None] = None
    #: sqlglot's name for its SQL dialect; None if it takes only tables.
    dialect: ClassVar[str | None] = None
    #: Types of Python objects that it reads, as package and class: ``pandas.DataFrame``.
    objects: ClassVar[tuple[str, ...]] = ()
    #: Whether it takes ``spark_conf``.
    takes_settings: ClassVar[bool] = False

    def require(self) -> None:
        """Raise an error that names the missing extra, if one is missing."""
        try:
            if self.package is not None:
                import_module(self.package)
        except ModuleNotFoundError:
            raise MissingExtraError(self.package or "", self.name) from None

    def engine(self, backend: Any, session: Session) -> Engine:  # noqa: ANN401 (an Ibis backend)
        """Return the engine for a backend that a user made with Ibis."""
        return Engine(backend, session)

    def is_stored(self, backend: Any, schema: str | None, name: str) -> bool:  # noqa: ANN401
        """Whether a table of such a backend is known to store its own rows."""
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
            session: closes or removes what must not outlive it.
            name: a path or a glob.
            columns: those that will be used; the others may be of any type.
            settings: for an engine that takes them.
            layout: what the user said about the files; passed only to an engine that takes it.
        """
        raise self._does_not("read files")

    def query_files(self, session: Session, name: str, layout: Layout = BY_NAME) -> Database:
        """Open files of events as a database with one table, called events."""
        raise self._does_not("run SQL on files")

    def open_database(
        self, session: Session, where: Path | str, settings: Mapping[str, str]
    ) -> Database:
        """Open a database file, given as a path, or a server, given as a URL."""
        raise self._does_not("open databases")

    def read_object(
        self,
        session: Session,
        source: Any,  # noqa: ANN401 (of one of the declared types)
        columns: Collection[str] | None,
    ) -> Opened:
        """Open a table in memory; only the requested columns must be readable."""
        raise self._does_not("read tables in memory")

    def _does_not(self, what: str) -> SourceError:
        return SourceError(f"{self.title} does not {what} here")
