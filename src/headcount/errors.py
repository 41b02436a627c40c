"""Everything headcount raises, under one base class.

    HeadcountError                      exit code
    ├── InputError                      2   what was asked for, or the data given, cannot be used
    │   ├── BudgetError                 2   numbers that do not make a privacy budget
    │   ├── SettingsError               2   a parameter outside its range
    │   ├── SourceError                 2   a file, table, column or query that cannot be read
    │   └── OutputError                 2   a place that cannot be written to
    ├── MissingExtraError               2   an optional package that is not installed
    ├── EngineError                     4   the engine failed while running the query
    ├── LedgerError                     2   a ledger that cannot be used as asked
    │   ├── BudgetRefusedError          3   a release that a dataset's budget does not allow
    │   ├── LedgerUnavailableError      4   the ledger cannot be read or written now
    │   └── VerificationError           5   a ledger or a release that was changed
    ├── CancelledError                  130 a release that was cancelled through its token
    ├── NotPrivateError                 2   a seeded run where a private one is needed
    └── BudgetExceededError             1   a step asked for more than is left: a bug

A message says what was wrong, what was given, and what to do. It never quotes a value
from the data, and the engine's own exception is never chained to it: engines put cell
contents into their messages.
"""


class HeadcountError(Exception):
    """Base class of every error that headcount raises on purpose."""

    exit_code = 1


class InputError(HeadcountError):
    """What was asked for, or the data that was given, cannot be used."""

    exit_code = 2


class BudgetError(InputError):
    """The numbers given do not make a privacy budget."""


class SettingsError(InputError):
    """A parameter of the mechanism is outside its range."""


class SourceError(InputError):
    """A file, table, column or query cannot be read as asked."""


class OutputError(InputError):
    """The result cannot be written where it was meant to go."""


class MissingExtraError(HeadcountError):
    """An optional package is needed and not installed."""

    exit_code = 2

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this needs the package {package!r}, which is not installed. The extra {extra!r} "
            f"brings it: python -m pip install '/path/to/headcount[{extra}]'"
        )


class EngineError(HeadcountError):
    """The engine failed while running the query; nothing was released."""

    exit_code = 4


class LedgerError(HeadcountError):
    """A ledger is missing, or cannot do what was asked; nothing was released."""

    exit_code = 2


class BudgetRefusedError(LedgerError):
    """The budget of a dataset does not allow this release; nothing was spent."""

    exit_code = 3


class LedgerUnavailableError(LedgerError):
    """The ledger cannot be read or written now; nothing was released.

    What was reserved before stays reserved, and counts as spent, unless its owner returned it.
    """

    exit_code = 4


class VerificationError(LedgerError):
    """A ledger was tampered with, or a release is not one that it was charged for."""

    exit_code = 5


class CancelledError(HeadcountError):
    """The release was cancelled; nothing was released."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("the release was cancelled")


class NotPrivateError(HeadcountError):
    """A release made with a seed was used where a private one is needed."""

    exit_code = 2


class BudgetExceededError(HeadcountError):
    """A mechanism asked the privacy filter for more than is left.

    Mechanisms ask what they can afford before they act, so this is a bug in a
    mechanism. The filter raises it rather than let the step run.
    """
