"""One JSON object: what is promised, what was spent, and the items."""

import json

from headcount.release import Release
from headcount.writers.plain import plain


def to_json(release: Release) -> bytes:
    """Return a release as JSON, one item to a line."""
    head = json.dumps(release.account(), ensure_ascii=False, allow_nan=False, indent=2)
    lines = [
        json.dumps(
            {name: plain(value) for name, value in row.items()}, ensure_ascii=False, allow_nan=False
        )
        for row in release.table.to_pylist()
    ]
    items = "".join(
        f"\n    {line}{',' if n < len(lines) else ''}" for n, line in enumerate(lines, 1)
    )
    return f'{head[:-2]},\n  "items": [{items}{chr(10) + "  " if lines else ""}]\n}}\n'.encode()
