"""One JSON object: the guarantee, what was spent, and the items."""

from collections.abc import Mapping
from typing import Any

from headcount.outputs.escapes import to_json_text
from headcount.results.canonical import document_of
from headcount.results.release import Release


def to_json(release: Release) -> bytes:
    """Return a release as JSON, with one item per line."""
    return document_to_json(document_of(release.table))


def document_to_json(document: Mapping[str, Any]) -> bytes:
    """Return the published part of a release as JSON, with one item per line."""
    head = to_json_text({key: document[key] for key in document if key != "items"}, indent=2)
    lines = [to_json_text(item) for item in document["items"]]
    items = "".join(
        f"\n    {line}{',' if n < len(lines) else ''}" for n, line in enumerate(lines, 1)
    )
    return f'{head[:-2]},\n  "items": [{items}{chr(10) + "  " if lines else ""}]\n}}\n'.encode()
