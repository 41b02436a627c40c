"""Outputs stay apart from what is read: no output replaces data, or comes to be read as data.

Files are told apart by device and inode, with links followed, so it does not matter by which of
its names a file was given.
"""

import fnmatch
import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path

from headcount.engines.files import as_path, named
from headcount.errors import OutputError
from headcount.inputs.stdin import STDIN

# The files that SQLite and DuckDB keep next to a database, which is lost without them.
_BESIDE = ("", "-journal", "-wal", "-shm", ".wal")

_STDIN_NUMBER = 0  # the number of the file that stdin is

_Identity = tuple[int, int]


def check_apart(output: Path, source: str | None, ledger: str | None) -> None:
    """Refuse an output that belongs to the source or the ledger, or would be read as data.

    Raises:
        OutputError: the output is a file of the source or of the ledger; or the source is a
            folder or a glob that would take in the output the next time it is read.
    """
    if ledger is not None and _is_among(output, _with_companions(as_path(ledger))):
        raise OutputError("the output would replace the ledger; choose another file")
    if source == STDIN:
        there = _identity(output)
        if there is not None and there == _identity(_STDIN_NUMBER):
            raise OutputError("the output would replace what stdin is read from; choose another")
        return
    name = None if source is None else _on_this_machine(source)
    if name is None:
        return
    found = named(name)
    files = _with_companions(found[0]) if len(found) == 1 else found
    if _is_among(output, [as_path(name), *files]):
        raise OutputError("the output would replace the source; choose another file")
    is_glob = not as_path(name).exists()
    # Spark reads folders, and takes a glob in an address itself.
    folders = [path for path in found if path.is_dir() and (name != source or not is_glob)]
    if any(_lies_in(output, folder) for folder in folders):
        raise OutputError(
            "the output is in a folder that is read as data, and would be counted the next time; "
            "choose another folder"
        )
    if is_glob and any(_matches(place, str(as_path(name))) for place in _places(output)):
        raise OutputError(
            f"the output would match {source!r}, and be counted as data the next time; choose a "
            "name that it does not match"
        )


def _on_this_machine(source: str) -> str | None:
    """Return the path or glob that a source is; None for one that is somewhere else."""
    if source.startswith("file://"):
        return source.removeprefix("file://")
    return None if re.match(r"\w[\w+.-]*://", source) else source


def _with_companions(path: Path) -> list[Path]:
    return [Path(f"{path}{ending}") for ending in _BESIDE]


def _places(output: Path) -> set[Path]:
    """Return where an output is seen: under its name, and where a link leads."""
    named_so = Path(os.path.realpath(output.parent)) / output.name
    return {named_so, Path(os.path.realpath(output))}


def _identity(path: Path | str | int) -> _Identity | None:
    try:
        found = os.stat(path)  # noqa: PTH116 (of a text, a path or an open file)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _is_among(output: Path, paths: Iterable[Path]) -> bool:
    identity, real = _identity(output), os.path.realpath(output)
    if identity is not None:
        return any(_identity(path) == identity for path in paths)
    return any(os.path.realpath(path) == real for path in paths)


def _lies_in(output: Path, folder: Path) -> bool:
    """Whether an output is below a folder, or is seen from it through links."""
    inside: set[_Identity | None] = {_identity(folder)}
    for here, folders, files in os.walk(folder, followlinks=True):
        below = {name: _identity(os.path.join(here, name)) for name in folders}  # noqa: PTH118
        folders[:] = [name for name in folders if below[name] not in inside]  # links may loop
        inside.update(below.values())
        inside.update(_identity(os.path.join(here, name)) for name in files)  # noqa: PTH118
    inside.discard(None)
    seen = [path for place in _places(output) for path in (place, *place.parents)]
    return any(_identity(path) in inside for path in seen)


def _matches(place: Path, pattern: str) -> bool:
    """Whether a glob would find a file at a place, which need not be there yet."""
    above, name = os.path.split(os.path.join(os.curdir, pattern))  # noqa: PTH118
    if name == "**":  # all files below; and what the rest names, which need not be a folder
        if _matches(place, above):
            return True
        above, name = os.path.join(above, name), "*"  # noqa: PTH118
    if place.name.startswith(".") and not name.startswith("."):
        return False
    folders = glob.glob(os.path.join(above, ""), recursive=True)  # noqa: PTH118, PTH207
    return fnmatch.fnmatch(place.name, name) and _identity(place.parent) in map(_identity, folders)
