"""The embedded engine: its memory, its spill folder, and its errors."""

import re
import shutil
import tempfile
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

from headcount.errors import EngineError, HeadcountError, SettingsError, SourceError

DEFAULT_MEMORY = "3GB"

_Result = TypeVar("_Result")

# Failures that say the data, not the machine, is at fault. Their messages quote the data, so
# only the kind of failure is kept.
_DATA_FAULTS = (
    "ConversionException",
    "InvalidInputException",
    "InvalidTypeException",
    "OutOfRangeException",
    "SerializationException",
    "ArrowInvalid",
    "UnicodeDecodeError",
)
# Failures whose message speaks of the schema and the query only.
_SCHEMA_FAULTS = ("BinderException", "CatalogException", "ParserException")


class Session:
    """What a release holds open while it reads: connections and a folder to spill into.

    Use it as a context manager: the folder, which can hold raw data, is gone afterwards.
    """

    def __init__(self, memory: str = DEFAULT_MEMORY) -> None:
        if not re.fullmatch(r"\d+(\.\d+)? ?([KMGT]i?B)", memory, flags=re.IGNORECASE):
            raise SettingsError(f"memory must look like 3GB or 512MB, got {memory!r}")
        self.memory = memory
        self._spill: str | None = None
        self._close: list[Callable[[], None]] = []

    def __enter__(self) -> Self:
        self._spill = tempfile.mkdtemp(prefix="headcount-")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for close in reversed(self._close):
            close()
        if self._spill is not None:
            shutil.rmtree(self._spill, ignore_errors=True)

    def duckdb(self, database: str = ":memory:") -> Any:  # noqa: ANN401 (Ibis has no types)
        """Open DuckDB through Ibis; a file is opened for reading only."""
        import ibis

        backend = guarded(
            lambda: ibis.duckdb.connect(
                database,
                read_only=database != ":memory:",
                memory_limit=self.memory,
                temp_directory=self._spill,
                autoinstall_known_extensions="false",
                preserve_insertion_order="false",
            ),
            "cannot be opened as a DuckDB database (is another program writing to it?)",
        )
        self._close.append(backend.disconnect)
        backend.raw_sql("SET enable_progress_bar = false")  # how far it is depends on the data
        return backend

    def sqlite(self, database: str) -> Any:  # noqa: ANN401
        """Open a SQLite file through Ibis."""
        import ibis

        backend = guarded(
            lambda: ibis.sqlite.connect(database), "cannot be opened as a SQLite database"
        )
        self._close.append(backend.disconnect)
        return backend


def guarded(action: Callable[[], _Result], says: str) -> _Result:
    """Run an action of an engine; turn what it raises into an error that quotes no data.

    The engine's exception is not chained: its text may hold cell contents, and a traceback
    or a crash reporter would print it.
    """
    failure: HeadcountError
    try:
        return action()
    except HeadcountError:
        raise
    except Exception as error:
        failure = _translate(error, says)
    raise failure


def _translate(error: Exception, says: str) -> HeadcountError:
    kind = type(error).__name__
    if kind == "InterruptException":
        raise KeyboardInterrupt
    if kind in _SCHEMA_FAULTS:
        return SourceError(f"{says}: {str(error).splitlines()[0]}")
    if kind in _DATA_FAULTS:
        return SourceError(f"{says}: the contents do not have the form that was expected")
    if kind in ("OutOfMemoryException", "MemoryError"):
        return EngineError(f"{says}: the engine ran out of memory; give it more with --memory")
    return EngineError(f"{says}: the engine failed ({kind})")
