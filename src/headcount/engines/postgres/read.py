"""How PostgreSQL is read: tables and queries, with types that Python can hold."""

from typing import Any

from headcount.engines.postgres.failures import translated
from headcount.engines.session import Session
from headcount.errors import HeadcountError, SourceError

#: Defaults for a URL. A server that does not answer, or stops answering, is noticed in a minute.
CONNECTION_DEFAULTS = {
    "fallback_application_name": "headcount",
    "connect_timeout": "30",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}


def connect(session: Session, url: str) -> Any:  # noqa: ANN401 (Ibis has no types)
    """Open a PostgreSQL database through Ibis, for one transaction that is never committed."""
    import ibis
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    parameters = _parsed(lambda: conninfo_to_dict(url))
    settings = {**CONNECTION_DEFAULTS, **parameters, "client_encoding": "utf8"}
    error_prefix = "cannot connect to PostgreSQL"
    connection = translated(lambda: psycopg.connect(**settings), error_prefix)
    session.at_end(connection.close)
    backend = translated(lambda: ibis.postgres.from_connection(connection), error_prefix)
    # One snapshot for all queries of a release, however long it takes.
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    translated(lambda: connection.execute("SELECT 1"), "cannot start a transaction")
    return backend


def _parsed(parse: Any) -> dict[str, Any]:  # noqa: ANN401
    failure: HeadcountError
    try:
        found: dict[str, Any] = parse()
        return found
    except Exception:  # it quotes the URL, and so the password
        failure = SourceError(
            "the URL of the PostgreSQL server cannot be understood; it should look like "
            "postgres://user:password@host:5432/database?option=value, with characters other "
            "than letters and digits percent-encoded, such as %40 for @"
        )
    raise failure


_MOST_NAMED = 30

# Tables, views and the like, and which of them a name means, as it is or as SQL would quote it.
_TABLES = """
SELECT schema, name,
       name = %(name)s AND visible OR schema || '.' || name = %(name)s
       OR quote_ident(name) = %(name)s AND visible
       OR quote_ident(schema) || '.' || quote_ident(name) = %(name)s AS meant, visible
FROM (SELECT n.nspname::text AS schema, c.relname::text AS name,
             pg_table_is_visible(c.oid) AS visible
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p')
        AND (n.nspname::text = ANY(current_schemas(true)) OR has_schema_privilege(n.oid, 'USAGE'))
     ) AS relations
WHERE schema NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
ORDER BY schema, name
"""

# The query for those columns of a table that this login may read.
_SELECT = """
SELECT 'SELECT ' || string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
       || ' FROM ' || quote_ident(n.nspname) || '.' || quote_ident(c.relname)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped
  AND has_column_privilege(c.oid, a.attnum, 'SELECT')
GROUP BY n.nspname, c.relname
"""


def table(backend: Any, name: str) -> Any:  # noqa: ANN401
    """Return a table; its name may include a schema."""
    known = translated(
        lambda: backend.con.execute(_TABLES, {"name": name}).fetchall(), "cannot list tables"
    )
    meant = [(schema, plain) for schema, plain, is_meant, _ in known if is_meant]
    if not meant:
        listed = [
            repr(plain if visible else f"{schema}.{plain}") for schema, plain, _, visible in known
        ]
        if len(listed) > _MOST_NAMED:
            listed[_MOST_NAMED:] = [f"and {len(listed) - _MOST_NAMED} more"]
        raise SourceError(
            f"there is no table {name!r}; there are: {', '.join(listed) or 'no tables'}"
        )
    if len(meant) > 1:
        raise SourceError(f"there are several tables {name!r}; name the schema, with quotes")
    error_prefix = f"cannot read the table {name!r}"
    [named] = meant
    found = translated(lambda: backend.con.execute(_SELECT, named).fetchone(), error_prefix)
    if found is None:
        raise SourceError(f"{error_prefix}: it has no column that this login may read")
    return _described(backend, found[0], error_prefix)


def query(backend: Any, select: str) -> Any:  # noqa: ANN401
    """Return the result of a query that was already checked to be one SELECT."""
    return _described(backend, select, "the SQL cannot be run")


# Types whose values reach Python unchanged, except those that `Postgres.has_value` leaves out.
_KEPT = {
    *("bool", "int2", "int4", "int8", "oid", "float4", "float8", "numeric"),
    *("text", "varchar", "bytea", "date", "time", "timestamp", "timestamptz"),
    "uuid",  # items become text all the same, but ids compare faster: see `Postgres.user_key`
}


def _described(backend: Any, select: str, error_prefix: str) -> Any:  # noqa: ANN401
    """Return a SELECT as a table in which values of all but a few types are text.

    Of the other types, Python may be able to hold only some values (a time with a zone) or none
    (addresses), and equal ones may look different (jsonb): see `Engine.canonical_key`.
    """
    import ibis
    import ibis.expr.operations as ops
    from psycopg import sql

    def describe() -> tuple[str, dict[str, Any]]:
        # This makes no view: a login that may only read, or a standby, cannot make one.
        with backend.con.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({select}) AS events LIMIT 0")  # noqa: S608 (one SELECT)
            columns = {column.name: _type(column.type_display) for column in cursor.description}
            if len(columns) < len(cursor.description):
                raise SourceError("two columns of the SQL have the same name")
        names = {name: sql.Identifier(name).as_string(backend.con) for name in columns}
        shown = [
            names[name] if kind else f"CAST({names[name]} AS TEXT) AS {names[name]}"
            for name, kind in columns.items()
        ]
        types = {name: kind or "string" for name, kind in columns.items()}
        return f"SELECT {', '.join(shown)} FROM ({select}) AS events", types  # noqa: S608

    shown, types = translated(describe, error_prefix)
    return ops.SQLQueryResult(shown, ibis.schema(types), backend).to_expr()


def _type(name: str) -> Any:  # noqa: ANN401
    """Return Ibis's type for one of PostgreSQL's; None if its values are read as text."""
    from ibis.backends.sql.datatypes import PostgresType

    try:
        kind = PostgresType.from_string(name)
    except Exception:  # a type that an extension or a user made
        return None
    refused = kind.is_nested() or kind.is_interval() or kind.is_json()
    known = name.partition("(")[0] in _KEPT and not kind.is_unknown()
    return kind if refused or known else None
