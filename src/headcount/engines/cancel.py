"""A way to end a release from another thread."""

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from typing import Any

from headcount.errors import CancelledError

_SECONDS_BETWEEN_LOOKS = 0.1


class CancelToken:
    """Ends the releases that it was given to once `cancel` is called, from any thread.

    The engine's query is ended too, if the engine can do that; Polars finishes its current one. A
    cancelled release raises `headcount.CancelledError`.
    """

    def __init__(self) -> None:
        self._called: Future[None] = Future()

    def cancel(self) -> None:
        """End what is running, and whatever starts with this token later."""
        with suppress(InvalidStateError):
            self._called.set_result(None)

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._called.done()

    def check(self) -> None:
        """Raise if `cancel` was called."""
        if self.cancelled:
            raise CancelledError

    def wait_for(self, future: "Future[Any]") -> None:
        """Wait until a future is done, or `cancel` is called."""
        # In many short waits: a signal that another thread received, or that came just before, does
        # not end a wait. Python looks for it in between.
        ended = (future, self._called)
        while not wait(ended, _SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED).done:
            pass

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Raise what a cancelled engine raises as `CancelledError`."""
        self.check()
        try:
            yield
        except BaseException:
            if self.cancelled:
                raise CancelledError from None
            raise
