"""Tables that another program holds: PostgreSQL, and Spark with its files and catalog."""

import re
from collections.abc import Mapping
from typing import Any

from headcount.engines import Session, module_of
from headcount.engines.guard import opening
from headcount.errors import SourceError
from headcount.sources.files import KINDS

_POSTGRES = ("postgres://", "postgresql://")
_SPARK = "spark://"

# Everything is text, and its form is fixed: see text.py.
_SPARK_CSV = {"header": True, "inferSchema": False, "quote": '"', "escape": '"'}


def is_server(name: str) -> bool:
    """Whether a source is the address of a server."""
    return name.startswith((*_POSTGRES, _SPARK))


def open_server(
    session: Session, url: str, table: str | None, select: str | None, conf: Mapping[str, str]
) -> tuple[Any, Any]:
    """Open a table or query of a server; return an Ibis table and its backend."""
    if table is None and select is None:
        raise SourceError("name a table of the server, or give SQL")
    if url.startswith(_SPARK):
        if table is None:
            raise SourceError("SQL goes with PostgreSQL, DuckDB and SQLite; give Spark a table")
        backend = module_of("spark").connect(session, url, conf)
        return _catalog_table(backend, table), backend
    backend = module_of("postgres").connect(session, url)
    if select is not None:
        return module_of("postgres").query(backend, select), backend
    assert table is not None  # noqa: S101 (checked above)
    return module_of("postgres").table(backend, table), backend


def read_with_spark(
    session: Session, name: str, table: str | None, conf: Mapping[str, str]
) -> tuple[Any, Any]:
    """Read files or a lake folder with Spark; return an Ibis table and its backend."""
    if table is not None:
        raise SourceError("a table goes with a spark:// master; this source is a path")
    spark = module_of("spark")
    backend = spark.connect(session, None, conf)
    return spark.read_path(backend, name, _form(name), _SPARK_CSV), backend


def _form(name: str) -> str:
    ending = re.search(r"\.\w+(?=(\.gz)?$)", name.rstrip("/*"))
    kind = KINDS.get(ending[0].lower(), "") if ending else ""
    return kind if kind in ("parquet", "csv", "tsv", "json") else "folder"


def _catalog_table(backend: Any, name: str) -> Any:  # noqa: ANN401 (Ibis has no types)
    *database, table = name.split(".")
    return opening(
        lambda: backend.table(table, database=tuple(database) or None),
        f"there is no table {name!r} in the catalog",
    )
