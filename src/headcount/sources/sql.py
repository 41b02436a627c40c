"""Checks of a query that a user wrote."""

from headcount.errors import SourceError


def check_single_select(sql: str, dialect: str) -> None:
    """Refuse anything but one SELECT."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        statements = [s for s in sqlglot.parse(sql, dialect=dialect) if s is not None]
    except SqlglotError:
        statements = None
    if statements is None:
        raise SourceError("the SQL cannot be parsed; give one SELECT statement")
    changes = (exp.Insert, exp.Update, exp.Delete, exp.Create, exp.Drop, exp.Into, exp.Command)
    if (
        len(statements) != 1
        or not isinstance(statements[0], exp.Query)
        or statements[0].find(*changes) is not None
    ):
        raise SourceError("the SQL must be a single SELECT statement")


def mixes_rows(sql: str, dialect: str) -> bool:
    """Whether one person's rows could change what the query returns of another's.

    True for what looks at more than one row at a time: LIMIT, samples, windows, aggregates,
    joins, subqueries in conditions. A query without these maps and filters rows one by one,
    and a person's rows in its result depend on that person's rows only.
    """
    import sqlglot
    from sqlglot import exp

    between_rows = (
        exp.AggFunc,
        exp.Distinct,
        exp.Except,
        exp.Fetch,
        exp.Group,
        exp.Intersect,
        exp.Join,
        exp.Limit,
        exp.Offset,
        exp.Qualify,
        exp.Rand,
        exp.TableSample,
        exp.Window,
    )
    tree = sqlglot.parse_one(sql, dialect=dialect)
    nested = [query for query in tree.find_all(exp.Select) if query.find_ancestor(exp.Where)]
    return bool(nested) or tree.find(*between_rows) is not None
