"""An engine: an Ibis backend, and what is particular to it."""

from typing import TYPE_CHECKING, Any

from headcount.engines.guard import running
from headcount.engines.session import Session
from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

Expression = Any  # Ibis has no types


class Engine:
    """Any Ibis backend. Each engine that is known better has a subclass in a module of its own."""

    #: Whether text compares byte by byte in GROUP BY, so that no collation merges items.
    compares_bytes = True

    def __init__(self, backend: Any, session: Session) -> None:  # noqa: ANN401
        self.backend = backend
        self.session = session

    @property
    def name(self) -> str:
        """The engine's name, as Ibis calls it."""
        return str(self.backend.name)

    def user_key(self, user: Expression) -> Expression:
        """Return what stands for a user where distinct ones are counted.

        It may be a fixed hash of the id: a collision makes two users one, so a count still moves
        by 0 or 1 with a user (privacy/pcr.md). It is never an approximate count.
        """
        return self.as_bytes(user)

    def as_bytes(self, column: Expression) -> Expression:
        """Return a column whose values are equal only if they are the same bytes."""
        if self.compares_bytes or not column.type().is_string():
            return column
        return self.text_to_bytes(column)

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its bytes in UTF-8."""
        raise SourceError(
            f"{self.name} may take different texts for the same, depending on a collation; give "
            "the column as bytes (for instance CAST(… AS BINARY)), so that none are merged"
        )

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query and return its rows."""
        return self.backend.to_pyarrow(query)

    def run(self, query: Expression, says: str) -> "pa.Table":
        """Run a query; ``says`` begins the error if it fails."""

        def checked() -> "pa.Table":
            result = self.fetch(query)
            result.validate(full=True)  # what is no text must be found before anything is spent
            return result

        return running(checked, says)
