"""What Python code is warned of, before anything is read or spent."""

import gc
import threading
import warnings

import ibis
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount import cautions

SMALL = {"epsilon": 1, "user": "u", "item": "i"}


@pytest.fixture(autouse=True)
def nothing_released_yet(monkeypatch):
    monkeypatch.setattr(cautions, "_released", cautions._Released())


@pytest.fixture
def table():
    return pa.table({"u": ["a", "b"], "i": ["x", "x"]})


@pytest.fixture
def refuse_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", hc.PrivacyWarning)
        yield


@pytest.mark.parametrize("budget", [{"epsilon": 11}, {"epsilon": 1, "delta": 2e-4}, {"rho": 5}])
def test_a_weak_budget_is_warned_of(table, budget):
    with pytest.warns(hc.PrivacyWarning, match="weak promise.* the budget you meant") as warned:
        hc.release(table, user="u", item="i", **budget)
    ours = [one.filename for one in warned if one.category is hc.PrivacyWarning]
    assert ours == [__file__]  # and not a line of headcount's own
    with pytest.warns(hc.PrivacyWarning, match="weak promise"):
        hc.release_counts({"x": 3}, **budget)


def test_an_ordinary_budget_is_not(table, refuse_warnings):
    hc.release(table, **SMALL)
    hc.release_counts({"x": 3}, epsilon=10, delta=1e-4)


def test_a_warning_that_is_an_error_comes_before_anything_is_spent(
    table, tmp_path, refuse_warnings
):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=50, delta=1e-2))
    charged = {"ledger": ledger, "dataset": "shop"}
    with pytest.raises(hc.PrivacyWarning):
        hc.release(table, **{**SMALL, "epsilon": 20}, **charged)
    with pytest.raises(hc.PrivacyWarning):
        hc.release_counts({"x": 3}, epsilon=20, user="u", **charged)
    assert [str(entry.kind) for entry in ledger.log()] == ["open"]


def kinds_of_sources(table, folder):
    path = folder / "e.parquet"
    pq.write_table(table, path)
    con = ibis.duckdb.connect()
    con.raw_sql("CREATE TABLE t AS SELECT 'a' AS u, 'x' AS i")
    frame, batch = table.to_pandas(), table.to_batches()[0]
    memory = ibis.memtable(table)
    return {
        "path": lambda: str(path),
        "the same path": lambda: folder / "." / "e.parquet",
        "arrow": lambda: table,
        "batch": lambda: batch,
        "pandas": lambda: frame,
        "ibis": lambda: con.table("t"),
        "memtable": lambda: memory,
    }


@pytest.mark.parametrize(
    "kind", ["path", "the same path", "arrow", "batch", "pandas", "ibis", "memtable"]
)
def test_a_second_release_of_a_source_is_warned_of(table, tmp_path, kind):
    source = kinds_of_sources(table, tmp_path)[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error", hc.PrivacyWarning)
        hc.release(source(), user="u", item="i", rho=0.25)
    with pytest.warns(hc.PrivacyWarning, match=r"ρ = 0.75 and δ = 3e-06 together"):
        hc.release(source(), user="u", item="i", rho=0.5, delta=2e-6)


def test_other_sources_and_tables_are_not(tmp_path, table, refuse_warnings):
    hc.release(table, **SMALL)
    hc.release(table.slice(0), **SMALL)
    database = tmp_path / "d.duckdb"
    con = ibis.duckdb.connect(database)
    for name in ("one", "two"):
        con.raw_sql(f"CREATE TABLE {name} AS SELECT 'a' AS u, 'x' AS i")
    con.disconnect()
    hc.release(database, table="one", **SMALL)
    hc.release(database, table="two", **SMALL)
    with pytest.raises(hc.PrivacyWarning):
        hc.release(database, table="one", **SMALL)


def test_what_was_not_released_does_not_count(table, refuse_warnings):
    hc.release(table, unsafe_seed=1, **{**SMALL, "epsilon": 90})
    hc.release(table, unsafe_seed=1, **SMALL)
    with pytest.raises(hc.SourceError):
        hc.release(table, **{**SMALL, "user": "nobody"})
    hc.release(table, **SMALL)


def test_a_ledger_adds_up(table, tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=50, delta=1e-2))
    charged = {"ledger": ledger, "dataset": "shop"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", hc.PrivacyWarning)
        hc.release(table, **SMALL, **charged)
        hc.release(table, **SMALL, **charged)
    with pytest.warns(hc.PrivacyWarning, match="this release would not be charged to a ledger"):
        hc.release(table, **SMALL)
    with pytest.warns(hc.PrivacyWarning, match="an earlier release .* was not charged") as warned:
        hc.release(table, **SMALL, **charged)  # the ledger does not know of the one before
    (ours,) = [str(one.message) for one in warned if one.category is hc.PrivacyWarning]
    assert "ledger=" not in ours


def test_what_the_ledger_refuses_is_not_warned_of(table, tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=1e-3))
    hc.release(table, **SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error", hc.PrivacyWarning)
        with pytest.raises(hc.BudgetRefusedError):
            hc.release(table, **{**SMALL, "epsilon": 20}, ledger=ledger, dataset="shop")
        with pytest.raises(hc.LedgerError, match="no dataset 'shoq'"):
            hc.release(table, **SMALL, ledger=ledger, dataset="shoq")
        with pytest.raises(hc.BudgetRefusedError):
            hc.release_counts({"x": 3}, epsilon=20, user="u", ledger=ledger, dataset="shop")
    assert [str(entry.kind) for entry in ledger.log()] == ["open"]


def test_an_answer_at_no_cost_is_no_release(tmp_path, table, refuse_warnings):
    path = tmp_path / "e.parquet"
    pq.write_table(table, path)
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=50, delta=1e-2))
    for _ in range(2):
        hc.release(path, **SMALL, ledger=ledger, dataset="shop", data_version="1")
    assert len(cautions._released._costs) == 1


def test_no_table_is_kept_alive_and_another_with_its_id_is_another(refuse_warnings):
    frame = pd.DataFrame({"u": ["a"], "i": ["x"]})
    hc.release(frame, **SMALL)
    known = cautions._released
    assert list(known._alive) == [id(frame)]
    (reference,) = known._alive.values()
    assert reference.__callback__ is None
    del frame
    gc.collect()
    assert reference() is None
    known.before(None, ledger=False)
    assert not known._alive and not known._costs and not known._without_ledger


def test_many_threads_may_release(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.PrivacyWarning)
        threads = [threading.Thread(target=lambda: hc.release(table, **SMALL)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    total = cautions._released._costs[id(table)]
    assert total.delta == 4 * cautions._cost(hc.Budget(epsilon=1)).delta


def test_the_command_line_says_it_once_in_its_own_words(headcount, parquet):
    ran = headcount("release", parquet, "--user", "uid", "--item", "item", "--rho", "50")
    assert ran.code == 0
    assert ran.err.count("weak promise") == 1
    assert "PrivacyWarning" not in ran.err


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "give a privacy budget"),
        ({"epsilon": 1, "rho": 1}, "either rho or epsilon"),
        ({"budget": hc.Budget(rho=1), "rho": 1}, "not both"),
        ({"budget": hc.Budget(rho=1), "epsilon": 1}, "not both"),
        ({"budget": hc.Budget(rho=1), "delta": 1e-6}, "not both"),
        ({"delta": 1e-6}, "give a privacy budget"),
        ({"rho": 0}, "above 0"),
        ({"epsilon": "3"}, "must be a number"),
    ],
)
def test_exactly_one_budget_is_given(table, given, says):
    for ask in (
        lambda: hc.release(table, user="u", item="i", **given),
        lambda: hc.release_counts({"x": 1}, **given),
        lambda: hc.plan(users=10, items_per_user=1, items=2, **given),
    ):
        with pytest.raises(hc.BudgetError, match=says):
            ask()


def test_a_budget_given_as_numbers_is_that_budget(table):
    for given in ({"rho": 0.5}, {"epsilon": 2, "delta": 1e-7}):
        budget = hc.Budget(**given)
        made = hc.release(table, user="u", item="i", **given)
        assert (made.guarantee.rho, made.guarantee.epsilon, made.guarantee.delta) == (
            budget.rho, budget.epsilon, budget.delta
        )  # fmt: skip
        assert hc.release_counts({"x": 1}, **given).guarantee.rho == budget.rho
        assert hc.plan(users=10, items_per_user=1, items=2, **given).budget == budget
