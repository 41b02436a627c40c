"""Queries that users write: checking them, and suggesting some."""

import logging

from headcount.errors import SourceError


def cast_of_column(column: str, kind: str) -> str:
    """Return the options with which DuckDB converts a column of text in files to a type.

    Text that cannot be converted becomes NULL, and is never an error.
    """
    name = '"' + column.replace('"', '""') + '"'  # even a plain word may be an SQL keyword
    query = f"SELECT * REPLACE (TRY_CAST({name} AS {kind}) AS {name}) FROM events"  # noqa: S608 (shown, not run)
    return f"--sql '{query}' (sql=)"


def single_select(sql: str, dialect: str) -> str:
    """Refuse anything but one SELECT; return it as it was parsed, so that exactly this runs."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it warns of is refused below
    try:
        statements = [
            s
            for s in sqlglot.parse(sql, dialect=dialect)
            if not isinstance(s, exp.Semicolon | None)
        ]
    except (SqlglotError, RecursionError):
        statements = None
    if statements is None:
        raise SourceError("the SQL cannot be parsed; give one SELECT statement")
    changes = (exp.DML, exp.DDL, exp.Command, exp.Into)
    if (
        len(statements) != 1
        or not isinstance(statements[0], exp.Query)
        or statements[0].find(*changes) is not None
    ):
        raise SourceError("the SQL must be a single SELECT statement")
    return statements[0].sql(dialect=dialect, comments=False)
