"""pandas, Polars, PyArrow and Ibis tables, and users of every kind."""

import uuid

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from headcount.errors import SourceError
from tests.inputs.counting import counts

ROWS = {
    "u": ["x", "y", "y", None, "z", "z"],
    "i": ["a", "a", "a", "a", None, ""],
    "j": ["b", "b", "c", "b", "b", None],
}


def ibis_on_polars(rows):
    return ibis.polars.connect({"t": pl.DataFrame(rows)}).table("t")


def ibis_on_duckdb(rows):
    backend = ibis.duckdb.connect()
    backend.con.register("t", pa.table(rows))
    return backend.table("t")


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        pl.DataFrame,
        pl.LazyFrame,
        pa.table,
        pa.record_batch,
        ibis.memtable,
        ibis_on_polars,
        ibis_on_duckdb,
    ],
)
def test_tables_of_every_kind(make):
    assert counts(make(ROWS)) == {"a": 2, "": 1}
    assert counts(make(ROWS), item=["i", "j"]) == {("a", "b"): 2, ("a", "c"): 1}
    assert counts(make(ROWS), item=["j", "i"]) == {("b", "a"): 2, ("c", "a"): 1}
    assert counts(make({name: values[:1] for name, values in ROWS.items()})) == {"a": 1}


def test_an_ibis_expression():
    table = ibis_on_duckdb(ROWS)
    assert counts(table.filter(table.u == "y").mutate(i=table.i.upper())) == {"A": 1}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("rows", [{"u": [], "i": []}, {"u": [None, None], "i": ["a", "b"]}])
def test_no_rows_and_no_users(make, rows):
    assert counts(make(rows)) == {}


IDS = {
    "integers": [1, 2, 2**62],
    "large integers": np.array([2**63, 2**64 - 1, 0], dtype=np.uint64),
    "strings": ["x", "", "é"],
    "bytes": [b"\xff\0", b"", b"x"],
    "UUIDs": [uuid.UUID(int=n) for n in range(3)],
    "floats": [0.5, 1.5, 1e300],
    "times": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]),
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS.keys())
def test_users_of_every_kind(ids):
    frame = pd.DataFrame({"u": ids, "i": "a"})
    assert counts(frame) == {"a": 3}
    assert counts(pd.concat([frame, frame])) == {"a": 3}


def test_uuids_of_arrow():
    ids = pa.array([uuid.UUID(int=n).bytes for n in (1, 2, 2)], pa.binary(16))
    assert counts(pa.table({"u": ids, "i": ["a"] * 3})) == {"a": 2}
    if hasattr(pa, "uuid"):
        assert counts(pa.table({"u": ids.cast(pa.uuid()), "i": ["a"] * 3})) == {"a": 2}


def test_items_that_are_uuids():
    items = [uuid.UUID(int=7), None, uuid.UUID(int=7)]
    assert counts(pd.DataFrame({"u": [1, 2, 3], "i": items})) == {str(uuid.UUID(int=7)): 2}


def test_categories_are_their_values():
    categories = pd.Categorical(["a", "b", "a"], categories=["canary", "a", "b"])
    assert counts(pd.DataFrame({"u": [1, 2, 3], "i": categories})) == {"a": 2, "b": 1}
    frame = pl.DataFrame({"u": [1, 2], "i": ["a", "a"]}, schema_overrides={"i": pl.Categorical})
    assert counts(frame) == {"a": 2}


def test_missing_values_of_pandas_are_null():
    frame = pd.DataFrame({"u": [1, np.nan, 3], "i": [1.0, 1.0, np.nan]})
    assert counts(frame) == {1.0: 1}


def test_columns_that_are_not_asked_for_need_not_be_readable():
    frame = pd.DataFrame({"u": [1], "i": ["a"], "mixed": [object()], 5: [1]})
    assert counts(frame) == {"a": 1}


@pytest.mark.parametrize(
    "source",
    [
        pd.DataFrame([[1, "a", "b"]], columns=["u", "i", "i"]),
        pd.Series([1]),
        [("u", "i")],
        {"u": [1], "i": ["a"]},
        None,
        ibis.table({"u": "int64", "i": "string"}, name="nowhere"),
    ],
)
def test_bad_tables(source):
    with pytest.raises(SourceError):
        counts(source)


def test_what_is_no_source_is_told_what_one_is():
    for streams_or_spark in ("Spark data frame", "stream of PyArrow"):
        with pytest.raises(SourceError, match=f"{streams_or_spark}.*, got list"):
            counts([("u", "i")])


def test_text_that_is_no_text_is_found_before_anything_is_spent():
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    with pytest.raises(SourceError, match="in the expected form"):
        counts(pa.table({"u": [1], "i": broken}))


def test_a_table_needs_no_name():
    for options in ({"table": "t"}, {"sql": "SELECT 1"}):
        with pytest.raises(SourceError, match="is already a table"):
            counts(pd.DataFrame(ROWS), **options)
