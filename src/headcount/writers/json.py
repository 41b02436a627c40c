"""One JSON object: what is promised, what was spent, and the items."""

import json

from headcount.canonical import plain_rows
from headcount.release import Release


def to_json(release: Release) -> bytes:
    """Return a release as JSON, one item to a line."""
    head = json.dumps(release.guarantee.to_dict(), ensure_ascii=False, allow_nan=False, indent=2)
    lines = [
        json.dumps(
            dict(zip(release.table.column_names, row, strict=True)),
            ensure_ascii=False,
            allow_nan=False,
        )
        for row in plain_rows(release.table)
    ]
    items = "".join(
        f"\n    {line}{',' if n < len(lines) else ''}" for n, line in enumerate(lines, 1)
    )
    return f'{head[:-2]},\n  "items": [{items}{chr(10) + "  " if lines else ""}]\n}}\n'.encode()
