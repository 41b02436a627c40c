"""What a source is called in the ledger, where no password may ever appear."""

import os
import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from headcount.engines.files import as_path, named
from headcount.inputs.stdin import STDIN
from headcount.ledger.entries import printable

_ADDRESS = re.compile(r"(\w[\w+.-]*)://")
_POSTGRES = ("postgres", "postgresql")
# What Spark takes for the name of a setting whose value is secret; it fits PostgreSQL as well.
SECRET = re.compile(r"secret|password|passfile|token|access[.]?key|credential", re.IGNORECASE)
# A password with a / in it is taken for a port and the name of a database.
_PUBLIC = {"user": r"[^@:/?#=]+", "host": r"[^@:?#=]+", "port": r"[\d,]+", "dbname": r"[^@:/?#=]+"}


def public_name(source: object) -> str:
    """Return a source's name as it may be written down: nothing in it may hold a password."""
    if not isinstance(source, str | os.PathLike):
        return f"a table in memory ({type(source).__name__})"
    name = str(source)
    if name == STDIN:
        return "stdin"
    if _ADDRESS.match(name) is None:
        return str(printable(name)) if _are_files(name) else "(not understood)"
    return public_address(name)


def public_address(name: str) -> str:
    """Return an address, or the path of a ledger, as it may be shown."""
    address = _ADDRESS.match(name)
    if address is None:
        # Connection strings such as "host=db password=…" are not addresses, but people type them.
        return "(not understood)" if "=" in name and SECRET.search(name) else str(printable(name))
    hidden = f"{address[1]}://…"
    if address[1] in _POSTGRES:
        return _public_postgres(name) or hidden
    if "@" in name:
        return hidden
    try:
        parts = urlsplit(name)
    except ValueError:
        return hidden
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def source_key(source: object) -> object:
    """Return what tells a source from others: where it is, never what is in it.

    For an address, that is all of it but its secrets, with what the environment adds; for files,
    the path or pattern. None for an address in which more may be secret than can be recognised.
    """
    if not isinstance(source, str | os.PathLike):
        return public_name(source)
    name = str(source)
    if name == STDIN:
        return public_name(source)
    address = _ADDRESS.match(name)
    if address is None:
        return printable(str(as_path(name).absolute()))
    if address[1] in _POSTGRES:
        return without_secrets(_effective_parameters(name))
    return name if public_name(source) == name else None


def without_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings whose values are not secret."""
    return {key: value for key, value in settings.items() if not SECRET.search(key)}


def _public_postgres(name: str) -> str | None:
    found = _parameters(name)
    parts = {key: found[key] for key in _PUBLIC if key in found}
    if not parts or not all(re.fullmatch(_PUBLIC[key], value) for key, value in parts.items()):
        return None
    user, host, port, database = (quote(parts.get(key, ""), safe=",") for key in _PUBLIC)
    return f"postgres://{user and user + '@'}{host}{port and ':' + port}/{database}"


def _parameters(name: str) -> dict[str, str]:
    try:
        from psycopg.conninfo import conninfo_to_dict

        return {key: str(value) for key, value in conninfo_to_dict(name).items()}
    except Exception:  # no such package, or no such address; opening it will say so
        return {}


def _effective_parameters(name: str) -> dict[str, str]:
    """Return what a connection is made with: PGHOST, PGSERVICE and the like count too."""
    given = _parameters(name)
    try:
        from psycopg.pq import Conninfo

        defaults = {
            option.keyword.decode(): option.val.decode(errors="backslashreplace")
            for option in Conninfo.get_defaults()
            if option.val is not None
        }
    except Exception:  # no such package, or a service that is not there
        defaults = {}
    return {**defaults, **given}


def _are_files(name: str) -> bool:
    try:
        return bool(named(name))
    except (OSError, ValueError):
        return False
