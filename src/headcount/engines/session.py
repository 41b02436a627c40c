"""What a release holds open while it reads, and lets go of whatever happens."""

import re
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from headcount.errors import EngineError, SettingsError

DEFAULT_MEMORY = "3GB"


class Session:
    """Connections, temporary tables and a folder to spill into.

    Use it as a context manager: the folder, which can hold raw data, is gone afterwards.
    """

    def __init__(self, memory: str = DEFAULT_MEMORY) -> None:
        size = re.fullmatch(r"(?ai)(\d+(?:\.\d+)?) ?[KMGT]i?B", str(memory))
        if size is None or not float(size[1]) > 0:
            raise SettingsError(f"memory must look like 3GB or 512MB, got {memory!r}")
        self.memory = memory
        #: A folder for temporary files.
        self.folder = Path()
        self._open = ExitStack()

    def at_end(self, action: Callable[[], object]) -> None:
        """Do something when the release is over, last asked first, also after a failure."""
        self._open.callback(action)

    def __enter__(self) -> Self:
        try:
            folder = tempfile.TemporaryDirectory(prefix="headcount-", ignore_cleanup_errors=True)
        except OSError as error:
            raise EngineError(f"there is no folder for temporary files: {error.strerror}") from None
        self.folder = Path(self._open.enter_context(folder))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()
