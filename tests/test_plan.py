"""Forecasts: of the method that is used, near what comes out, and never a release."""

import dataclasses
import math
import re

import numpy as np
import pyarrow as pa
import pytest

import headcount as hc
from headcount.evaluation.release import simulated
from headcount.evaluation.standin import Habits, Shape, made_up
from headcount.planning import simulation, typical_forecasts
from headcount.planning.simulation import Planner
from headcount.privacy.mechanisms import Options, names

GUESS = {"users": 3000, "items_per_user": 5, "items": 200}
BUDGET = hc.Budget(epsilon=3)
NOBODY = pa.table({"u": pa.array([None], pa.int64()), "i": [2]})


def table_of(data):
    return pa.table({"u": data.users, "i": data.items})


@pytest.fixture(scope="module")
def data():
    return made_up(Shape(**GUESS), Habits(1.0, 1.0), GUESS["users"], seed=77)


@pytest.fixture(scope="module")
def guessed():
    return hc.plan(budget=BUDGET, **GUESS)


def released(data, budget, method="auto"):
    made = [
        hc.release(
            table_of(data), user="u", item="i", budget=budget, method=method, unsafe_seed=seed
        )
        for seed in (1, 2)
    ]
    return np.mean([len(one) for one in made])


def test_a_guess_that_is_right_tells_what_comes_out(monkeypatch, guessed, data):
    """The number varies by 13 % from run to run, so that means of 12 are compared."""
    planner = Planner(BUDGET, "auto", Options(), lambda step: None)
    truth = np.mean([len(simulated(planner.mechanism(), data, seed).items) for seed in range(12)])
    monkeypatch.setattr(simulation, "RUNS", 12)
    assert hc.plan(budget=BUDGET, **GUESS).released.typical == pytest.approx(truth, rel=0.15)
    assert guessed.released.low <= truth <= guessed.released.high
    assert guessed.basis == "guess"
    assert guessed.chosen[0] in ("pcr", "rationed")


@pytest.mark.parametrize("method", ["auto", "pcr", "pcr-paper", "rationed"])
def test_a_stand_in_tells_what_comes_out(data, method):
    other = made_up(Shape(**GUESS), Habits(1.0, 1.0), GUESS["users"], seed=78)
    told = hc.plan(budget=BUDGET, like=table_of(other), user="u", item="i", method=method)
    assert told.released.typical == pytest.approx(released(data, BUDGET, method), rel=0.3)
    assert (told.basis, told.users, told.items) == ("stand-in", 3000, other.number_of_items)
    assert told.counts[1] == other.counts[0]
    assert told.simulated_users == told.users


def test_the_figures_are_those_of_the_simulations(data):
    told = hc.plan(budget=BUDGET, like=table_of(data), user="u", item="i", method="pcr")
    planner = Planner(BUDGET, "pcr", Options(), lambda step: None)
    runs = [simulated(planner.mechanism(), data, seed) for seed in range(simulation.RUNS)]
    sizes = [len(run.items) for run in runs]
    assert told.released == (np.mean(sizes), min(sizes), max(sizes))
    assert told.smallest.low == min(run.counts.estimates.min() for run in runs)
    off = [np.abs(r.counts.estimates / data.counts[r.items] - 1) for r in runs]
    assert told.within.typical == pytest.approx(np.mean([np.mean(each <= 0.1) for each in off]))
    errors = [np.median(run.counts.errors / run.counts.estimates) for run in runs]
    assert told.std_error.high == pytest.approx(max(errors))


@pytest.mark.parametrize("method", ["auto", "pcr", "rationed"])
def test_fewer_users_stand_for_all(monkeypatch, method):
    """A third of 9,000 users, at nine times the ρ, give the same within 25 %.

    Of `rationed` the number varies by 10 % from run to run, so that two means of three differ by
    more than that once in 500 times; the seeds are fixed.
    """
    data = made_up(Shape(9000, 8, 300), Habits(1.0, 1.0), 9000, seed=5)
    asked = {"budget": BUDGET, "like": table_of(data), "user": "u", "item": "i", "method": method}
    whole = hc.plan(**asked)
    monkeypatch.setattr(simulation, "MOST_PAIRS_READ", data.users.size // 3)
    part = hc.plan(**asked)
    assert whole.simulated_users == whole.users == part.users == 9000
    assert part.simulated_users in (2999, 3000)
    assert "users represented all" in str(part)
    assert part.released.typical == pytest.approx(whole.released.typical, rel=0.25)
    assert part.smallest.typical == pytest.approx(whole.smallest.typical, rel=0.4)
    assert part.counts == whole.counts


def test_a_sample_has_the_same_delta():
    """Of ε a third of δ is for selection, of ρ nine tenths: not to be mixed up by scaling ρ."""
    for budget in (hc.Budget(epsilon=3), hc.Budget(rho=0.2)):
        scaled = Planner(budget, "pcr", Options(), print).mechanism(5.0).budget
        assert scaled.rho == pytest.approx(25 * budget.rho)
        assert (scaled.delta, scaled.delta_selection) == (budget.delta, budget.delta_selection)
    assert budget.rho == 0.2


def test_one_user_with_a_great_many_items(monkeypatch):
    """More than a guess may have, and than is simulated at once."""
    monkeypatch.setattr(simulation, "MOST_PAIRS_READ", 10_000)
    items = pa.table({"u": [1] * 20_000, "i": range(20_000)})
    told = hc.plan(budget=BUDGET, like=items, user="u", item="i", method="pcr")
    assert (told.users, told.items_per_user, told.simulated_users) == (1, 20_000, 1)


def test_small_counts_of_a_sample_are_said_to_be_a_lower_bound(monkeypatch, data):
    monkeypatch.setattr(simulation, "MOST_PAIRS_READ", data.users.size // 20)
    asked = {"like": table_of(data), "user": "u", "item": "i"}
    told = hc.plan(budget=hc.Budget(rho=5), **asked)
    assert told.at_least
    assert "at least" in told.table
    assert "more may come out" in str(told)
    assert told.released.low <= released(data, hc.Budget(rho=5))
    coarse = {"users": 10**11, "items_per_user": 5000, "items": 10**14}
    nearly_nothing = hc.plan(budget=hc.Budget(rho=1), **coarse)
    assert nearly_nothing.at_least
    assert "Nothing came out" not in str(nearly_nothing)


def test_large_guesses_are_simulated_in_part_and_budgets_of_all_sizes():
    guess = {"users": 10**9, "items_per_user": 3, "items": 10**4}
    told = hc.plan(budget=hc.Budget(rho=1e-9), **guess, method="pcr")
    assert told.simulated_users < 10**6
    assert told.released.typical >= 1
    for rho in (1e-300, 1e-6):
        nothing = hc.plan(budget=hc.Budget(rho=rho), **GUESS)
        assert nothing.released == (0, 0, 0)
        assert nothing.smallest is nothing.within is nothing.std_error is None
        assert "Nothing came out" in str(nothing)
        assert "nan" not in str(nothing)
    everything = hc.plan(budget=hc.Budget(rho=1e6), **GUESS)
    assert everything.released.typical > 180
    assert everything.within.typical == 1


@pytest.mark.parametrize("method", names())
@pytest.mark.parametrize("guess", [(1, 1, 1), (1, 3, 3), (7, 2, 5)], ids=str)
def test_the_smallest_guesses(method, guess):
    bound = 3 if method == "threshold" else None
    asked = dict(zip(GUESS, guess, strict=True))
    told = hc.plan(budget=BUDGET, **asked, method=method, max_items_per_user=bound)
    assert told.released.high <= guess[2]


def test_more_budget_and_more_users_give_more():
    def items(rho, users=2000):
        return hc.plan(
            budget=hc.Budget(rho=rho), users=users, items_per_user=5, items=200
        ).released.typical

    assert items(0.01) < items(0.1) < items(1)
    assert items(0.05) < items(0.05, 20_000)


def test_a_forecast_says_what_it_is(guessed, data):
    text = str(guessed)
    assert text.startswith("A forecast from a guess: 3,000 users, 5 items each on average, 200 ")
    assert "No data was read, nothing was charged and nothing was released." in text
    assert guessed.table in text
    assert all(line in text for line in guessed.summary())
    assert guessed == hc.plan(budget=BUDGET, **GUESS)  # seeded
    assert not isinstance(guessed, hc.Release)
    with pytest.raises(dataclasses.FrozenInstanceError):
        guessed.users = 1
    told = str(hc.plan(budget=BUDGET, like=table_of(data), user="u", item=["i"], method="pcr"))
    assert "The stand-in was read without any privacy, so it must not be secret." in told
    assert "nothing was charged" in told.lower()


def test_without_a_guess_there_are_typical_shapes(monkeypatch):
    monkeypatch.setattr("headcount.planning.api.TYPICAL", ((500, 3, 50), (3000, 20, 300)))
    told = typical_forecasts(BUDGET, "pcr", Options(), lambda step: None)
    assert [each.users for each in told] == [500, 3000]
    assert told[0].released.typical < told[1].released.typical
    bound = Options(max_items_per_user=2)
    held = typical_forecasts(BUDGET, "threshold", bound, lambda step: None)
    assert [each.items_per_user for each in held] == [2, 2]
    assert held[1].within.typical > 0.8  # nothing of anybody is cut off


def test_progress_is_told():
    said = []
    hc.plan(budget=BUDGET, **GUESS, progress=said.append)
    assert said == [f"simulation {n} of 5" for n in range(1, 6)]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, r"a forecast needs a guess .* or data that is not secret"),
        ({"users": 5}, r"a guess needs .*; missing: --items-per-user \(items_per_user=\), --items"),
        ({"users": 5, "items": 5}, r"; missing: --items-per-user \(items_per_user=\)"),
        ({"like": "x.parquet", "user": "u"}, r"; missing: --item \(item=\)"),
        ({**GUESS, "like": "x.parquet"}, "not both"),
        ({**GUESS, "table": "t"}, "not both"),
        ({**GUESS, "users": 0}, "number of users"),
        ({**GUESS, "items_per_user": math.inf}, "from 1 to 10,000"),
        ({**GUESS, "method": "none"}, "there is no method 'none'"),
        ({**GUESS, "relative_error": 2}, "between 0 and 1"),
        ({**GUESS, "max_items_per_user": 2}, "is only for the method threshold"),
        ({"like": "absent.parquet", "user": "u", "item": "i"}, "absent.parquet"),
        ({"like": pa.table({"u": [1], "i": [2]}), "user": "v", "item": "i"}, "v"),
        ({"like": NOBODY, "user": "u", "item": "i"}, "no row with a user and an item"),
    ],
)  # fmt: skip
def test_what_cannot_be_forecast_is_refused(asked, says):
    with pytest.raises(hc.InputError, match=says):
        hc.plan(budget=BUDGET, **asked)


def test_a_budget_is_a_budget():
    with pytest.raises(TypeError, match=r"headcount\.Budget"):
        hc.plan(budget=1.0, **GUESS)


def test_a_forecast_shows_itself_on_one_line():
    shown = repr(hc.plan(epsilon=3, users=5000, items_per_user=3, items=100))
    assert re.fullmatch(
        r"<Forecast for ε = 3, δ = 1e-06: \d+ items, from a guess of 5,000 users, 3 items each on "
        r"average, 100 items in all>",
        shown,
    )
