"""The addresses by which Spark knows files and folders."""

import re
from pathlib import Path

from headcount.engines.files import FORMS, as_path, lake_of, matching
from headcount.errors import SourceError


def files_of(name: str) -> tuple[str, list[str]]:
    """Return the form of what a path names, and the addresses that Spark knows it by."""
    if re.match(r"\w[\w+.-]*://", name):  # not of this machine; Spark knows globs too
        return _form_by_name(name), [name]
    path = as_path(name)
    if path.is_dir():
        return lake_of(path) or "parquet", [_address(path)]
    form, paths = matching(name)
    if form not in FORMS.values():
        raise SourceError("Spark reads files and folders here; DuckDB reads database files")
    return form, [_address(path) for path in paths]


def _address(path: Path) -> str:
    """Return a path as a URL in which nothing is taken for a glob."""
    return "file://" + re.sub(r"([][{}*?\\])", r"\\\1", str(path.resolve()))


def _form_by_name(name: str) -> str:
    ending = re.search(r"\.\w+(?=(\.gz)?$)", name.rstrip("/*"))
    return FORMS.get(ending[0].lower(), "parquet") if ending else "parquet"
