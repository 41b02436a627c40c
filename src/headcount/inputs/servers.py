"""Tables that another program holds: PostgreSQL, and Spark with its files and catalog."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headcount.engines import Session, module_of
from headcount.errors import SourceError
from headcount.inputs.files import KINDS, as_path, lake_of, matching

_POSTGRES = ("postgres://", "postgresql://")
_SPARK = "spark://"


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
        return module_of("spark").read_table(backend, table), backend
    backend = module_of("postgres").connect(session, url)
    if select is not None:
        return module_of("postgres").query(backend, select), backend
    assert table is not None  # noqa: S101 (checked above)
    return module_of("postgres").table(backend, table), backend


def read_with_spark(
    session: Session, name: str, table: str | None, conf: Mapping[str, str]
) -> tuple[Any, Any, str]:
    """Read files or a lake folder with Spark; return an Ibis table, its backend, and the form."""
    if table is not None:
        raise SourceError("a table goes with a spark:// master; this source is a path")
    spark = module_of("spark")
    form, paths = _files(name)
    backend = spark.connect(session, None, conf)
    return spark.read_path(backend, name, form, paths), backend, form


def _files(name: str) -> tuple[str, list[str]]:
    """Return the form of what a path names, and the addresses that Spark knows it by."""
    if re.match(r"\w[\w+.-]*://", name):  # not of this machine; Spark knows globs too
        return _form_by_name(name), [name]
    path = as_path(name)
    if path.is_dir():
        return lake_of(path) or "parquet", [_address(path)]
    form, paths = matching(name)
    if form not in ("parquet", "csv", "tsv", "json"):
        raise SourceError("Spark is used for files and folders here; leave databases to DuckDB")
    return form, [_address(path) for path in paths]


def _address(path: Path) -> str:
    """Return a path as a URL in which nothing is taken for a glob."""
    return "file://" + re.sub(r"([][{}*?\\])", r"\\\1", str(path.resolve()))


def _form_by_name(name: str) -> str:
    ending = re.search(r"\.\w+(?=(\.gz)?$)", name.rstrip("/*"))
    kind = KINDS.get(ending[0].lower(), "") if ending else ""
    return kind if kind in ("csv", "tsv", "json") else "parquet"
