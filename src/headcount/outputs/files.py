"""Files that appear whole or not at all."""

import contextlib
import itertools
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from headcount.engines.files import as_path, database_of
from headcount.engines.names import UNSPEAKABLE, is_unspeakable
from headcount.errors import OutputError
from headcount.outputs.overlap import check_apart

#: The formats that a release is written in, by the ending of the file.
RELEASE_ENDINGS = {".csv": "csv", ".json": "json", ".parquet": "parquet"}

_PREFIX = ".headcount-"


class AtomicFile:
    """A file that appears under its name only when it is complete.

    Entering checks that the place can be written to, before any work is done. Until `commit`
    nothing is there, so a process that is killed before that leaves nothing behind. One that is
    killed within `commit` may leave a file called ``.headcount-…`` beside the path: no later run
    needs it or is disturbed by it, and anybody may delete it.

    An existing file is replaced only with ``force``, and never if it is a database, or belongs to
    the ``source`` or the ``ledger``.
    """

    def __init__(
        self,
        path: Path,
        *,
        source: str | None = None,
        ledger: str | None = None,
        force: bool = False,
    ) -> None:
        self._given, self._source, self._ledger = as_path(str(path)), source, ledger
        if is_unspeakable(str(path), "surrogateescape"):
            raise OutputError(f"cannot write {str(path)!r}: its name {UNSPEAKABLE}")
        # A link stays a link: what it points at is written.
        self._path = Path(os.path.realpath(self._given))
        self._force = force
        self._temporary: Path | None = None

    def __enter__(self) -> Self:
        folder = self._path.parent
        try:
            in_folder, there, is_loop = (
                folder.is_dir(),
                self._path.exists(),
                self._path.is_symlink(),
            )
        except OSError as error:
            raise OutputError(f"cannot write {str(self._path)!r}: {error.strerror}") from None
        if not in_folder:
            raise OutputError(
                f"there is no folder {str(folder)!r} to write to; make it, or name another"
            )
        if is_loop:
            raise OutputError(f"{str(self._path)!r} is a link that leads back to itself")
        if there and not self._path.is_file():
            raise OutputError(f"{str(self._path)!r} is not a file that can be replaced")
        check_apart(self._given, self._source, self._ledger)
        if there and _is_database(self._path):
            raise OutputError(
                f"{str(self._path)!r} is a database, perhaps a ledger; choose another name"
            )
        if there and not self._force:
            paid = self._path.suffix.lower() in RELEASE_ENDINGS
            perhaps = ", and may be a release that was paid for" if paid else ""
            raise OutputError(
                f"the file {str(self._path)!r} already exists{perhaps}; choose another name, or "
                "replace it with --force (force=True)"
            )
        try:
            tempfile.TemporaryFile(prefix=_PREFIX, dir=folder).close()
        except OSError as error:
            raise OutputError(f"cannot write to {str(folder)!r}: {error.strerror}") from None
        return self

    def commit(self, content: bytes) -> None:
        """Write the content, make it durable, and give it its name.

        Without ``force``, a file that has appeared under that name in the meantime stays.
        """
        try:
            self._temporary, handle = _new_file(self._path.parent)
            with open(handle, "wb") as file:  # noqa: PTH123 (it is open already)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if self._force:
                self._temporary.replace(self._path)
            else:
                _rename_to_new(self._temporary, self._path)
        except FileExistsError:
            raise OutputError(
                f"the file {str(self._path)!r} has appeared in the meantime, and was not "
                "overwritten"
            ) from None
        except OSError as error:
            raise OutputError(f"cannot write {str(self._path)!r}: {error.strerror}") from None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)


def _rename_to_new(temporary: Path, path: Path) -> None:
    """Give a file another name, unless that is taken.

    Raises:
        FileExistsError: there is a file of that name.
    """
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:
        # This file system has no hard links. The name is taken first, by an empty file: for a
        # moment that is what others see.
        path.touch(exist_ok=False)
        try:
            temporary.replace(path)
        except BaseException:
            path.unlink()
            raise
    else:
        temporary.unlink()


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return database_of(file.read(64)) is not None
    except OSError:  # it is not ours to read
        return False


def _new_file(folder: Path) -> tuple[Path, int]:
    """Make a file in a folder, with the rights of any new file there; return it and its handle.

    The system applies the umask, which cannot be read without changing it, for all threads.
    """
    for number in itertools.count():
        path = folder / f"{_PREFIX}{os.getpid()}-{number}"
        with contextlib.suppress(FileExistsError):  # of another thread, or of one that was killed
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    raise AssertionError  # there is always another number
