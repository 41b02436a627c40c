"""The addresses by which Spark knows files and folders."""

import re
from collections.abc import Collection
from pathlib import Path

from headcount.engines.files import FORMS, as_path, check_reads, lake_of, matching, stored_schemas
from headcount.engines.layout import Layout
from headcount.engines.reader import Reader
from headcount.errors import SourceError


def files_of(
    name: str, by: Reader, layout: Layout, columns: Collection[str] | None
) -> tuple[str, list[str]]:
    """Return the form of what a path names, and the addresses that Spark knows it by.

    The requested columns of Parquet files must have the same type in all of them; those of a folder
    and of files elsewhere are compared by Spark when it reads them.
    """
    path = as_path(name)
    if re.match(r"\w[\w+.-]*://", name):  # not on this machine; Spark knows globs too
        form, addresses = layout.form or _form_by_name(name), [name]
    elif path.is_dir():
        form, addresses = lake_of(path) or "parquet", [_address(path)]
        if layout.form not in (None, form):
            raise SourceError("a folder is read as Parquet here; name its files with a glob")
    else:
        form, paths = matching(name, layout)
        addresses = [_address(path) for path in paths]
        if form == "parquet":
            stored_schemas(paths, columns)
        if form not in FORMS.values():
            raise SourceError("Spark reads files and folders here; DuckDB reads database files")
    if form in FORMS.values():
        check_reads(form, by)
    layout.check_form(form)
    return form, addresses


def _address(path: Path) -> str:
    """Return a path as a URL in which nothing is read as a glob."""
    return "file://" + re.sub(r"([][{}*?\\])", r"\\\1", str(path.resolve()))


def _form_by_name(name: str) -> str:
    ending = re.search(r"\.\w+(?=(\.gz)?$)", name.rstrip("/*"))
    return FORMS.get(ending[0].lower(), "parquet") if ending else "parquet"
