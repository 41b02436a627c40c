"""The true counts of a source, which the mechanism would hide."""

from typing import Any

from headcount.engines import Session
from headcount.inputs import Request, open_source
from headcount.views.histogram import check_columns, count_distinct_users


def counts(source: Any, user: str = "u", item: Any = "i", limit: int = 100, **options: Any) -> dict:
    """Return {item or tuple of items: count}, as the engine returns them."""
    items = [item] if isinstance(item, str) else list(item)
    with Session() as session:
        events = open_source(session, source, Request(columns=[user, *items], **options))
        check_columns(events, user, items)
        top = count_distinct_users(events, user, items, limit)
    columns = [column.to_pylist() for column in top.items.columns]
    names = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    assert len(set(map(repr, names))) == len(names)
    return dict(zip(names, top.counts.to_pylist(), strict=True))
