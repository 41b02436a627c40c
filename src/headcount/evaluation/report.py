"""A comparison, for people and for programs, marked as not private."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from headcount.evaluation.summary import HEADER, SummaryRow, shown
from headcount.outputs.table import aligned


def to_table(rows: Sequence[SummaryRow], epsilons: Mapping[float, float] | None = None) -> str:
    """Return aligned columns under a line that marks them as not private.

    Args:
        rows: what is shown.
        epsilons: the ε of each ρ, if it is to be shown as well.
    """
    header, cells = list(HEADER), [shown(row) for row in rows]
    if epsilons:
        header.insert(1, "ε")
        for row, line in zip(rows, cells, strict=True):
            line.insert(1, f"{epsilons[row.rho]:g}")
    to_right = [False, *[True] * (len(header) - 1)]
    return "NOT PRIVATE\n" + aligned(header, cells, to_right)


def to_csv(rows: Sequence[SummaryRow]) -> str:
    """Return every figure, with a column ``private`` that is always False."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [*SummaryRow.__dataclass_fields__, "private"], lineterminator="\n")
    writer.writeheader()
    writer.writerows({**asdict(row), "private": False} for row in rows)
    return out.getvalue()
