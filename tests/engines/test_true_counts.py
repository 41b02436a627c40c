"""The counts that every method starts from are those of plain Python, on every engine."""

from collections import Counter

import pyarrow as pa
import pytest

from headcount.engines import Session
from headcount.engines.duckdb.count import DuckDB
from headcount.inputs import Request, open_source
from headcount.views.bounded import bounded_counts
from headcount.views.engine_population import EnginePopulation
from headcount.views.engine_view import EngineView
from headcount.views.exact_counts import count_items_and_users
from headcount.views.histogram import count_distinct_users
from tests.engines.servers import ENGINES

# Some rows stand twice or three times, and some have no user, no item, or neither.
PAIRS = [(f"u{user}", f"i{item}") for item in range(12) for user in range(5 + item * item // 3)]
ROWS = PAIRS * 2 + PAIRS[::3] + [(None, "i1"), ("u1", None), (None, None)] * 4
TRUE = Counter(item for _, item in PAIRS)
USERS = len({user for user, _ in PAIRS})
COUNTS = {
    "pcr-paper": lambda events: count_distinct_users(events, "who", ["what"], 99),
    "pcr": lambda events: count_items_and_users(events, "who", ["what"], 99),
    "auto": lambda events: EnginePopulation(events, "who", ["what"]).highest_counts(99),
    "threshold": lambda events: bounded_counts(events, "who", ["what"], 12, 1),
    "threshold, high counts": lambda events: bounded_counts(events, "who", ["what"], 12, 20),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_users_count_once_and_what_is_null_does_not(engine, on_engine):
    users, items = (pa.array([row[n] for row in ROWS], pa.string()) for n in (0, 1))
    call = on_engine(engine, pa.table({"who": users, "what": items}))
    for method, counted in COUNTS.items():
        with Session() as session:
            request = Request(call.get("table"), engine=call.get("engine"))
            found = counted(open_source(session, call["source"], request))
        counts = zip(found.items["what"].to_pylist(), found.counts.to_pylist(), strict=True)
        least = 20 if "high" in method else 1
        assert found.users == (USERS if method == "pcr" else None)
        assert dict(counts) == {item: n for item, n in TRUE.items() if n >= least}, method
    assert any(n < 20 for n in TRUE.values())


def test_users_are_counted_by_exact_ids_wherever_their_number_is_used(monkeypatch):
    """Were two ids taken for one, a user could raise a count and not the number of users.

    All users have the same hash here; what takes hashes counts one user for each item.
    """
    import ibis

    monkeypatch.setattr(DuckDB, "user_key", lambda self, user: ibis.literal(1))
    table = pa.table({"who": [user for user, _ in PAIRS], "what": [item for _, item in PAIRS]})
    with Session() as session:
        view = EngineView(open_source(session, table, Request()), "who", ["what"])
        exact = view.highest_counts(99, with_users=True)
        assert exact.users == USERS
        assert sorted(exact.values.tolist()) == sorted(TRUE.values())
        hashed = view.highest_counts(99)
        assert (hashed.users, set(hashed.values.tolist())) == (None, {1})
