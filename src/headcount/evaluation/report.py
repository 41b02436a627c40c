"""A comparison, for people and for programs, marked as not private."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict

from headcount.evaluation.summary import HEADER, SummaryRow, shown
from headcount.outputs.table import aligned


def to_table(rows: Sequence[SummaryRow]) -> str:
    """Return aligned columns under a line that marks them as not private."""
    to_right = [False, *[True] * (len(HEADER) - 1)]
    return "NOT PRIVATE\n" + aligned(HEADER, [shown(row) for row in rows], to_right)


def to_csv(rows: Sequence[SummaryRow]) -> str:
    """Return every figure, with a column ``private`` that is always False."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [*SummaryRow.__dataclass_fields__, "private"], lineterminator="\n")
    writer.writeheader()
    writer.writerows({**asdict(row), "private": False} for row in rows)
    return out.getvalue()
