"""How many distinct people have each item, published with differential privacy.

import headcount

budget = headcount.Budget(epsilon=3, delta=1e-6)
release = headcount.release("events.parquet", user="user_id", item="query", budget=budget)
release.to_pandas()
print(release.guarantee)
"""

from headcount.starting import importing

with importing():
    from importlib.metadata import version as _version

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

__version__ = _version("headcount")

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
