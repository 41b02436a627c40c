"""What a caller is warned of before anything is spent: a weak budget, and releases that add up.

The command line says the first as text, and on a terminal asks; each of its commands is a new
process, which knows of no earlier release. With ``-W error::headcount.PrivacyWarning`` a warning
is an error, and nothing is read or charged.
"""

import sys
import threading
import warnings
import weakref
from collections.abc import Hashable
from os import PathLike
from typing import TypeVar

from headcount.inputs import SourceName, TableLike
from headcount.ledger.amounts import as_typed
from headcount.ledger.names import source_key
from headcount.ledger.refusal import shown
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.results.canonical import canonical_json
from headcount.results.notices import WAS_IT_MEANT, WEAK_BUDGET, is_weak

_Release = TypeVar("_Release")

# Nothing is read or reserved yet, so the release may still be refused.
_UNCHARGED = (
    "counts of this source were already released in this process, and this release would not be "
    "charged to a ledger. With it, they would cost {} together. Charge all releases of a dataset "
    "to one ledger (ledger=, dataset=) to keep a limit."
)
_NOT_ALL_CHARGED = (
    "an earlier release of this source in this process was not charged to a ledger, and a ledger "
    "limits only what is charged to it. With this release, all of them would cost {} together."
)


class PrivacyWarning(UserWarning):
    """A release promises less than it may seem to."""


class Caution:
    """Warns of what is known before a release, and remembers the release afterwards.

    Args:
        source: what is released.
        table: its table, if it is a database.
        budget: what may be spent.
        ledger: whether it is charged to a ledger.
        private: whether it is a release at all; what is made with a seed promises nothing.
    """

    def __init__(
        self,
        source: SourceName | TableLike,
        table: str | None,
        budget: Budget,
        *,
        ledger: bool,
        private: bool,
    ) -> None:
        self._source, self._budget, self._ledger, self._private = source, budget, ledger, private
        self._key = _key(source, table) if private else None

    def warn(self) -> None:
        """Warn of what is known before anything is read. It may raise, if warnings do."""
        if not self._private:
            return
        if is_weak(self._budget.epsilon, self._budget.delta):
            _warn(f"{WEAK_BUDGET.text} {WAS_IT_MEANT}")
        earlier = _released.before(self._key, ledger=self._ledger)
        if earlier is not None:
            together = shown(earlier + _cost(self._budget))
            _warn(
                _NOT_ALL_CHARGED.format(together) if self._ledger else _UNCHARGED.format(together)
            )

    def noted(self, release: _Release) -> _Release:
        """Return a release, and remember that it was made."""
        _released.add(self._key, self._source, self._budget, ledger=self._ledger)
        return release


class _Released:
    """What this process has released of each source, so that a second release is noticed.

    It keeps no source alive: it knows a table in memory by a weak reference, without a callback.
    A callback would run whenever the table happens to go, where an interruption is only printed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._costs: dict[Hashable, Cost] = {}
        self._without_ledger: set[Hashable] = set()
        self._alive: dict[int, weakref.ref[object]] = {}

    def before(self, key: Hashable | None, *, ledger: bool) -> Cost | None:
        """Return what earlier releases cost, unless a ledger adds them all up."""
        with self._lock:
            self._forget_the_dead()
            added_up = ledger and key not in self._without_ledger
            return None if added_up else self._costs.get(key)

    def add(self, key: Hashable | None, source: object, budget: Budget, *, ledger: bool) -> None:
        """Note a release of a source, if it can be told from others."""
        if key is None:
            return
        with self._lock:
            self._forget_the_dead()
            if isinstance(key, int):
                self._alive[key] = weakref.ref(source)
            self._costs[key] = self._costs.get(key, Cost()) + _cost(budget)
            if not ledger:
                self._without_ledger.add(key)

    def _forget_the_dead(self) -> None:
        """Forget tables that are gone: another may have the same id by now."""
        for key in [key for key, source in self._alive.items() if source() is None]:
            del self._alive[key], self._costs[key]
            self._without_ledger.discard(key)


_released = _Released()


def _key(source: SourceName | TableLike, table: str | None) -> Hashable | None:
    """Return what tells a source from others: where it is, or the id of a table in memory.

    None if only keeping it alive would tell: a dict takes no weak reference.
    """
    try:
        if isinstance(source, str | PathLike):
            place = source_key(source)
            return None if place is None else (canonical_json(place), table)
        if type(source).__module__.startswith("ibis."):
            stored = source.op()
            if type(stored).__name__ == "DatabaseTable":  # each con.table("t") is another object
                return ("ibis", hash(stored))
        weakref.ref(source)
    except (OSError, TypeError, ValueError):
        return None
    return id(source)


def _cost(budget: Budget) -> Cost:
    return Cost(as_typed(budget.rho), as_typed(budget.delta))


def _warn(text: str) -> None:
    """Issue a warning that points at the line that called headcount."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith(
        "headcount."
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, PrivacyWarning, stacklevel=level)
