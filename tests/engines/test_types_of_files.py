"""Files of a glob whose types differ: refused by their schemas, or read right."""

import datetime
import itertools
import re
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.engines.files import stored_schemas
from headcount.errors import SourceError
from tests.inputs.counting import counts

EDGES = {bits: [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] for bits in (8, 16, 32, 64)}
DAYS = [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]


def ticks(kind, bits=64):
    return pa.array(EDGES[bits], f"int{bits}").cast(kind)


#: It does not write views of text, and marks every time of day as one with a zone.
OLD_ARROW = int(pa.__version__.split(".")[0]) < 18
#: Kinds that are one type in other encodings, with values at its edges.
TEXT = ["", "\\xFF", "1", "1.0", "true", "1970-01-01"]
KINDS = {
    "text": [
        pa.array(TEXT),
        pa.array(TEXT, pa.large_string()),
        pa.array(TEXT).dictionary_encode(),
        *([] if OLD_ARROW else [pa.array(TEXT, pa.string_view())]),
    ],
    "bytes": [pa.array([b"\xff", b"1", b""]), pa.array([b"\xff", b"\\xFF"], pa.large_binary())],
    **{f"int{bits}": [pa.array(ends, f"int{bits}")] for bits, ends in EDGES.items()},
    **{f"uint{bits}": [pa.array([0, 2**bits - 1], f"uint{bits}")] for bits in EDGES},
    "one of a few numbers": [pa.array([1, 1, 2]).dictionary_encode(), pa.array([2, 3])],
    "float16": [pa.array(np.array([0.1, np.inf], "float16"))],
    "float32": [pa.array([0.1, 3e38], pa.float32())],
    "float64": [pa.array([0.1, 2.0**60, float("nan")])],
    "bool": [pa.array([True, False])],
    "date": [pa.array(DAYS), pa.array(DAYS, pa.date32())],
    **{f"stamps in {unit}": [ticks(pa.timestamp(unit))] for unit in ("ms", "us", "ns")},
    **{f"moments in {unit}": [ticks(pa.timestamp(unit, "UTC"))] for unit in ("ms", "us", "ns")},
    "moments there": [pa.array([0]).cast(pa.timestamp("us", "Europe/Berlin"))],
    "times in ms": [pa.array([0, 86_399_999], pa.int32()).cast(pa.time32("ms"))],
    "times in us": [pa.array([0, 86_399_999_999]).cast(pa.time64("us"))],
    "spans": [ticks(pa.duration("us"))],
    **{
        f"decimal of {digits}, {scale}": [pa.array([Decimal(9)], pa.decimal128(digits, scale))]
        for digits, scale in [(4, 1), (5, 1), (5, 2), (20, 0), (38, 30)]
    },
    "lists": [pa.array([[1]])],
}
#: What only Parquet tells apart, as DuckDB writes it.
WRITTEN = {
    "JSON": "SELECT '\"a\"'::JSON AS c",
    "UUID": "SELECT uuid() AS c",
    "times with a zone": "SELECT '00:00:00+00'::TIMETZ AS c",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of every kind: the name of the kind, the path, and the values if they are plain."""
    folder = tmp_path_factory.mktemp("kinds")
    found = []
    for kind, columns in KINDS.items():
        for column in columns:
            path = folder / f"{len(found)}.parquet"
            users = pa.array(range(len(column)))
            pq.write_table(pa.table({"u": users, "c": column, "v": column}), path)
            found.append((kind, path, column))
    for kind, select in WRITTEN.items():
        path = folder / f"{len(found)}.parquet"
        duckdb.execute(f"COPY (SELECT 0::BIGINT AS u, c, c AS v FROM ({select})) TO '{path}'")
        found.append((kind, path, None))
    path = folder / "int96.parquet"
    stamps = pa.table({"u": [0], "c": ticks(pa.timestamp("ns"))[1:], "v": [0]})
    pq.write_table(stamps, path, use_deprecated_int96_timestamps=True)
    found.append(("stamps of old Spark", path, None))
    bytes_of_16 = pa.table({"u": [0], "c": pa.array([b"1" * 16], pa.binary(16)), "v": [0]})
    pq.write_table(bytes_of_16, folder / "bytes.parquet")
    found.append(("16 bytes", folder / "bytes.parquet", None))
    return found


SAID = (
    "column 'c' has the type (.*) in '(.*)' and (.*) in '(.*)'; convert it to one type in all files"
)
# Whole numbers of 64 bits, in two places of the matrix.
SAME = {"one of a few numbers": "int64"}
if OLD_ARROW:
    SAME["times in us"] = "times with a zone"


def test_files_of_different_types_are_refused_whatever_they_hold(files):
    for (kind, path, _), (other, beside, _) in itertools.permutations(files, 2):
        if SAME.get(kind, kind) == SAME.get(other, other):
            stored_schemas([path, beside], ["u", "c"])
            continue
        with pytest.raises(SourceError) as caught:
            stored_schemas([path, beside], ["u", "c"])
        said = re.fullmatch(SAID, str(caught.value))
        assert said is not None, (kind, other)
        assert said[2] == str(path)
        assert said[4] == str(beside)
        assert said[1] != said[3]


def values_of(column):
    return [str(value) for value in column.to_pylist()]


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_files_of_one_type_are_read_right_up_to_its_edges(files, engine, tmp_path):
    groups = {}
    for kind, path, column in files:
        if column is not None and kind not in ("lists", "spans"):
            groups.setdefault(SAME.get(kind, kind), []).append((path, column))
    several = {kind: group for kind, group in groups.items() if len(group) > 1}
    assert {"text", "bytes", "int64", "date"} == set(several)
    for kind, group in several.items():
        for n, (first, second) in enumerate(itertools.permutations(group, 2)):
            folder = tmp_path / f"{kind} {n}"
            folder.mkdir()
            for place, (path, _) in enumerate((first, second)):
                (folder / f"{place}.parquet").write_bytes(path.read_bytes())
            source = f"{folder}/*.parquet"
            numbered = [pa.types.is_dictionary(column.type) for _, column in (first, second)]
            if engine == "polars" and kind == "text" and any(numbered):  # a type of its own there
                with pytest.raises(SourceError, match=r"type Categorical|and Categorical"):
                    counts(source, item="c", engine=engine)
                continue
            found = counts(source, item="c", engine=engine)
            expected = {*values_of(first[1]), *values_of(second[1])}
            assert {str(value) for value in found} == expected, kind


def two_files(folder, first, second):
    rows = {"u": ["x", "y"], "i": ["a", "b"], "t": [0, 1], "n": [1, 2]}
    for name, changes in (("0", first), ("1", second)):
        pq.write_table(pa.table(rows | changes), folder / f"{name}.parquet")
    return f"{folder}/*.parquet"


NOT_THE_SAME = r"column '{}' has the type {} in '.*0.parquet' and {} in '.*1.parquet'; convert"


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize(
    ("column", "options"),
    [
        ("u", {}),
        ("i", {}),
        ("n", {"where": "n > 0"}),
        ("n", {"sum": "n"}),
        ("n", {"mean": "n"}),
        ("n", {"per": "n"}),
    ],
)
def test_every_column_that_is_used_is_compared_and_no_other(column, options, engine, tmp_path):
    """Bytes and the text that DuckDB shows for them were one item, and one user."""
    other = pa.array([2**64 - 1, 1], pa.uint64()) if column == "n" else [b"\xff", b"a"]
    source = two_files(tmp_path, {}, {column: other, "unused": [[1], [2]]})
    kinds = ("int64", "uint64") if column == "n" else ("string", "binary")
    asked = {"user": "u", "item": "i", "rho": 1, "engine": engine, "unsafe_seed": 1}
    with pytest.raises(SourceError, match=NOT_THE_SAME.format(column, *kinds)):
        hc.release(source, **asked, **options)
    if column == "n":
        hc.release(source, **asked)  # which does not use it


def test_times_are_compared_too(tmp_path):
    kinds = pa.timestamp("us"), pa.timestamp("ns")
    first, second = ({"t": pa.array([0, 2**61], pa.int64()).cast(kind)} for kind in kinds)
    source = two_files(tmp_path, first, second)
    with pytest.raises(SourceError, match=r"'t' has the type timestamp\[us\] .* timestamp\[ns\]"):
        hc.release(source, user="u", by=("day", "t"), rho=1)


def test_sql_may_use_all_columns_so_all_are_compared(tmp_path):
    source = two_files(tmp_path, {}, {"n": [0.5, 1.5]})
    with pytest.raises(SourceError, match=NOT_THE_SAME.format("n", "int64", "double")):
        counts(source, sql="SELECT u, i FROM events")


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_a_column_of_only_some_files_is_refused(engine, tmp_path):
    for place, (one, two) in enumerate([({}, {"also": [1, 2]}), ({"also": [1, 2]}, {})]):
        folder = tmp_path / str(place)
        folder.mkdir()
        source = two_files(folder, one, two)
        there, gone = ("1", "0") if place == 0 else ("0", "1")
        says = f"column 'also' is in '.*{there}.parquet' but not in '.*{gone}.parquet'"
        with pytest.raises(SourceError, match=says):
            counts(source, item="also", engine=engine)


def test_a_column_without_a_type_holds_nothing_that_could_be_read_wrong(tmp_path):
    source = two_files(tmp_path, {}, {"i": pa.nulls(2)})
    assert counts(source) == {"a": 1, "b": 1}


def test_arrow_files_are_compared_in_the_same_words(tmp_path):
    for name, items in (("0", ["a"]), ("1", [b"a"])):
        table = pa.table({"u": ["x"], "i": items})
        with pa.ipc.new_file(str(tmp_path / f"{name}.arrow"), table.schema) as writer:
            writer.write_table(table)
    with pytest.raises(SourceError, match=r"'i' has the type string in .* and binary in"):
        counts(f"{tmp_path}/*.arrow")


@pytest.mark.parametrize("as_address", [False, True])
def test_spark_compares_files_here_and_elsewhere(spark, as_address, tmp_path):
    source = two_files(tmp_path, {}, {"i": [b"\xff", b"b"]})
    says = r"column 'i' has the type string in .* and binary in"
    if as_address:
        source, says = tmp_path.as_uri(), "a column does not have the same type in all files"
    with pytest.raises(SourceError, match=says):
        counts(source, engine="spark")
