"""The embedded engine: its memory, its spill folder, and when it is closed."""

import re
import sqlite3
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from headcount.errors import EngineError, SettingsError
from headcount.sources.guard import opening

DEFAULT_MEMORY = "3GB"

# SQLite runs this many of its steps, a few milliseconds' worth, between two looks at whether
# the user pressed Ctrl-C.
_STEPS_BETWEEN_LOOKS = 100_000


class Session:
    """What a release holds open while it reads: connections and a folder to spill into.

    Use it as a context manager: the folder, which can hold raw data, is gone afterwards.
    """

    def __init__(self, memory: str = DEFAULT_MEMORY) -> None:
        size = re.fullmatch(r"(\d+(?:\.\d+)?) ?[KMGT]i?B", memory, flags=re.IGNORECASE)
        if size is None or not float(size[1]) > 0:
            raise SettingsError(f"memory must look like 3GB or 512MB, got {memory!r}")
        self._memory = memory
        self._spill = ""
        self._open = ExitStack()

    def __enter__(self) -> Self:
        try:
            folder = tempfile.TemporaryDirectory(prefix="headcount-", ignore_cleanup_errors=True)
        except OSError as error:
            raise EngineError(f"there is no folder for temporary files: {error.strerror}") from None
        self._spill = self._open.enter_context(folder)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def duckdb(self, file: Path | None = None) -> Any:  # noqa: ANN401 (Ibis has no types)
        """Open DuckDB through Ibis, in memory or on a file, which is only read."""
        import ibis

        backend = opening(
            lambda: ibis.duckdb.connect(
                ":memory:" if file is None else str(file),
                read_only=file is not None,
                memory_limit=self._memory,
                temp_directory=self._spill,
                autoinstall_known_extensions="false",
                preserve_insertion_order="false",
            ),
            f"{str(file)!r} cannot be opened as a DuckDB database, or is in use by another program"
            if file
            else "DuckDB does not start with these settings",
        )
        self._open.callback(backend.disconnect)
        backend.raw_sql("SET enable_progress_bar = false")  # how far it is depends on the data
        return backend

    def sqlite(self, file: Path) -> Any:  # noqa: ANN401
        """Open a SQLite file, which is only read, through Ibis."""
        import ibis

        def connect() -> Any:  # noqa: ANN401
            connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
            connection.set_progress_handler(lambda: None, _STEPS_BETWEEN_LOOKS)
            return ibis.sqlite.from_connection(connection)

        backend = opening(connect, f"{str(file)!r} cannot be opened as a SQLite database")
        self._open.callback(backend.disconnect)
        return backend
