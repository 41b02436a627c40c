"""Values are read as what they are, or refused by their type: never cut on the way."""

import datetime
from decimal import Decimal

import duckdb
import ibis
import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount
from headcount.engines import Session
from headcount.engines.types import refuse_cuts
from headcount.errors import SourceError
from headcount.inputs import Request, open_source
from tests.engines.test_distinct import check_counts

BUDGET = headcount.Budget(rho=20.0)
# DuckDB before 2.0 cuts moments to microseconds, before 1.5 also times of day.
KEEPS_NANOSECONDS = int(duckdb.__version__.split(".")[0]) >= 2

NANOSECONDS = [
    pa.timestamp("ns"),
    pa.timestamp("ns", "UTC"),
    pa.timestamp("ns", "Europe/Berlin"),
    pa.time64("ns"),
]
FORMS = ["duckdb", "polars", "arrow", "polars frame", "pandas"]


def source_of(form, table, tmp_path):
    """Return how `release` is told of a table in a Parquet file, or in memory."""
    match form:
        case "duckdb" | "polars":
            pq.write_table(table, tmp_path / "e.parquet")
            return {"source": tmp_path / "e.parquet", "engine": form}
        case "polars frame":
            return {"source": polars.from_arrow(table)}
        case "pandas":
            return {"source": table.to_pandas(date_as_object=False)}
    return {"source": table}


@pytest.mark.parametrize("form", FORMS[:-1])
@pytest.mark.parametrize("kind", NANOSECONDS, ids=str)
def test_stamps_within_a_microsecond_are_as_many_items_or_refused(form, kind, tmp_path):
    stamps = pa.array(range(1000), pa.int64()).cast(kind)
    call = source_of(form, pa.table({"who": ["u"] * 1000, "what": stamps}), tmp_path)
    if KEEPS_NANOSECONDS or kind == pa.timestamp("ns"):
        check_counts(call, 1000)
        return
    with pytest.raises(
        SourceError, match=r"'what' is stored as .*ns.* DuckDB .* would cut to .*us"
    ):
        check_counts(call, 1000)


def released(call, **more):
    """Release by one pass and by several, which must give the same items."""
    call = {"user": "who", "item": "what", "budget": BUDGET, "unsafe_seed": 3, **call, **more}
    source = call.pop("source")
    ours = [headcount.release(source, **call, method=method).table for method in ("pcr", "auto")]
    assert ours[0]["what"].type == ours[1]["what"].type
    assert ours[0]["what"].to_pylist() == ours[1]["what"].to_pylist()
    return ours[0]["what"]


def table_of(values, kind=None):
    items = pa.array([values[0]] * 80 + [values[1]] * 50, kind)
    return pa.table({"who": [*map(str, range(80)), *map(str, range(50))], "what": items})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([datetime.time(23, 59, 59), datetime.time(1)], pa.time64("us")),
        ([np.float16(0.1), np.float16(1.5)], pa.float16()),
        (
            [datetime.datetime(2020, 1, n, tzinfo=datetime.UTC) for n in (1, 2)],
            pa.timestamp("us", "UTC"),
        ),
    ],
    ids=["time", "float16", "moment"],
)
def test_values_come_out_as_they_are(values, kind, form, tmp_path):
    call = source_of(form, table_of(values, kind), tmp_path)
    if kind == pa.time64("us") and form.startswith("polars") and not KEEPS_NANOSECONDS:
        with pytest.raises(SourceError, match="would cut"):  # all times of Polars have nanoseconds
            released(call)
        return
    assert [str(v) for v in released(call).to_pylist()] == [
        str(float(v)) if kind == pa.float16() else str(v) for v in values
    ]


@pytest.mark.parametrize("kind", [pa.timestamp("ns"), pa.time64("us"), pa.float16()], ids=str)
def test_spark_says_which_files_it_cannot_read(kind, on_engine):
    zeros = (
        pa.array(np.zeros(3, "float16")) if kind == pa.float16() else pa.array([0, 1, 2]).cast(kind)
    )
    call = on_engine("spark", pa.table({"who": ["a", "b", "c"], "what": zeros}))
    with pytest.raises(SourceError, match="Spark has no type for one of its columns; use"):
        released(call)


@pytest.mark.parametrize("form", ["duckdb", "polars", "arrow"])
@pytest.mark.parametrize("rows", [0, 2])
def test_decimals_beyond_38_digits_are_refused_with_or_without_rows(rows, form, tmp_path):
    """DuckDB reads them as floats, and old ones as wrong ones."""
    table = table_of([Decimal("9" * 50), Decimal(1)], pa.decimal256(60, 0)).slice(0, rows)
    call = source_of(form, table, tmp_path)
    with pytest.raises(
        SourceError, match=r"(38 digits|cut to double|no type for one of the columns)"
    ):
        released(call)


@pytest.mark.parametrize("form", ["duckdb", "polars", "arrow"])
def test_columns_of_any_type_may_stand_beside_those_that_are_asked_for(form, tmp_path):
    odd = {
        "digits": pa.array([Decimal(1)] * 130, pa.decimal256(60, 0)),
        "half": pa.array(np.zeros(130, "float16")),
        "stamp": pa.array([1] * 130, pa.int64()).cast(pa.timestamp("ns", "UTC")),
        "list": pa.array([[1]] * 130),
        "null": pa.nulls(130),
        "span": pa.array([1] * 130, pa.int64()).cast(pa.duration("ns")),
    }
    table = table_of(["x", "y"])
    for name, column in odd.items():
        table = table.append_column(name, column)
    assert released(source_of(form, table, tmp_path)).to_pylist() == ["x", "y"]


@pytest.mark.parametrize("user", [["who"], ("who", "what"), None, 3])
def test_a_user_column_is_named_by_a_text(user):
    with pytest.raises(SourceError, match="user is the name of one column"):
        headcount.release(table_of(["x", "y"]), user=user, item="what", budget=BUDGET)


def test_types_of_duckdb_that_ibis_does_not_know(tmp_path):
    path = tmp_path / "e.duckdb"
    kinds = {"BIT": "0101", "UHUGEINT": str(2**128 - 1), "VARINT": "1" * 60}
    if KEEPS_NANOSECONDS:
        kinds |= {
            "TIMESTAMPTZ_NS": "2020-01-01 00:00:00.000000001+00",
            "TIME_NS": "00:00:00.000000001",
        }
    with duckdb.connect(str(path)) as connection:
        for n, (kind, value) in enumerate(kinds.items()):
            connection.execute(
                f"CREATE TABLE t{n} AS SELECT 'u' AS who, CAST('{value}' AS {kind}) AS what"
            )
    for n, (kind, value) in enumerate(kinds.items()):
        with Session() as session:
            events = open_source(session, path, Request(f"t{n}", columns=["who", "what"]))
            found = headcount.views.histogram.count_distinct_users(events, "who", ["what"], 9)
        text = found.items["what"].cast("string")[0].as_py()
        assert text.replace("Z", "+00") == value, kind


KINDS = {
    "whole numbers": [pa.int8(), pa.int16(), pa.int32(), pa.int64()],
    "floats": [pa.float16(), pa.float32(), pa.float64()],
    "moments": [pa.timestamp(unit, "UTC") for unit in ("s", "ms", "us", "ns")],
    "times": [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")],
    "decimals": [pa.decimal128(5, 2), pa.decimal128(8, 3), pa.decimal256(60, 4)],
}


def is_refused(stored, held):
    try:
        refuse_cuts(pa.schema([("c", stored)]), pa.schema([("c", held)]), ["c"], "it")
    except SourceError:
        return True
    return False


def test_what_is_cut_is_refused_and_nothing_else():
    for kinds in KINDS.values():
        for place, stored in enumerate(kinds):
            assert not any(is_refused(stored, held) for held in kinds[place:])
            assert all(is_refused(stored, held) for held in kinds[:place])
    for one, other in [("whole numbers", "floats"), ("floats", "decimals"), ("moments", "times")]:
        assert is_refused(KINDS[one][0], KINDS[other][-1])
    assert is_refused(pa.string(), pa.int64())
    assert is_refused(pa.string(), pa.null())
    assert not is_refused(pa.null(), pa.string())
    assert not is_refused(pa.uint64(), pa.decimal128(20, 0))
    assert not is_refused(pa.dictionary(pa.int32(), pa.string()), pa.large_string())


def test_an_ibis_table_in_memory_still_has_its_types():
    table = ibis.memtable(table_of(["x", "y"]).to_pandas())
    assert released({"source": table}).to_pylist() == ["x", "y"]
