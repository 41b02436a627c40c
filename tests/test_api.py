"""The library as a program uses it."""

import json
import math
import pathlib
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount
from headcount.privacy.accounting.budget import Budget
from headcount.views.engine_view import EngineView
from tests.conftest import USERS

BUDGET = headcount.Budget(rho=50, delta=1e-6)


def release(source, **options):
    options = {"user": "uid", "item": "item", "budget": BUDGET, **options}
    return headcount.release(source, **options)


@pytest.mark.parametrize("kind", [str, pathlib.Path])
def test_a_release(parquet, kind):
    result = release(kind(parquet))
    assert len(result) == 3
    assert isinstance(result.table, pa.Table)
    assert result.table.column_names == ["item", "count", "std_error", "lower", "upper"]
    assert [str(field.type) for field in result.table.schema][1:] == ["int64"] + ["double"] * 3
    assert result.table["item"].to_pylist() == list(USERS)
    counts = result.table["count"].to_pylist()
    assert counts == sorted(counts, reverse=True)
    assert (result.table["lower"].to_numpy() <= result.table["upper"].to_numpy()).all()
    pd.testing.assert_frame_equal(result.to_pandas(), result.table.to_pandas())
    assert isinstance(result.to_polars(), pl.DataFrame)
    assert result.to_polars()["item"].to_list() == list(USERS)


def test_the_guarantee(parquet):
    guarantee = release(parquet, method="pcr").guarantee
    assert (guarantee.rho, guarantee.delta, guarantee.epsilon) == (50, 1e-6, BUDGET.epsilon)
    assert guarantee.unit == "one user: all rows of one user id, added or removed"
    assert guarantee.private
    assert guarantee.method == "pcr"
    assert guarantee.version == headcount.__version__
    assert 0 < guarantee.spent["rho"] <= 50
    assert 0 < guarantee.spent["delta"] <= 1e-6
    assert guarantee.settings["k_bar"] in guarantee.settings["ranks"]
    guarantee.require_private()
    for part in ("50-zCDP", "1e-06", "one user"):
        assert part in str(guarantee)
    assert json.loads(json.dumps(guarantee.to_dict())) == guarantee.to_dict()


@pytest.mark.parametrize("of", ["events", "counts"])
def test_a_release_is_random(of, parquet):
    """Three counts with σ of 25 and more: three releases agree with a probability below 1e-10."""

    def noisy():
        # Of events, little enough that noise is wide: a vetted release leaves nothing unspent.
        rho = {"events": 0.02, "counts": BUDGET.rho}[of]
        options = {"budget": headcount.Budget(rho=rho), "method": "pcr", "columns": "all"}
        if of == "events":
            made = release(parquet, **options)
        else:
            made = headcount.release_counts(dict(USERS), **options)
        return made.table["noisy_count"].to_pylist(), made.table["noisy_std_error"].to_pylist()

    (first, sigmas), (second, _), (third, _) = noisy(), noisy(), noisy()
    assert math.prod(1 / (2 * math.sqrt(math.pi) * sigma) for sigma in sigmas) ** 2 < 1e-8
    assert not first == second == third


def test_a_seed_makes_a_release_reproducible_and_not_private(parquet):
    seeded = [release(parquet, unsafe_seed=3) for _ in range(2)]
    assert seeded[0].table.equals(seeded[1].table)
    assert not seeded[0].table.equals(release(parquet, unsafe_seed=4).table)
    with pytest.raises(headcount.NotPrivateError):
        seeded[0].guarantee.require_private()


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_a_seed_that_is_none(parquet, seed):
    with pytest.raises(headcount.SettingsError, match="seed"):
        release(parquet, unsafe_seed=seed)


def test_a_budget_is_checked_before_anything_is_read():
    for options, error in (
        ({"budget": 1}, TypeError),
        ({"budget": Budget(rho=1, delta=1e-12), "method": "pcr-paper"}, headcount.BudgetError),
        ({"method": "magic"}, headcount.SettingsError),
        ({"relative_error": 2}, headcount.SettingsError),
        ({"candidates": 0}, headcount.SettingsError),
        ({"memory": "much"}, headcount.SettingsError),
    ):
        with pytest.raises(error):
            release("absent.parquet", **options)


def test_item_columns_in_a_list(parquet, events):
    table = events.append_column("day", pa.array(["mon"] * events.num_rows))
    result = release(table, item=["day", "item"])
    assert result.table.column_names[:3] == ["day", "item", "count"]
    assert release(table, item=("item",)).table.column_names[0] == "item"
    for items in ([], ["item", "item"], ["item", "uid"], ["absent"]):
        with pytest.raises(headcount.SourceError):
            release(table, item=items)


def test_progress_is_told(parquet):
    said = []
    release(parquet, method="pcr", progress=said.append)
    assert said[:2] == ["opening the source", "counting distinct users per item"]
    assert said[-1] == "choosing and measuring items"


def test_counts_that_exist_already():
    result = headcount.release_counts(dict(USERS), budget=BUDGET)
    assert result.table.column_names == ["item", "count", "std_error", "lower", "upper"]
    assert result.table["item"].to_pylist() == list(USERS)


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame])
def test_counts_in_a_table(make):
    table = make({"page": list(USERS), "users": list(USERS.values())})
    result = headcount.release_counts(table, item="page", count="users", budget=BUDGET)
    assert result.table["page"].to_pylist() == list(USERS)
    assert len(headcount.release_counts(table, count="users", budget=BUDGET)) == 3
    with pytest.raises(headcount.SourceError, match="no column 'count'"):
        headcount.release_counts(table, budget=BUDGET)


def test_counts_of_several_columns_and_types():
    table = pa.table({"a": [1, 2], "b": ["x", None], "count": pa.array([400, 300], pa.uint16())})
    result = headcount.release_counts(table, budget=BUDGET)
    assert result.table.select(["a", "b"]).to_pylist() == [{"a": 1, "b": "x"}]


def test_counts_as_numpy_integers():
    counts = {"a": np.int64(400), "b": np.uint8(200)}
    assert len(headcount.release_counts(counts, budget=BUDGET)) == 2


def test_an_empty_histogram_is_a_histogram():
    small = headcount.Budget(rho=0.01)
    empty = headcount.release_counts({}, budget=small, candidates=10_000)
    for counts in ({"a": 1}, {"a": 0}, {None: 5}, pa.table({"item": ["a"], "count": [None]})):
        if isinstance(counts, pa.Table):
            counts = counts.set_column(1, "count", counts["count"].cast(pa.int64()))
        other = headcount.release_counts(counts, budget=small, candidates=10_000)
        assert other.table.schema == empty.table.schema
        assert (len(other), other.guarantee) == (0, empty.guarantee)


def test_a_histogram_that_was_cut():
    counts = {"a": 400, "b": 300, "c": 30}
    result = headcount.release_counts(counts, budget=BUDGET, minimum=50)
    assert result.table["item"].to_pylist() == ["a", "b"]
    # What is missing may have up to 999 users, so nothing stands out from it.
    assert len(headcount.release_counts({"a": 1000}, budget=BUDGET, minimum=1000)) == 0
    for users in (-1, 1.5, True, "9"):
        with pytest.raises(headcount.SourceError, match="users"):
            headcount.release_counts(counts, budget=BUDGET, users=users)
    for minimum in (0, -1, 1.5, True):
        with pytest.raises(headcount.SourceError, match="minimum"):
            headcount.release_counts(counts, budget=BUDGET, minimum=minimum)


@pytest.mark.parametrize(
    ("items", "counts"),
    [
        (["a", "b", "a"], [5, 6, 7]),
        (["a", "b", "c"], [5, 6, -1]),
        (["a", "b", "c"], [5, 6, 2**53 + 1]),
    ],
)
def test_what_is_no_histogram_of_distinct_users_is_refused(items, counts):
    """With one message for all faults, which tells no more than that it was refused."""
    with pytest.raises(headcount.SourceError, match="several rows, or a count is negative or too"):
        headcount.release_counts(pa.table({"item": items, "count": counts}), budget=BUDGET)


def test_counts_with_a_seed_are_not_private():
    result = headcount.release_counts({"a": 400}, budget=BUDGET, unsafe_seed=1)
    assert not result.guarantee.private


def test_polars_is_an_extra(parquet, monkeypatch):
    result = release(parquet)
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(headcount.MissingExtraError, match=r"headcount\[polars\]"):
        result.to_polars()


def test_errors_have_one_base():
    for name in headcount.__all__:
        if name.endswith("Error"):
            error = getattr(headcount, name)
            assert issubclass(error, headcount.HeadcountError)
            assert error.exit_code in (1, 2, 3, 4, 5, 130)
            assert name in headcount.errors.__doc__


def test_a_release_of_a_file_does_not_import_pandas(tmp_path):
    """It takes longer than everything else that a release of a small file does."""
    path = tmp_path / "events.parquet"
    pq.write_table(pa.table({"user": [1, 2], "item": ["a", "a"]}), path)
    program = (
        "import sys, headcount\n"
        f"headcount.release({str(path)!r}, user='user', item='item', "
        "budget=headcount.Budget(rho=1))\n"
        "sys.exit('pandas' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_with_the_number_of_users_a_histogram_is_released_as_events_are(parquet):
    """The same code and the same draws; without it, and by the paper, in another way."""
    options = {"budget": headcount.Budget(rho=0.02), "method": "pcr", "unsafe_seed": 5}
    made = release(parquet, **options)
    counts = {**USERS, "bread": USERS["bread"] + 1, "canary": 1}
    # The canary's user has bread too, and nobody else but those who have bread.
    given = headcount.release_counts(counts, users=USERS["bread"] + 1, **options)
    assert given.table["count"].to_pylist() == made.table["count"].to_pylist() != []
    assert given.settings == made.settings
    assert given.settings["selection"] == "vetted"
    assert "levels_run" in headcount.release_counts(counts, **options).settings
    paper = {**options, "method": "pcr-paper"}
    assert "levels_run" in headcount.release_counts(counts, users=9000, **paper).settings


def test_a_count_above_the_number_of_users_is_no_error():
    """An error would tell, for nothing, whether any count exceeds a number of one's choice."""
    for users in (0, 999, 1000):
        headcount.release_counts({"a": 1000}, budget=BUDGET, users=users)


@pytest.mark.parametrize("method", ["auto", "pcr", "rationed", "pcr-paper"])
def test_methods(parquet, method):
    result = release(parquet, method=method, columns="all")
    assert result.guarantee.method == method
    assert result.table.column_names[-2:] == ["noisy_count", "noisy_std_error"]
    assert set(result.table["item"].to_pylist()) <= set(USERS)
    assert 0 < result.spent["rho"] <= 50
    assert ("chosen" in result.settings) == (method == "auto")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "nonsense"}, "there is no method 'nonsense'; there are: auto, pcr"),
        ({"method": "rationed", "candidates": 10}, "no candidates"),
        ({"columns": "some"}, "columns must be one of: standard, all"),
    ],
)
def test_methods_that_cannot_be_used(parquet, options, says):
    with pytest.raises(headcount.SettingsError, match=says):
        release(parquet, **options)


def test_a_histogram_cannot_be_rationed():
    with pytest.raises(headcount.SettingsError, match="needs events"):
        headcount.release_counts(dict(USERS), budget=BUDGET, method="rationed")


def test_the_default_asks_one_scan_for_the_counts_and_the_number_of_users(events, monkeypatch):
    """Counts centred by the users of another moment would cost more than was charged."""
    monkeypatch.delattr(EngineView, "highest_counts")
    assert headcount.release(events, user="uid", item="item", rho=1).table.num_rows
