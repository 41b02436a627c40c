"""All results, as CSV and as Markdown."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from experiments.store import Description
from headcount.evaluation.summary import HEADER, SummaryRow, shown

#: The rows of each set, by name.
Results = Mapping[str, Sequence[SummaryRow]]


def to_csv(results: Results) -> str:
    """Return every figure, with the name of its set in front."""
    out = io.StringIO()
    writer = csv.DictWriter(out, ["set", *SummaryRow.__dataclass_fields__], lineterminator="\n")
    writer.writeheader()
    for name, rows in results.items():
        writer.writerows({"set": name, **asdict(row)} for row in rows)
    return out.getvalue()


def to_markdown(descriptions: Sequence[Description], results: Results) -> str:
    """Return the descriptions of the sets, and a table of results for each."""
    lines = [
        "# Measured",
        "",
        "Means over the trials ± standard deviations. *within* is the number of released counts "
        "within 10 % of the truth, *beyond* is the share that is not, and *bias* is the mean of "
        "(noisy − true)/true.",
        "",
        *markdown_table(
            ["set", "origin", "rows", "users", "items", "items per user, 50/75/95/99 %"],
            [
                [d.name, d.origin, f"{d.rows:,}", f"{d.users:,}", f"{d.items:,}",
                 "/".join(map(str, d.percentiles))]
                for d in descriptions
            ],
            texts=2,
        ),
    ]  # fmt: skip
    for description in descriptions:
        rows = [shown(row) for row in results[description.name]]
        lines += ["", f"## {description.name}", "", *markdown_table(HEADER, rows)]
    return "\n".join(lines) + "\n"


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1
) -> list[str]:
    """Return the lines of a table whose first columns are text and whose others are numbers."""
    rule = [*["---"] * texts, *["--:"] * (len(header) - texts)]
    return [f"| {' | '.join(line)} |" for line in (header, rule, *rows)]
