"""Checks of a query that a user wrote."""

import logging

from headcount.errors import SourceError


def single_select(sql: str, dialect: str) -> str:
    """Refuse anything but one SELECT; return it as it was understood, so that this is what runs."""
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
    except SqlglotError:
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


def mixes_rows(sql: str, dialect: str) -> bool:
    """Whether one person's rows could change what the query returns of another's.

    True for what looks, or may look, at more than one row at a time: LIMIT, samples, windows,
    aggregates, joins, queries within expressions, functions that are not known here. A query
    without these maps and filters rows one by one, and a person's rows in its result depend
    on that person's rows only.
    """
    import sqlglot
    from sqlglot import exp

    between_rows = (
        exp.AggFunc,
        exp.Anonymous,
        exp.Distinct,
        exp.Except,
        exp.Fetch,
        exp.Group,
        exp.Having,
        exp.Intersect,
        exp.Join,
        exp.Lateral,
        exp.Limit,
        exp.Offset,
        exp.Pivot,
        exp.Qualify,
        exp.Rand,
        exp.Summarize,
        exp.TableSample,
        exp.Window,
    )
    tree = sqlglot.parse_one(sql, dialect=dialect)
    if tree.find(*between_rows) is not None:
        return True
    if any(node.args.get("field") is not None for node in tree.find_all(exp.In)):
        return True  # SQLite's `x IN table`
    if any(column.name.lower() in _ROW_NUMBERS for column in tree.find_all(exp.Column)):
        return True
    return any(not _stands_in_from(query) for query in tree.find_all(exp.Select))


# Where a row lies moves when another person's row goes.
_ROW_NUMBERS = ("rowid", "_rowid_", "oid")


def _stands_in_from(query: object) -> bool:
    """Whether a SELECT is the query itself, part of a union of it, or in FROM or WITH."""
    from sqlglot import exp

    node = query
    while isinstance(node, exp.Expression) and node.parent is not None:
        node = node.parent
        if isinstance(node, exp.From | exp.With):
            return True
        if not isinstance(node, exp.Query | exp.CTE):
            return False
    return True
