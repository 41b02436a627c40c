"""Distinct users per item, with a bound on how many items of each user count."""

from collections.abc import Sequence
from functools import reduce

from headcount.inputs.open import Events
from headcount.views.histogram import TopCounts, unused_name
from headcount.views.passes import Passes


def bounded_counts(
    events: Events,
    user: str,
    items: Sequence[str],
    max_items_per_user: int,
    at_least: int,
    *,
    passes: Passes | None = None,
) -> TopCounts:
    """Count the users of each item, with a bound on the items of each user; leave low counts out.

    Formal guarantee: one more user raises at most ``max_items_per_user`` of the counts by 1 and
    lowers none, and the rows are in the order of their items. Which items of a user count is a
    fixed function of the user's id and items, pseudo-random so that no item is favoured.

    Edge cases: as for `headcount.views.histogram.count_distinct_users`.
    """
    import ibis

    passes = passes or Passes(events, user, items)
    scattered, place, count = (unused_name(name, items) for name in ("scattered", "place", "count"))
    pairs = passes.pairs
    columns = [pairs[column] for column in (passes.user, *items)]
    pairs = pairs.mutate(**{scattered: reduce(events.engine.stable_hash, columns)})
    # Ties are broken by the items, so that the order in which the engine works has no influence.
    by_user = ibis.window(group_by=passes.user, order_by=[scattered, *items])
    pairs = pairs.mutate(**{place: ibis.row_number().over(by_user)})
    counted = pairs.filter(pairs[place] < max_items_per_user).group_by(items)
    counts = counted.agg(**{count: ibis._.count().cast("int64")})
    high = counts.filter(counts[count] >= at_least).order_by(items)
    result = passes.run(high)
    return TopCounts(result.select(list(items)), result[count])
