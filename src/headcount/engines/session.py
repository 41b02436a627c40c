"""What a release holds open while it reads, and frees even if it fails."""

import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from headcount.engines.cancel import CancelToken
from headcount.errors import EngineError, SettingsError

DEFAULT_MEMORY = "3GB"


# The address space that the libraries take before they read anything. With less, some of them end
# the process while they are loaded, and what they leave in the folder stays there.
_LEAST_ADDRESSES = 3 * 2**29


def _check_addresses() -> None:
    if sys.platform == "win32":
        return
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if resource.RLIM_INFINITY != most < _LEAST_ADDRESSES:
        raise EngineError(
            "the memory of this process is limited to less than its libraries need; "
            f"allow it at least {_LEAST_ADDRESSES / 2**30:g} GB (ulimit -v)"
        )


_lock = threading.Lock()
_unwarned: "list[warnings.catch_warnings[None]]" = []  # one for each session, in any thread


@contextmanager
def without_warnings() -> Iterator[None]:
    """Keep libraries' warnings from being shown, or raised as errors with ``-W error``.

    Engines and Ibis warn about one another's changes, which nobody asking for a release can act
    on. All threads share what Python does with warnings: the first to enter changes it, and the
    last to leave restores it.
    """
    with _lock:
        _unwarned.append(warnings.catch_warnings())
        if len(_unwarned) == 1:
            _unwarned[0].__enter__()
            warnings.simplefilter("ignore")
    try:
        yield
    finally:
        with _lock:
            if len(_unwarned) == 1:
                _unwarned[0].__exit__(None, None, None)
            _unwarned.pop()


class Session:
    """Connections, temporary tables and a folder to spill into.

    Use it as a context manager: the folder, which can hold raw data, is gone afterwards.
    """

    def __init__(
        self,
        memory: str = DEFAULT_MEMORY,
        cancel: CancelToken | None = None,
        progress: Callable[[str], object] = lambda message: None,
    ) -> None:
        size = re.fullmatch(r"(?ai)(\d+(?:\.\d+)?) ?([KMGT])(i?)B", str(memory))
        if size is None or not float(size[1]) > 0:
            raise SettingsError(f"memory must look like 3GB or 512MB, got {memory!r}")
        self.memory = memory
        #: The same, in bytes.
        self.memory_bytes = int(
            float(size[1]) * (1024 if size[3] else 1000) ** (1 + "KMGT".index(size[2].upper()))
        )
        #: Ends it from another thread.
        self.cancel = cancel or CancelToken()
        #: Called with a description of each step, to be shown: the same whatever the data is.
        self.progress = progress
        #: A folder for temporary files.
        self.folder = Path()
        self._open = ExitStack()

    def at_end(self, action: Callable[[], object]) -> None:
        """Run an action when the release ends, even by failing; the last one added runs first."""
        self._open.callback(action)

    def __enter__(self) -> Self:
        _check_addresses()
        try:
            folder = tempfile.TemporaryDirectory(prefix="headcount-", ignore_cleanup_errors=True)
        except OSError as error:
            raise EngineError(f"there is no folder for temporary files: {error.strerror}") from None
        self.folder = Path(self._open.enter_context(folder))
        self._open.enter_context(without_warnings())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(Exception):  # a release was paid for, or an error is on its way
            self._open.close()
