"""Threads that apply a function to many arrays, and that Ctrl-C or a token soon ends."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

from headcount.engines.cancel import CancelToken

_Thing = TypeVar("_Thing")
_Result = TypeVar("_Result")


class Workers:
    """One thread per processor: NumPy lets them run at the same time."""

    def __init__(self, cancel: CancelToken) -> None:
        self._cancel = cancel
        self._threads = _processors()

    def each(self, do: Callable[[_Thing], _Result], things: Iterable[_Thing]) -> Iterator[_Result]:
        """Apply a function to each thing, and yield the results in the same order.

        Only a few things are taken ahead of the results, so that not all are in memory at once. If
        cancelled, this waits only for those being worked on, which should take less than a second
        each.
        """
        things = iter(things)
        first = list(islice(things, 2))
        if len(first) < 2:  # starting threads takes longer than most of the work done here
            for thing in first:
                self._cancel.check()
                yield do(thing)
            return
        with ThreadPoolExecutor(self._threads) as pool:
            begun: deque[Future[_Result]] = deque()
            try:
                for thing in chain(first, things):
                    begun.append(pool.submit(do, thing))
                    if len(begun) > 2 * self._threads:
                        yield self._finished(begun.popleft())
                while begun:
                    yield self._finished(begun.popleft())
            finally:
                for future in begun:
                    future.cancel()

    def all(self, do: Callable[[_Thing], object], things: Iterable[_Thing]) -> None:
        """Apply a function to each thing."""
        for _ in self.each(do, things):
            pass

    def _finished(self, future: "Future[_Result]") -> _Result:
        self._cancel.wait_for(future)
        self._cancel.check()
        return future.result()


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
