"""Database files: what DuckDB's and SQLite's have in common."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from headcount.engines.base import Engine
from headcount.engines.catalog import Catalog
from headcount.engines.guard import opening
from headcount.engines.names import did_you_mean
from headcount.errors import SourceError

# The name of a query while it is read: a temporary view that only this connection sees.
_VIEW = "headcount_events"


def view_name(definition: str) -> str:
    """Return a name for a temporary view that its definition does not use."""
    name = _VIEW
    while name in definition.lower():
        name += "_"
    return name


class DatabaseFile(ABC):
    """A database file that is open for reading: a `headcount.engines.reader.Database`."""

    def __init__(self, path: Path, engine: Engine, catalog: Catalog) -> None:
        self._name = str(path)
        self.engine = engine
        self.catalog = catalog
        self.backend: Any = engine.backend

    def table(self, name: str | None) -> tuple[Any, bool]:
        """Return a table or view as an Ibis table, and whether it stores its own rows."""
        known = opening(self.tables, f"the tables of {self._name!r} cannot be listed")
        listed = ", ".join(map(repr, sorted(known))) or "no tables"
        if name is None:
            raise SourceError(f"name a table of {self._name!r}, or give SQL; it has: {listed}")
        if name not in known:
            raise SourceError(
                f"there is no table {name!r} in {self._name!r}; it has: {listed}"
                f"{did_you_mean(name, known)}"
            )
        plain, schema = known[name]
        relation = self.catalog.relation(schema, plain)
        table = opening(lambda: self.read(plain, schema), f"cannot read the table {name!r}")
        return table, relation is not None and relation.stored

    def query(self, select: str) -> Any:  # noqa: ANN401
        """Return the result of a query, already checked to be one SELECT, as an Ibis table."""

        def read() -> Any:  # noqa: ANN401
            view = view_name(select)
            self.backend.con.execute(f'CREATE TEMPORARY VIEW "{view}" AS {select}')
            return self.read(view, None)

        return opening(read, "the SQL cannot be run")

    @abstractmethod
    def tables(self) -> dict[str, tuple[str, str | None]]:
        """Return each table's name and schema (None: the default), by what users call it."""

    @abstractmethod
    def read(self, name: str, schema: str | None) -> Any:  # noqa: ANN401
        """Return a table or view as an Ibis table with its true types."""
