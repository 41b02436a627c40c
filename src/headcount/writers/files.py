"""Files that are there whole or not at all."""

import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from headcount.errors import OutputError


class AtomicFile:
    """A file that appears under its name only when it is complete.

    Entering finds out that the place can be written to, before any work is done. Leaving
    without `commit` removes every trace. The file that it must be ``unlike`` is not replaced,
    and no SQLite database is: it may be a ledger.
    """

    def __init__(self, path: Path, unlike: str | None = None) -> None:
        # A link stays a link: what it points at is replaced.
        self._path = Path(os.path.realpath(path))
        self._source = None if unlike is None else os.path.realpath(unlike)
        self._temporary: Path | None = None

    def __enter__(self) -> Self:
        folder = self._path.parent
        if not folder.is_dir():
            raise OutputError(f"there is no folder {str(folder)!r} to write to")
        try:
            there = self._path.exists()
        except OSError as error:
            raise OutputError(f"cannot write {str(self._path)!r}: {error.strerror}") from None
        if str(self._path) == self._source:
            raise OutputError("the output would replace the source; name another file")
        if there and not self._path.is_file():
            raise OutputError(f"{str(self._path)!r} is not a file that can be replaced")
        if there and _is_database(self._path):
            raise OutputError(f"{str(self._path)!r} is a database, perhaps a ledger; name another")
        try:
            handle, name = tempfile.mkstemp(prefix=".headcount-", dir=folder)
        except OSError as error:
            raise OutputError(f"cannot write to {str(folder)!r}: {error.strerror}") from None
        os.close(handle)
        self._temporary = Path(name)
        return self

    def commit(self, content: bytes) -> None:
        """Write the content, make it durable, and give it its name."""
        if self._temporary is None:
            raise OutputError("the file was committed already")
        try:
            with self._temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            self._temporary.chmod(0o666 & ~_umask())
            self._temporary.replace(self._path)
        except OSError as error:
            raise OutputError(f"cannot write {str(self._path)!r}: {error.strerror}") from None
        self._temporary = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:  # it is not ours to read
        return False


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
