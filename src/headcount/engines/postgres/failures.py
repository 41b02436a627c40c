"""Errors for failures of the server, which never repeat its messages."""

from typing import Any

from headcount.engines.guard import ANY_FORM, running
from headcount.errors import EngineError, HeadcountError, SourceError

# Classes of SQLSTATE, its first two characters, and what to say about each. A message of the
# server is never passed on: it quotes rows, and may contain the password from a URL.
_STATES = {
    "08": "the connection was lost",
    "25": "the connection only reads: SQL cannot change anything, and no table can be made",
    "28": "the server refused the login",
    "3D": "there is no such database",
    "3F": "there is no such schema",
    "42": "the query was refused: a table, a column or a permission is missing",
    "53": "the server has too little memory, disk or connections left",
    "57": "the query was cancelled, took too long, or the server is shutting down",
}


def translated(action: Any, error_prefix: str, expected: str = ANY_FORM) -> Any:  # noqa: ANN401
    """Run an action; no message of the server is passed on."""
    return running(lambda: _without_data(action, error_prefix, expected), error_prefix, expected)


def _without_data(action: Any, error_prefix: str, expected: str) -> Any:  # noqa: ANN401
    import psycopg

    failure: HeadcountError
    try:
        return action()
    except psycopg.Error as error:
        cause: psycopg.Error = error
        while isinstance(cause.__context__, psycopg.Error):  # the first, not what it led to
            cause = cause.__context__
        failure = _failure(cause.sqlstate, str(cause), error_prefix, expected)
    raise failure


# Signs of why a connection could not be made; there is no SQLSTATE then.
_UNCONNECTED = {
    "FATAL": "the server refused the login or has no such database",
    "refused": "no server answers at that address",
    "resolve": "there is no host with that name",
    "translate host": "there is no host with that name",
    "timeout": "the server did not answer in time",
    "invalid": "an option of the URL is not valid",
}


def _failure(state: str | None, message: str, error_prefix: str, expected: str) -> HeadcountError:
    if state is None:
        reasons = (reason for sign, reason in _UNCONNECTED.items() if sign in message)
        return EngineError(f"{error_prefix}: {next(reasons, 'the connection was lost')}")
    reason = expected if state[:2] == "22" else _STATES.get(state[:2])
    kind = SourceError if state[:2] in ("22", "3D", "3F", "42") else EngineError
    return kind(f"{error_prefix}: {reason or 'the server failed'} (SQLSTATE {state})")
