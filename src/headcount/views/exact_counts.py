"""Distinct users per item and in total, from one snapshot and by exact ids."""

from collections.abc import Sequence

from headcount.inputs.open import Events
from headcount.views.histogram import TopCounts, highest, unused_name
from headcount.views.passes import Passes


def count_items_and_users(
    events: Events,
    user: str,
    items: Sequence[str],
    limit: int,
    *,
    passes: Passes | None = None,
) -> TopCounts:
    """Return the highest ``limit`` counts of distinct users, and the number of users.

    Formal guarantee: one more user who has an item raises the number of users by exactly 1, and can
    raise any set of the counts, each by exactly 1; none falls. A hash of ids would not do: if two
    ids had the same hash, a user could raise counts but not the number of users.

    Edge cases: as for `headcount.views.histogram.count_distinct_users`. A user without an item, or
    with NULLs only, does not count.
    """
    import ibis

    passes = passes or Passes(events, user, items)
    count, number = unused_name("count", items), "users"
    counted = passes.pairs.group_by(items).agg(**{count: ibis._.count().cast("int64")})
    top = highest(events, counted, items, count, limit)
    everybody = passes.pairs.select(passes.user).distinct()
    users = passes.run(everybody.aggregate(**{number: everybody.count().cast("int64")}), 1)
    return TopCounts(top.items, top.counts, int(users[number].to_pylist()[0]))
