"""One JSON object: what is promised, what was spent, and the items."""

from headcount.outputs.escapes import to_json_text
from headcount.results.canonical import account_of, plain_rows
from headcount.results.release import Release


def to_json(release: Release) -> bytes:
    """Return a release as JSON, one item to a line."""
    head = to_json_text(account_of(release.table), indent=2)  # as it was written, of any form
    lines = [
        to_json_text(dict(zip(release.table.column_names, row, strict=True)))
        for row in plain_rows(release.table)
    ]
    items = "".join(
        f"\n    {line}{',' if n < len(lines) else ''}" for n, line in enumerate(lines, 1)
    )
    return f'{head[:-2]},\n  "items": [{items}{chr(10) + "  " if lines else ""}]\n}}\n'.encode()
