"""Two passes over one snapshot, joined with a public table, on every engine."""

import math
from collections import Counter

import ibis
import pyarrow as pa
import pytest

from headcount.engines import Session
from headcount.inputs import Request, open_source
from headcount.views.passes import Passes
from tests.engines.servers import ENGINES

UNIT = 1 << 20

# Users with different numbers of items; some rows twice, some NULL.
ROWS = [(f"u{u}", f"i{i}") for u in range(30) for i in range(1 + u % 5)]
ROWS += [(None, "i0"), ("u1", None), *ROWS[:20]]


def table():
    return pa.table({"who": [u for u, _ in ROWS], "what": [i for _, i in ROWS]})


def opened(session, call):
    request = Request(call.get("table"), engine=call.get("engine"))
    return open_source(session, call["source"], request)


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_per_user_summed_per_item(engine, on_engine):
    """Each user spreads l2-norm 1 over the items a public table leaves, in integers."""
    left = ["i1", "i2", "i3", "i4"]
    with Session() as session:
        passes = Passes(opened(session, on_engine(engine, table())), "who", ["what"])
        public = passes.public(pa.table({"what": left, "noise": [1, 2, 3, 4]}))
        pairs = passes.pairs.join(public, "what")
        per_user = pairs.group_by(passes.user).agg(n=ibis._.count())
        # isqrt(4^k / n) for the few n there are, as a public table too.
        weights = passes.public(
            pa.table({"n": range(1, 6), "weight": [math.isqrt(UNIT**2 // n) for n in range(1, 6)]})
        )
        weighted = pairs.join(per_user, passes.user).join(weights, "n")
        per_item = weighted.group_by("what").agg(total=ibis._.weight.sum().cast("int64"))
        found = passes.run(per_item, most_rows=100)
    distinct = {(u, i) for u, i in ROWS if u and i in left}
    items_of = Counter(u for u, _ in distinct)
    expected = Counter()
    for u, i in distinct:
        expected[i] += math.isqrt(UNIT**2 // items_of[u])
    assert dict(zip(*(found[c].to_pylist() for c in ("what", "total")), strict=True)) == expected


DISTINCT = sorted({(u, i) for u, i in ROWS if u and i})
# A public rank and cost of each item; the costs are too large for a float to add up.
RANK = {"i3": 1, "i0": 2, "i4": 3, "i1": 4, "i2": 5}
COST = {item: 2**58 + rank for item, rank in RANK.items()}
RATION = 3 * 2**58 + 7


@pytest.fixture
def passes(request, on_engine):
    with Session() as session:
        yield Passes(opened(session, on_engine(request.param, table())), "who", ["what"])


on_all = pytest.mark.parametrize("passes", ENGINES, indirect=True)


def ranked(passes):
    rows = {"what": list(RANK), "rank": list(RANK.values()), "cost": list(COST.values())}
    return passes.pairs.join(passes.public(pa.table(rows)), "what")


def spent_so_far(passes):
    """What a user has spent when an item's turn comes, that item included."""
    pairs = ranked(passes)
    window = ibis.window(group_by=passes.user, order_by="rank", rows=(None, 0))
    return pairs.mutate(spent=pairs["cost"].sum().over(window).cast("int64"))


def spending():
    for user, item in DISTINCT:
        earlier = [i for u, i in DISTINCT if u == user and RANK[i] <= RANK[item]]
        yield user, item, sum(COST[i] for i in earlier)


def rows_of(table, *columns):
    return sorted(zip(*(table[column].to_pylist() for column in columns), strict=True))


@on_all
def test_pairs_joined_with_a_public_table(passes):
    found = passes.run(ranked(passes).select("what", "rank", "cost").distinct(), most_rows=100)
    assert rows_of(found, "what", "rank", "cost") == sorted((i, RANK[i], COST[i]) for i in RANK)


@on_all
def test_items_counted_per_user_and_users_per_number(passes):
    per_user = passes.pairs.group_by(passes.user).agg(n=ibis._.count())
    found = passes.run(per_user.group_by("n").agg(users=ibis._.count()), most_rows=100)
    expected = Counter(Counter(u for u, _ in DISTINCT).values())
    assert rows_of(found, "n", "users") == sorted(expected.items())


@on_all
def test_what_users_have_spent_by_a_public_rank(passes):
    """A running sum per user, in whole numbers; what exceeds the ration is dropped."""
    kept = spent_so_far(passes).filter(ibis._.spent <= RATION)
    per_item = kept.group_by("what").agg(
        users=ibis._.count(), most=ibis._.spent.max(), least=ibis._.spent.min()
    )
    found = passes.run(per_item, most_rows=100)
    within = [(item, spent) for _, item, spent in spending() if spent <= RATION]
    expected = []
    for item in {item for item, _ in within}:
        spents = [spent for i, spent in within if i == item]
        expected.append((item, len(spents), max(spents), min(spents)))
    assert rows_of(found, "what", "users", "most", "least") == sorted(expected)
    assert len(within) < len(DISTINCT)


@on_all
def test_users_for_whom_a_condition_holds_several_at_once(passes):
    """How many have run out of their ration, by several ranks, in one query."""
    cuts = [2, 4, 5]
    over = spent_so_far(passes)
    per_user = over.group_by(passes.user).agg(
        **{f"out{n}": (over["spent"] > n * 2**56 * 3).max() for n in cuts}
    )
    query = per_user.agg(users=ibis._.count(), **{f"out{n}": ibis._[f"out{n}"].sum() for n in cuts})
    found = passes.run(query, most_rows=1).to_pylist()
    most = {user: 0 for user, _ in DISTINCT}
    for user, _, spent in spending():
        most[user] = max(most[user], spent)
    expected = {f"out{n}": sum(s > n * 2**56 * 3 for s in most.values()) for n in cuts}
    assert found == [{"users": len(most), **expected}]
    assert len(set(expected.values())) > 1


@on_all
def test_whole_quotients_are_exact(passes):
    """As 4^k // n, and sums of them; floats would lose the last digits."""
    per_user = passes.pairs.group_by(passes.user).agg(n=ibis._.count())
    one = ibis.literal(4**30, type="int64")
    share = passes.quotient(one, per_user["n"].cast("int64"))
    shares = per_user.mutate(share=share, back=passes.quotient(share, ibis.literal(3, "int64")))
    found = passes.run(shares.group_by("n").agg(s=ibis._.share.max(), b=ibis._.back.max()), 100)
    numbers = set(Counter(u for u, _ in DISTINCT).values())
    assert rows_of(found, "n", "s", "b") == [(n, 4**30 // n, 4**30 // n // 3) for n in numbers]


@on_all
def test_pairs_without_the_items_of_a_public_table(passes):
    """What a later round of discovery works on."""
    found = passes.public(pa.table({"what": ["i0", "i3"]}))
    left = passes.pairs.anti_join(found, "what")
    counts = passes.run(left.group_by("what").agg(users=ibis._.count()), most_rows=100)
    expected = Counter(i for _, i in DISTINCT if i not in ("i0", "i3"))
    assert rows_of(counts, "what", "users") == sorted(expected.items())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pass_returns_no_more_rows_than_it_may(engine, on_engine):
    with Session() as session:
        passes = Passes(opened(session, on_engine(engine, table())), "who", ["what"])
        assert passes.run(passes.pairs, most_rows=7).num_rows == 7
