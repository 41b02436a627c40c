"""A public list on every engine: the same answers about who has what, to the last user."""

import math

import numpy as np
import pyarrow as pa
import pytest

import headcount as hc
from headcount.engines import Session
from headcount.inputs import Request, open_source
from headcount.privacy.questions import GRID, RATION
from headcount.views.known_population import KnownPopulation
from tests.privacy.population import both
from tests.privacy.test_known import Listed

NAMES = ["a", "A", "a ", "ä", "", "nobody's", "'", "b"]
generator = np.random.default_rng(3)
CROWD = [
    {[*NAMES, "other", "B"][item] for item in generator.choice(10, size, replace=False)}
    - {"nobody's"}
    for size in generator.integers(1, 9, 60)
]
ROWS = [(f"u{user}", item) for user, mine in enumerate(CROWD) for item in sorted(mine)]
EVENTS = pa.table(
    {
        "who": [user for user, _ in ROWS] * 2 + ["u1", None],
        "what": [item for _, item in ROWS] * 2 + [None, "a"],
    }
)


@pytest.mark.parametrize(
    "engine", ["duckdb", "duckdb file", "polars", "sqlite", "postgres", "spark"]
)
def test_answers_are_those_of_plain_python(on_engine, engine):
    call = on_engine(engine, EVENTS)
    source = call.pop("source")
    plain = Listed([{NAMES.index(x) for x in mine if x in NAMES} for mine in CROWD], range(8))
    with Session() as session:
        request = Request(**call, columns=["who", "what"], user="who")
        events = open_source(session, source, request)
        known = KnownPopulation(events, "who", ["what"], pa.table({"what": NAMES}))
        assert known.sizes([1, 2, 3, 4, 6, 8]) == plain.sizes([1, 2, 3, 4, 6, 8])
        for bound in (1, 3, 8):
            costs = np.full(8, math.ceil(RATION * (1 - 1e-6) / bound), dtype=np.int64)
            sums = known.clipped_sums(costs).items
            assert sums.tolist() == plain.clipped_sums(costs).items.tolist()
            listed = known.clipped_sums(costs, RATION // 3)
            assert both(listed) == both(plain.clipped_sums(costs, RATION // 3))
        assert sums.tolist() == [GRID * sum(name in mine for mine in CROWD) for name in NAMES]
        assert known.found_named(np.arange(8))["what"].to_pylist() == NAMES


def test_a_release_on_an_engine(on_engine):
    call = on_engine("duckdb file", EVENTS)
    release = hc.release(
        call.pop("source"), **call, user="who", item="what", budget=hc.Budget(rho=50),
        items_from=NAMES,
    )  # fmt: skip
    true = {name: sum(name in mine for mine in CROWD) for name in NAMES}
    for row in release.table.to_pylist():
        assert abs(row["count"] - true[row["what"]]) <= 6 * row["std_error"] + 1
    assert set(release.table["what"].to_pylist()) == set(NAMES)
