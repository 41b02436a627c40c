"""What a database says about its own tables, views and functions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from headcount.engines.guard import opening

#: How an error begins if a catalog cannot be read.
ERROR_PREFIX = "the tables of the database cannot be listed"


@dataclass(frozen=True)
class Relation:
    """A table or view.

    Attributes:
        columns: their names, in order.
        stored: whether it is known to store its own rows. A view does not, and it is not known of
            a foreign or virtual table, or of one with row-level security.
    """

    columns: Sequence[str]
    stored: bool


class Catalog(Protocol):
    """The tables and functions of a database."""

    def relation(self, schema: str | None, name: str) -> Relation | None:
        """Return the table or view that a name means in a query, or None if there is none."""

    def redefines(self, functions: Collection[str]) -> bool:
        """Whether somebody has defined a function with one of these names, given in lower case."""


def fetched(connection: Any, query: str, values: list[Any]) -> list[Any]:  # noqa: ANN401
    """Return the rows of a query on an embedded database's catalog."""
    return opening(lambda: list(connection.execute(query, values).fetchall()), ERROR_PREFIX)


def as_relation(rows: list[Any]) -> Relation | None:
    """Return a relation from a row per column: its name, and whether the table is stored."""
    return Relation([name for name, _ in rows], all(stored for _, stored in rows)) if rows else None
