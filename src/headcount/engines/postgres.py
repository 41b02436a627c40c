"""PostgreSQL."""

from typing import TYPE_CHECKING, Any

from headcount.engines.base import Engine, Expression
from headcount.engines.guard import interruptibly
from headcount.engines.session import Session
from headcount.errors import EngineError, HeadcountError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

# Classes of SQLSTATE, its first two characters, and what to say of each. A message of the
# server is never passed on: it quotes rows, and a URL's password may stand in it.
_STATES = {
    "08": "the connection was lost",
    "28": "the server refused the login",
    "3D": "there is no such database",
    "3F": "there is no such schema",
    "42": "the query was refused: a table, a column or a permission is missing",
    "53": "the server has too little memory, disk or connections left",
    "57": "the server cancelled the query or is shutting down",
}


def connect(session: Session, url: str) -> Any:  # noqa: ANN401 (Ibis has no types)
    """Open a PostgreSQL database through Ibis, for one read-only transaction."""
    import ibis

    backend = _translated(lambda: ibis.connect(url), "cannot connect to PostgreSQL")
    session.at_end(backend.disconnect)
    # One snapshot for all queries of a release, however long it takes.
    backend.con.rollback()
    _translated(
        lambda: backend.con.execute(
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ"
        ),
        "cannot start a transaction",
    )
    backend.con.commit()
    return backend


def table(backend: Any, name: str) -> Any:  # noqa: ANN401
    """Return a table, of a schema if the name has one."""
    *schema, plain = name.split(".")
    known = _translated(
        lambda: backend.list_tables(database=schema[0] if schema else None), "cannot list tables"
    )
    if plain not in known:
        listed = ", ".join(map(repr, sorted(known))) or "no tables"
        raise SourceError(f"there is no table {name!r}; there are: {listed}")
    return _translated(
        lambda: backend.table(plain, database=schema[0] if schema else None),
        f"cannot read the table {name!r}",
    )


def query(backend: Any, select: str) -> Any:  # noqa: ANN401
    """Return the result of one SELECT, checked to be that."""
    import ibis
    import ibis.expr.operations as ops
    from ibis.backends.sql.datatypes import PostgresType

    def describe() -> dict[str, Any]:
        # No view is made for this: a login that may only read, or a standby, cannot make one.
        with backend.con.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({select}) AS events LIMIT 0")  # noqa: S608 (one SELECT)
            columns = {c.name: PostgresType.from_string(c.type_display) for c in cursor.description}
            if len(columns) < len(cursor.description):
                raise SourceError("two columns of the SQL have the same name")
            return columns

    schema = ibis.schema(_translated(describe, "the SQL cannot be run"))
    return ops.SQLQueryResult(select, schema, backend).to_expr()


class Postgres(Engine):
    """PostgreSQL. Collations may take different texts for the same; their bytes are never so."""

    compares_bytes = False

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its bytes in UTF-8."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("string", "string"), "binary"))
        def convert_to(value, encoding):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """PostgreSQL's own."""

        return convert_to(text, "UTF8")

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query so that Ctrl-C ends it."""
        return interruptibly(lambda: self.backend.to_pyarrow(query), self.backend.con.cancel)

    def run(self, query: Expression, says: str) -> "pa.Table":
        """Run a query; ``says`` begins the error if it fails."""
        return _translated(lambda: self.fetch(query), says)


def _translated(action: Any, says: str) -> Any:  # noqa: ANN401
    import psycopg

    failure: HeadcountError
    try:
        return action()
    except psycopg.Error as error:
        failure = _failure(error.sqlstate, says)
    raise failure


def _failure(state: str | None, says: str) -> HeadcountError:
    if state is None:
        return EngineError(f"{says}: there is no connection to the server")
    reason = _STATES.get(state[:2])
    kind = SourceError if state[:2] in ("3D", "3F", "42") else EngineError
    return kind(f"{says}: {reason or 'the server failed'} (SQLSTATE {state})")
