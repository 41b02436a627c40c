"""Macros that somebody defined in a DuckDB database."""

from typing import Any

from headcount.engines.guard import opening
from headcount.errors import SourceError


def macros(connection: Any) -> set[str]:  # noqa: ANN401
    """Return the names of all macros, in lower case.

    Raises:
        SourceError: one has the name of a function or an operator of DuckDB. It would be called in
            its place, also in what headcount asks, where what a user can change rests on it.
    """
    # By its whole name, and compared here: this must not be what a macro makes of it.
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
