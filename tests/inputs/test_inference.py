"""No value decides the type of a column, or whether there is a release."""

import datetime
import decimal
import uuid

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headcount.engines import Session
from headcount.errors import SourceError
from headcount.inputs import Request, open_source
from headcount.views.histogram import check_columns, count_distinct_users, table_of
from tests.inputs.counting import counts


def outcome(frame) -> str:
    """Return the type of a column of items and that of the result, or what is wrong with it."""
    try:
        with Session() as session:
            events = open_source(session, frame, Request(columns=["u", "i"]))
            check_columns(events, "u", ["i"])
            top = count_distinct_users(events, "u", ["i"], 9)
            return f"{events.table.schema()['i']}, {top.items.schema.field('i').type}"
    except SourceError as error:
        return str(error)


def series(values, **options):
    return pd.DataFrame({"u": range(len(values)), "i": pd.Series(values, **options)})


def category(values):
    # As many do it: pandas finds the type of the categories.
    return series(pd.Series(values, dtype=object).astype("category"))


def object_of_polars(values):
    return pl.DataFrame({"u": range(len(values)), "i": pl.Series(values, dtype=pl.Object)})


HALF = "\ud83d"  # of a character
ODD = [7, -1, 2**70, 10**5000, 2.5, float("nan"), True, "x", "7", "", "é", HALF, b"\xff"]
ODD += [None, pd.NA, pd.NaT, np.int8(7), np.str_("x"), decimal.Decimal(7), uuid.UUID(int=7)]
ODD += [datetime.date(2024, 1, 2), pd.Timestamp("2024-01-02"), pd.Period("2024-01"), object()]
ODD += [["x"], {"x": 1}, ("x", 1)]


def not_only_lists(values):
    """Return values of a column that is not refused, as one of nothing but lists is."""
    return (
        [*values, "x"]
        if any(isinstance(value, list | tuple | dict) for value in values)
        else values
    )


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@settings(max_examples=10, deadline=None)
@given(values=st.lists(st.sampled_from(ODD), max_size=4))
@example(values=[pd.NaT])
@example(values=[None])
@example(values=[HALF, 10**5000])
def test_python_objects_are_text(kind, values):
    values = not_only_lists(values)
    frame = series(values, dtype=object) if kind == "pandas" else object_of_polars(values)
    assert outcome(frame) == "string, string"


@pytest.mark.parametrize("values", [[7, 7], [7, "x"], ["x"], [None], []])
def test_a_table_of_ibis_in_memory_has_the_types_of_what_it_was_made_of(values):
    assert outcome(ibis.memtable(series(values, dtype=object))) == "string, string"


# What pandas itself makes categories of: not of lists, nor of half characters.
CATEGORIES = [v for v in ODD if not isinstance(v, list | dict) and v is not HALF]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(CATEGORIES), max_size=4))
@example([None, None])
@example([7])
@example(["x"])
@example([7, "x"])
def test_categories_are_text(values):
    try:
        made = category(not_only_lists(values))
    except OverflowError:  # pandas before 3 has no categories of such numbers
        return
    assert outcome(made) == "string, string"


def test_other_values_stay_what_they_are():
    for odd in ODD:
        assert counts(series([7, 7, odd], dtype=object))["7"] >= 2


def test_half_a_character_in_a_column_of_text_is_no_error():
    frame = series(["a", HALF, None], dtype=pd.StringDtype("python"))
    assert counts(frame) == {"a": 1, "\\ud83d": 1}


def test_missing_objects_are_null():
    values = [None, float("nan"), pd.NA, pd.NaT, "x"]
    assert counts(series(values, dtype=object)) == counts(category(values)) == {"x": 1}


TIMES = pd.to_datetime(["2024-01-01", "2024-01-02", None])
FAMILY = {
    "int64": pd.Series([1, 2, 3]),
    "float64": pd.Series([1.5, 2, None]),
    "str": pd.Series(["a", "b", None]),
    "Int64": pd.Series([1, 2, None], dtype="Int64"),
    "string": pd.Series(["a", "b", None], dtype="string"),
    "boolean": pd.Series([True, False, None], dtype="boolean"),
    "datetime": pd.Series(TIMES),
    "datetime with zone": pd.Series(TIMES.tz_localize("UTC")),
    "timedelta": pd.Series(pd.to_timedelta([1, 2, None], unit="s")),
    "period": pd.Series(pd.PeriodIndex(["2024-01", "2024-02", None], freq="M")),
    "interval": pd.Series(pd.interval_range(0.0, 3.0)),
    "sparse": pd.Series(pd.arrays.SparseArray([1.0, 2.0, np.nan])),
    "sparse objects": pd.Series(pd.arrays.SparseArray(np.array([1, "a", None], dtype=object))),
    "complex": pd.Series([1j, 2, 3]),
    "categories": pd.Series([1, "a", None], dtype=object).astype("category"),
    "declared categories": pd.Series(["a", None, "b"], dtype=pd.CategoricalDtype(["a", "b", 3])),
    "Arrow decimal": pd.Series([1, 2, None], dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
    "Arrow dictionary": pd.Series(
        ["a", "b", None], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    ),
    "Arrow null": pd.Series([None] * 3, dtype=pd.ArrowDtype(pa.null())),
    "Arrow list": pd.Series([[1], [], None], dtype=pd.ArrowDtype(pa.list_(pa.int8()))),
    "pl.Null": pl.Series([None] * 3),
    "pl.Categorical": pl.Series(["a", "b", None], dtype=pl.Categorical),
    "pl.Enum": pl.Series(["a", "b", None], dtype=pl.Enum(["a", "b", "c"])),
    "pl.Object": pl.Series([1, "a", None], dtype=pl.Object),
    "pl.Decimal": pl.Series([decimal.Decimal("1.5"), None, decimal.Decimal(2)]),
    "pl.Int128": pl.Series([1, 2, None], dtype=pl.Int128),
    "pl.Binary": pl.Series([b"a", b"", None]),
    "pl.Duration": pl.Series([datetime.timedelta(1), None, None]),
    "pl.List": pl.Series([["a"], [], None], dtype=pl.List(pl.Categorical)),
    "null": pa.nulls(3),
    "dictionary": pa.array(["a", None, "b"]).dictionary_encode(),
    "dictionary of numbers": pa.array([1, None, 2]).dictionary_encode(),
    "dictionary of nulls": pa.nulls(3).dictionary_encode(),
    "dictionary in a list": pa.array([["a"], [], None]).cast(
        pa.list_(pa.dictionary(pa.int8(), pa.string()))
    ),
    "run ends": pa.RunEndEncodedArray.from_arrays([1, 3], pa.array(["a", None])),
    "run ends of nulls": pa.RunEndEncodedArray.from_arrays([3], pa.nulls(1)),
    "string view": pa.array(["a", None, "b"], pa.string_view()),
}


def in_a_table(column):
    users = list(range(len(column)))
    if isinstance(column, pd.Series):
        return pd.DataFrame({"u": users, "i": column.reset_index(drop=True)})
    make = pl.LazyFrame if isinstance(column, pl.Series) else pa.table
    return make({"u": users, "i": column})


def nothing_in(column):
    if isinstance(column, pd.Series):
        # Not of its values: some types of pandas cannot be made of None.
        return column.reindex([8, 9]) if column.dtype != "int64" else column[:0]
    if isinstance(column, pl.Series):
        return pl.Series([None] * 2, dtype=column.dtype)
    return pa.nulls(2, column.type)


@pytest.mark.parametrize("column", FAMILY.values(), ids=FAMILY)
def test_the_rows_do_not_decide_the_type(column):
    """Same type, or same refusal, of all rows, of each alone, of NULLs and of none."""
    parts = [column, *(column[k : k + 1] for k in range(3)), column[:0], nothing_in(column)]
    assert len({outcome(in_a_table(part)) for part in parts}) == 1


@pytest.mark.parametrize("name", [name for name in FAMILY if "ull" in name])
def test_a_column_of_no_type_is_text(name):
    assert outcome(in_a_table(FAMILY[name])) == "string, string"


def test_the_keys_of_a_mapping_are_text():
    assert table_of({}).schema == table_of({7: 1, "x": 2, None: 3, 2.5: 4}).schema


def test_keys_that_are_the_same_text_are_one_item():
    """An error would tell that somebody has an item that looks like another's.

    The larger count moves by at most 1 with a user, as each of them does; their sum would not.
    """
    for counted in ({7: 5, "7": 3}, {"7": 3, 7: 5}):
        assert table_of(counted).to_pydict() == {"item": ["7"], "count": [5]}
