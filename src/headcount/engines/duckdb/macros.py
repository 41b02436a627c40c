"""Macros that are defined in a DuckDB database."""

from typing import Any

from headcount.engines.guard import opening
from headcount.errors import SourceError


def macros(connection: Any) -> set[str]:  # noqa: ANN401
    """Return the names of all macros, in lower case.

    Raises:
        SourceError: one has the name of a DuckDB function or operator. DuckDB would call it
            instead, even in headcount's own queries, where sensitivity rests on the original.
    """
    # By its full name, and compared in Python, so that no macro can change the outcome.
    query = "SELECT function_name, internal FROM system.main.duckdb_functions()"
    rows = opening(
        lambda: connection.execute(query).fetchall(),
        "the functions of the database cannot be listed",
    )
    own = {name.lower() for name, internal in rows if internal}
    defined = {name.lower() for name, internal in rows if not internal}
    if defined & own:
        raise SourceError(
            f"the database has a macro {min(defined & own)!r}, which DuckDB would call in place of "
            "its own function of that name: give the macro another name"
        )
    return defined
