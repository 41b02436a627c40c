"""A progress bar on a terminal, for what takes longer than a second."""

import sys
import threading
from types import TracebackType
from typing import Any, Self

SECONDS_BEFORE_SHOWN = 1.0


class ProgressBar:
    """Shows what is being done and for how long, never how far it is: that depends on the data."""

    def __init__(self) -> None:
        self._message = ""
        self._lock = threading.Lock()
        self._bar: Any = None
        self._ended = False
        self._timer = threading.Timer(SECONDS_BEFORE_SHOWN, self._show)
        self._timer.daemon = True

    def __call__(self, message: str) -> None:
        """Say what is being done now."""
        with self._lock:
            self._message = message
            if self._bar is not None:
                self._bar.update(self._bar.task_ids[0], description=message)

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
            self._bar = None
            self._ended = True

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._ended:
                return
            bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            bar.add_task(self._message, total=None)
            bar.start()
            self._bar = bar
