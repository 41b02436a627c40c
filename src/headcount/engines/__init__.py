"""The engines that count: one thin module each, imported when used."""

from importlib import import_module
from typing import Any

from headcount.engines import duckdb, sqlite
from headcount.engines.base import Engine
from headcount.engines.session import DEFAULT_MEMORY, Session
from headcount.errors import MissingExtraError

__all__ = [
    "DEFAULT_MEMORY",
    "EXTRAS",
    "Engine",
    "Session",
    "duckdb",
    "engine_for",
    "module_of",
    "sqlite",
]

#: Engines that come as an extra, and the package that shows whether it is installed.
EXTRAS = {"polars": "polars", "postgres": "psycopg", "spark": "pyspark"}

# What Ibis calls a backend, and the module that knows it better than Ibis does.
_KNOWN = {
    "duckdb": ("duckdb", "DuckDB"),
    "sqlite": ("sqlite", "SQLite"),
    "postgres": ("postgres", "Postgres"),
    "pyspark": ("spark", "Spark"),
    "polars": ("polars", "Polars"),
}
# Databases whose collations, unless told otherwise, take different texts for the same.
_COLLATING = ("mysql", "mssql", "singlestoredb", "oracle")


def module_of(engine: str) -> Any:  # noqa: ANN401 (a module)
    """Return the module of an engine, or say which extra is missing."""
    try:
        if engine in EXTRAS:
            import_module(EXTRAS[engine])
    except ModuleNotFoundError:
        raise MissingExtraError(EXTRAS[engine], engine) from None
    return import_module(f"headcount.engines.{engine}")


def engine_for(backend: Any, session: Session) -> Engine:  # noqa: ANN401 (an Ibis backend)
    """Return the engine that an Ibis backend is."""
    if backend.name in _KNOWN:
        module, kind = _KNOWN[backend.name]
        engine: Engine = getattr(module_of(module), kind)(backend, session)
        return engine
    engine = Engine(backend, session)
    if backend.name in _COLLATING:
        engine.compares_bytes = False
    return engine
