"""From what a user names to an Ibis table of events: files, databases, tables in memory."""

from headcount.sources.open import SourceName, TableLike, open_source
from headcount.sources.session import DEFAULT_MEMORY, Session

__all__ = ["DEFAULT_MEMORY", "Session", "SourceName", "TableLike", "open_source"]
