"""PostgreSQL."""

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Engine, Expression
from headcount.engines.guard import ANY_FORM, interruptibly, running
from headcount.engines.session import Session
from headcount.errors import EngineError, HeadcountError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

# Classes of SQLSTATE, its first two characters, and what to say of each. A message of the
# server is never passed on: it quotes rows, and a URL's password may stand in it.
_STATES = {
    "08": "the connection was lost",
    "25": "the server lets nobody write, not even temporary tables",
    "28": "the server refused the login",
    "3D": "there is no such database",
    "3F": "there is no such schema",
    "42": "the query was refused: a table, a column or a permission is missing",
    "53": "the server has too little memory, disk or connections left",
    "57": "the query was cancelled, took too long, or the server is shutting down",
}


# What a URL need not say. A server that does not answer, or no longer, is noticed in a minute.
_DEFAULTS = {
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
    settings = {**_DEFAULTS, **parameters, "client_encoding": "utf8"}
    says = "cannot connect to PostgreSQL"
    connection = _translated(lambda: psycopg.connect(**settings), says)
    session.at_end(connection.close)
    backend = _translated(lambda: ibis.postgres.from_connection(connection), says)
    # One snapshot for all queries of a release, however long it takes.
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    _translated(lambda: connection.execute("SELECT 1"), "cannot start a transaction")
    return backend


def _parsed(parse: Any) -> dict[str, Any]:  # noqa: ANN401
    failure: HeadcountError
    try:
        found: dict[str, Any] = parse()
        return found
    except Exception:  # it quotes the URL, and so the password
        failure = SourceError(
            "the URL of the PostgreSQL server cannot be understood; it looks like "
            "postgres://user:password@host:5432/database?option=value, in which other signs "
            "than letters and digits are written as %40 for @ and so on"
        )
    raise failure


_MOST_NAMED = 30

# Tables, views and the like that may be meant by a name, as it is or as SQL would quote it.
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


def table(backend: Any, name: str) -> Any:  # noqa: ANN401
    """Return a table, of a schema if the name has one."""
    known = _translated(
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
    [(schema, plain)] = meant
    return _translated(
        lambda: backend.table(plain, database=schema), f"cannot read the table {name!r}"
    )


def query(backend: Any, select: str) -> Any:  # noqa: ANN401
    """Return the result of one SELECT, checked to be that."""
    import ibis
    import ibis.expr.operations as ops

    def describe() -> dict[str, Any]:
        # No view is made for this: a login that may only read, or a standby, cannot make one.
        with backend.con.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({select}) AS events LIMIT 0")  # noqa: S608 (one SELECT)
            columns = {column.name: _type(column) for column in cursor.description}
            if len(columns) < len(cursor.description):
                raise SourceError("two columns of the SQL have the same name")
            return columns

    schema = ibis.schema(_translated(describe, "the SQL cannot be run"))
    return ops.SQLQueryResult(select, schema, backend).to_expr()


def _type(column: Any) -> Any:  # noqa: ANN401
    import ibis.expr.datatypes as dt
    from ibis.backends.sql.datatypes import PostgresType

    try:
        return PostgresType.from_string(column.type_display)
    except Exception:  # a type that an extension or a user made
        return dt.unknown


# The first day that Python's dates have, and the first that they no longer have.
_PYTHONS_YEARS = ("0001-01-01", "10000-01-01")
_MOST_DIGITS = 38  # of Arrow's decimals


def _is_text(kind: Any) -> bool:  # noqa: ANN401
    """Whether decimals may have so many digits that only text shows them all."""
    return bool(kind.is_decimal()) and (kind.precision is None or kind.precision > _MOST_DIGITS)


class Postgres(Engine):
    """PostgreSQL. Collations may take different texts for the same; their bytes are never so."""

    compares_bytes = False

    def user_key(self, user: Expression) -> Expression:
        """Return an id as it is, or text as its bytes; no id reaches Python."""
        return user if user.type().is_decimal() else self.exactly(user)

    def has_value(self, column: Expression) -> Expression:
        """Return whether a row has a value that is neither NULL nor beyond Python's years.

        NaN, which a numeric may be too, is more than any number here.
        """
        import ibis

        kind = column.type()
        if kind.is_date() or kind.is_timestamp():
            first, beyond = (ibis.literal(day).cast(kind) for day in _PYTHONS_YEARS)
            return (column >= first) & (column < beyond)
        if kind.is_time():
            return column < ibis.literal("24:00").cast(kind)
        if kind.is_decimal() and not _is_text(kind):
            whole = kind.precision - kind.scale
            return column < ibis.literal(Decimal(10) ** whole, type=f"decimal({whole + 1}, 0)")
        return super().has_value(column)

    def exactly(self, column: Expression) -> Expression:
        """Return a column whose values are equal only if they look the same."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("decimal",), "string"))
        def trim_scale(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's own: 1.50 and 1.5 are equal, and shown as 1.5."""

        if _is_text(column.type()):
            return self.text_to_bytes(trim_scale(column))
        return super().exactly(column)

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its bytes in UTF-8."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("string", "string"), "binary"))
        def convert_to(value, encoding):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's own."""

        @ibis.udf.scalar.builtin(name="text", signature=(("string",), "string"))
        def as_text(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's own cast: what Ibis takes for text may be an enumeration."""

        return convert_to(as_text(text), "UTF8")

    def whole_quotient(self, dividend: Expression, divisor: Expression) -> Expression:
        """Return ``dividend // divisor``."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("int64", "int64"), "decimal"))
        def div(dividend, divisor):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's own, of its decimals."""

        return div(dividend, divisor).cast("int64")

    def scattered(self, left: Expression, right: Expression) -> Expression:
        """Return PostgreSQL's own hash of two values as text."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("string", left.type(), right.type()), "string"))
        def concat_ws(between, left, right):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's own, of values of any type."""

        @ibis.udf.scalar.builtin(signature=(("string", "int64"), "int64"))
        def hashtextextended(text, seed):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's own."""

        return hashtextextended(concat_ws(",", left, right), 0)

    def materialise(self, query: Expression, says: str) -> Expression:
        """Run a query into a temporary table."""
        name, select = self.scratch_name(), self.compiled(query)
        self._create(name, f'CREATE TEMP TABLE "{name}" AS {select}', says)
        return self._analysed(name, query.schema(), says)

    def upload(self, rows: "pa.Table", says: str) -> Expression:
        """Copy a table into a temporary one."""
        import ibis

        name, schema = self.scratch_name(), ibis.schema(rows.schema)
        columns = ", ".join(c.sql("postgres") for c in schema.to_sqlglot_column_defs("postgres"))
        self._create(name, f'CREATE TEMP TABLE "{name}" ({columns})', says)

        def copy() -> None:
            with (
                self.backend.con.cursor() as cursor,
                cursor.copy(f'COPY pg_temp."{name}" FROM STDIN') as lines,
            ):
                for row in rows.to_pylist():
                    lines.write_row(tuple(row.values()))

        _translated(lambda: self._interruptibly(copy), says)
        return self._analysed(name, schema, says)

    def _create(self, name: str, statement: str, says: str) -> None:
        def drop() -> None:
            with suppress(Exception):  # the connection, or the transaction, may be gone
                self.backend.con.execute(f'DROP TABLE IF EXISTS pg_temp."{name}"')

        self.session.at_end(drop)
        execute = self.backend.con.execute
        _translated(lambda: self._interruptibly(lambda: execute(statement)), says, self.expected)

    def _analysed(self, name: str, schema: Any, says: str) -> Expression:  # noqa: ANN401
        """Return a temporary table, of which the planner knows how large it is."""
        import ibis

        execute = self.backend.con.execute
        _translated(lambda: self._interruptibly(lambda: execute(f'ANALYZE pg_temp."{name}"')), says)
        return ibis.table(schema, name=name)

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query so that Ctrl-C ends it, on the server too."""
        return self._interruptibly(lambda: self.backend.to_pyarrow(query))

    def _interruptibly(self, action: Callable[[], Any]) -> Any:  # noqa: ANN401
        def interrupt() -> None:
            with suppress(Exception):  # the connection may be gone
                self.backend.con.cancel()

        return interruptibly(action, interrupt)

    def run(self, query: Expression, says: str) -> "pa.Table":
        """Run a query; ``says`` begins the error if it fails."""
        return _translated(lambda: self.fetch(query), says, self.expected)


def _translated(action: Any, says: str, expected: str = ANY_FORM) -> Any:  # noqa: ANN401
    """Run an action; nothing that the server says is passed on."""
    return running(lambda: _without_data(action, says, expected), says, expected)


def _without_data(action: Any, says: str, expected: str) -> Any:  # noqa: ANN401
    import psycopg

    failure: HeadcountError
    try:
        return action()
    except psycopg.Error as error:
        cause: psycopg.Error = error
        while isinstance(cause.__context__, psycopg.Error):  # the first, not what followed of it
            cause = cause.__context__
        failure = _failure(cause.sqlstate, str(cause), says, expected)
    raise failure


# What a connection that is not made is told by; there is no SQLSTATE then.
_UNCONNECTED = {
    "FATAL": "the server refused the login or has no such database",
    "refused": "no server answers at that address",
    "resolve": "there is no host of that name",
    "translate host": "there is no host of that name",
    "timeout": "the server did not answer in time",
    "invalid": "an option of the URL is not valid",
}


def _failure(state: str | None, message: str, says: str, expected: str) -> HeadcountError:
    if state is None:
        reasons = (reason for sign, reason in _UNCONNECTED.items() if sign in message)
        return EngineError(f"{says}: {next(reasons, 'the connection was lost')}")
    reason = expected if state[:2] == "22" else _STATES.get(state[:2])
    kind = SourceError if state[:2] in ("22", "3D", "3F", "42") else EngineError
    return kind(f"{says}: {reason or 'the server failed'} (SQLSTATE {state})")
