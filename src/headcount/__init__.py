"""How many distinct people have each item, published with differential privacy.

import headcount

budget = headcount.Budget(epsilon=3, delta=1e-6)
release = headcount.release("events.parquet", user="user_id", item="query", budget=budget)
release.to_pandas()
print(release.guarantee)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headcount.api import release, release_counts
    from headcount.cautions import PrivacyWarning
    from headcount.engines.cancel import CancelToken
    from headcount.errors import (
        BudgetError,
        BudgetExceededError,
        BudgetRefusedError,
        CancelledError,
        EngineError,
        HeadcountError,
        InputError,
        LedgerError,
        LedgerUnavailableError,
        MissingExtraError,
        NotPrivateError,
        OutputError,
        SettingsError,
        SourceError,
        VerificationError,
    )
    from headcount.ledger.ledger import Ledger
    from headcount.pipeline import ask
    from headcount.planning import Estimate, Forecast, plan
    from headcount.privacy.accounting.budget import Budget
    from headcount.question import Question
    from headcount.results.guarantee import Guarantee
    from headcount.results.notices import Notice
    from headcount.results.release import Release

    __version__: str

__all__ = [
    "Budget",
    "BudgetError",
    "BudgetExceededError",
    "BudgetRefusedError",
    "CancelToken",
    "CancelledError",
    "EngineError",
    "Estimate",
    "Forecast",
    "Guarantee",
    "HeadcountError",
    "InputError",
    "Ledger",
    "LedgerError",
    "LedgerUnavailableError",
    "MissingExtraError",
    "NotPrivateError",
    "Notice",
    "OutputError",
    "PrivacyWarning",
    "Question",
    "Release",
    "SettingsError",
    "SourceError",
    "VerificationError",
    "__version__",
    "ask",
    "plan",
    "release",
    "release_counts",
]

# Each is imported on first use: a command needs few of them.
_HOMES = {
    "api": ["release", "release_counts"],
    "cautions": ["PrivacyWarning"],
    "engines.cancel": ["CancelToken"],
    "ledger.ledger": ["Ledger"],
    "pipeline": ["ask"],
    "planning": ["Estimate", "Forecast", "plan"],
    "privacy.accounting.budget": ["Budget"],
    "question": ["Question"],
    "results.guarantee": ["Guarantee"],
    "results.notices": ["Notice"],
    "results.release": ["Release"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # to a type checker, a module with a __getattr__ has every name

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name == "__version__":
            from importlib.metadata import version

            found = version("headcount")
        elif name in __all__:
            from importlib import import_module

            found = getattr(import_module(f"headcount.{_HOME.get(name, 'errors')}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found
        return found

    def __dir__():  # noqa: ANN202
        return sorted({*globals(), *__all__})
