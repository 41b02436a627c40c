"""The population of a rationed release, on every engine and whatever its columns are called."""

import numpy as np
import pyarrow as pa
import pytest

from headcount.engines import Session
from headcount.population import EnginePopulation
from headcount.sources import Request, open_source
from tests.engines.conftest import ENGINES

PAIRS = [(u, 1000 - i) for u in range(60) for i in range(1 + u % 7)]
NAMES = ["weight", "total", "place", "cost", "counted", "share", "spent", "items", "user", "lost"]


def pairs(name):
    users, items = (pa.array([pair[n] for pair in PAIRS]) for n in (0, 1))
    return pa.table({"who": users, name: items})


def answers(name, source=None, **request):
    with Session() as session:
        events = open_source(session, source or pairs(name), Request(**request))
        population = EnginePopulation(events, "who", [name])
        weights = population.weights(2**14, 100, 1).tolist()
        population.found([1, 3, 5, 6])
        costs = np.array([2**50, 2**51, 2**51, 2**50])
        among = np.array([False, True, True, False])
        return (
            weights,
            population.found_names()[name].to_pylist(),
            population.sizes([1, 2, 4]),
            population.clipped_sums(costs).tolist(),
            population.lost(costs, among, 10**9),
        )


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_an_item_column_changes_nothing(name):
    assert answers(name) == answers("what")


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_answers_alike(engine, on_engine):
    assert answers("what", **on_engine(engine, pairs("what"))) == answers("what")


def test_found_items_are_in_the_order_of_their_names():
    assert answers("what")[1] == [995, 997, 999, 1000]
