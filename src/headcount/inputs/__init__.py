"""From what a user names to an Ibis table of events: files, databases, tables in memory."""

from headcount.inputs.open import (
    Events,
    Request,
    SourceName,
    TableLike,
    check_named,
    is_deferred,
    open_source,
)

__all__ = [
    "Events",
    "Request",
    "SourceName",
    "TableLike",
    "check_named",
    "is_deferred",
    "open_source",
]
