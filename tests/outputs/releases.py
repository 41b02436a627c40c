"""Releases with given items, as the mechanism would hand them on."""

from typing import Any

import numpy as np
import pyarrow as pa

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.mechanisms import MechanismResult
from headcount.privacy.mechanisms.pcr.settings import PRESETS
from headcount.results.guarantee import Guarantee
from headcount.results.release import Release, build_release

BUDGET = Budget(rho=1, delta=1e-6)


def release_of(items: dict[str, Any] | pa.Table, *, private: bool = True) -> Release:
    """Return a release of some item columns; the counts are 100, 101, ..."""
    table = items if isinstance(items, pa.Table) else pa.table(items)
    number = table.num_rows
    counts = np.arange(100.0, 100 + number)
    made = MechanismResult.of_counts(
        items=table,
        estimates=counts,
        errors=np.full(number, 2.5),
        noisy=counts,
        sigmas=np.full(number, 2.5),
        spent=Cost(BUDGET.rho_for_filter / 2, BUDGET.delta_selection / 2),
        settings={**PRESETS["pcr"].to_dict(), "levels_run": 3},
    )
    guarantee = Guarantee.of(BUDGET, method="pcr", private=private)
    return build_release(made, guarantee)
