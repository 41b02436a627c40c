"""Lists, structs and maps are neither users nor items: refused by their type, with a way out."""

import re

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.errors import SourceError
from tests.inputs.counting import counts

LISTS = [["a", "b"], ["a"], None]
STRUCTS = [{"n": 1}, {"n": 2}, None]
ITEMS = {"a": 2, "b": 1}


def frame(values, **options):
    return pd.DataFrame({"u": [1, 2, 3], "i": pd.Series(values, **options)})


def arrow(values, kind):
    return pa.table({"u": [1, 2, 3], "i": pa.array(values, kind)})


def of_polars(values, kind):
    return pl.DataFrame({"u": [1, 2, 3], "i": pl.Series(values, dtype=kind)})


OF_TEXT = pa.list_(pa.string())
HELD = {
    "pandas, lists": frame(LISTS),
    "pandas, tuples": frame([("a",), ("a", "b"), None]),
    "pandas, sets": frame([{"a"}, frozenset("b"), float("nan")]),
    "pandas, arrays": frame([np.array(["a", "b"]), np.array([]), None], dtype=object),
    "pandas, categories": frame([("a",), ("a", "b"), None], dtype="category"),
    "pandas, Arrow's lists": frame(LISTS, dtype=pd.ArrowDtype(OF_TEXT)),
    "polars, lists": of_polars(LISTS, pl.List(pl.String)),
    "polars, arrays": of_polars([["a", "b"]] * 3, pl.Array(pl.String, 2)),
    "polars, objects": of_polars([{"a"}, ("b",), None], pl.Object),
    "Arrow, lists": arrow(LISTS, OF_TEXT),
    "Arrow, large lists": arrow(LISTS, pa.large_list(pa.string())),
}
STRUCTURED = {
    "pandas, structs": frame(STRUCTS),
    "pandas, Arrow's structs": frame(STRUCTS, dtype=pd.ArrowDtype(pa.struct([("n", pa.int64())]))),
    "polars, structs": of_polars(STRUCTS, pl.Struct({"n": pl.Int64})),
    "Arrow, structs": arrow(STRUCTS, pa.struct([("n", pa.int64())])),
    "Arrow, maps": arrow([[("a", 1)], [], None], pa.map_(pa.string(), pa.int64())),
}
ALL = [pytest.param(held, "holds lists", id=name) for name, held in HELD.items()]
ALL += [pytest.param(held, "other than text", id=name) for name, held in STRUCTURED.items()]


@pytest.mark.parametrize(("held", "says"), ALL)
def test_in_memory_they_are_refused_before_anything_is_spent(tmp_path, held, says):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("d", budget=hc.Budget(rho=1, delta=1e-6))
    for user, item in (("u", "i"), ("i", "u")):
        with pytest.raises(SourceError, match=says):
            hc.release(held, user=user, item=item, epsilon=1, ledger=ledger, dataset="d")
    kinds = [str(entry.kind) for entry in ledger.log()]
    assert kinds == ["open", *["reserve", "return"] * 2]


@pytest.mark.parametrize("form", ["batch", "dataset", "Parquet", "relation"])
@pytest.mark.parametrize("name", ["Arrow, lists", "Arrow, structs", "Arrow, maps"])
def test_whatever_holds_them(tmp_path, form, name):
    table = {**HELD, **STRUCTURED}[name]
    pq.write_table(table, tmp_path / "e.parquet")
    with duckdb.connect() as connection:
        source = {
            "batch": table.to_batches()[0],
            "dataset": pyarrow.dataset.dataset(table),
            "Parquet": tmp_path / "e.parquet",
            "relation": connection.from_arrow(table),
        }[form]
        with pytest.raises(SourceError, match=r"holds lists|other than text"):
            counts(source)


def suggested(error):
    return re.search(r"--sql '(.*)' \(sql=\)", str(error.value))[1]


def test_one_object_that_is_no_list_keeps_its_column_text():
    """One person's value does not decide whether there is a release."""
    assert counts(frame([["a"], "a", None], dtype=object)) == {"['a']": 1, "a": 1}
    assert counts(of_polars([["a"], "a", None], pl.Object)) == {"['a']": 1, "a": 1}


def test_what_the_error_says_counts_the_values(tmp_path):
    path = tmp_path / "e.parquet"
    pq.write_table(arrow(LISTS, OF_TEXT).rename_columns(["u", 'a "list"']), path)
    with pytest.raises(SourceError) as error:
        counts(path, item='a "list"')
    assert counts(path, item='a "list"', sql=suggested(error)) == ITEMS
    assert "df.explode('a \"list\"')" in str(error.value)
    assert counts(frame(LISTS).explode("i")) == ITEMS
    assert counts(of_polars(LISTS, pl.List(pl.String)).explode("i")) == ITEMS


def test_in_json_lines_the_first_object_decides(tmp_path):
    path = tmp_path / "e.jsonl"
    rows = ['{"u": 1, "i": ["a", "b"]}', '{"u": 2, "i": ["a"]}', '{"u": 3, "i": "a, b"}']
    path.write_text("\n".join(rows))
    with pytest.raises(SourceError, match="column 'i' holds lists") as error:
        counts(path)
    assert counts(path, sql=suggested(error)) == ITEMS
    assert counts(path, sql="SELECT u, 'x' AS i FROM events") == {"x": 3}
    path.write_text("\n".join(rows[::-1]))
    assert counts(path) == {'["a","b"]': 1, '["a"]': 1, "a, b": 1}
    path.write_text('{"u": 1, "i": {"n": 1}, "x": []}')
    with pytest.raises(SourceError, match="column 'i' holds values other than text"):
        counts(path)
    assert counts(path, item="x", sql="SELECT u, TRY_CAST(i AS JSON) ->> 'n' AS x FROM events") == {
        "1": 1
    }
