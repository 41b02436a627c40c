"""What goes into a file comes out of it again."""

import csv
import datetime
import decimal
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headcount.outputs import render
from tests.outputs.releases import release_of

NASTY = [
    "",
    " ",
    "plain",
    "comma, \"quotes\", 'more'",
    "line\nfeed\r\nand\rreturn",
    "tab\there",
    "nul\0within",
    "\x1b[31mred\x1b[0m",
    "é ü 漢字 😀 \u202e\u200b\ufeff",
    "=1+1",
    "'=1+1",
    "''",
    "-1",
    "＝1",
    "</script>",
    "x" * 10_000,
]
texts = st.lists(st.text(), max_size=8, unique=True)


def read_csv(release):
    text = render(release, "csv").decode()
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return [unguarded(name) for name in header], rows


def unguarded(text: str) -> str:
    return text.removeprefix("'")


@given(texts)
@example(NASTY)
def test_text_survives_csv(items):
    header, rows = read_csv(release_of({"item": pa.array(items, pa.string())}))
    assert header == ["item", "count", "std_error", "lower", "upper"]
    assert {unguarded(row[0]): int(row[1]) for row in rows} == {
        item: 100 + n for n, item in enumerate(items)
    }


@given(texts)
@example(NASTY)
def test_no_cell_of_csv_is_a_formula(items):
    _, rows = read_csv(release_of({"item": pa.array(items, pa.string())}))
    assert not [row for row in rows if row[0].startswith(tuple("=+-@\t\r\n＝＋－＠"))]


@given(texts)
@example(NASTY)
def test_text_survives_json(items):
    content = json.loads(render(release_of({"item": pa.array(items, pa.string())}), "json"))
    assert list(content) == [
        *("format", "guarantee", "spent", "settings", "provenance", "items"),
    ]
    assert {row["item"]: row["count"] for row in content["items"]} == {
        item: 100 + n for n, item in enumerate(items)
    }


@given(texts)
@example(NASTY)
def test_text_survives_parquet(items):
    table = pq.read_table(
        io.BytesIO(render(release_of({"item": pa.array(items, pa.string())}), "parquet"))
    )
    assert sorted(table["item"].to_pylist()) == sorted(items)


@given(st.text(min_size=1).filter(lambda name: name.casefold() not in ("count", "upper", "lower")))
@example("guarantee")
@example("=1+1")
def test_column_names_survive(name):
    release = release_of({name: ["a"]})
    assert read_csv(release)[0][0] == name
    assert json.loads(render(release, "json"))["items"][0][name] == "a"
    assert pq.read_table(io.BytesIO(render(release, "parquet"))).column_names[0] == name


TYPES = [
    (pa.array([9007199254740993], pa.int64()), 9007199254740993, "9007199254740993"),
    (pa.array([2**64 - 1], pa.uint64()), 2**64 - 1, str(2**64 - 1)),
    (pa.array([-5], pa.int8()), -5, "-5"),
    (pa.array([True]), True, "True"),
    (pa.array([0.1]), 0.1, "0.1"),
    (pa.array([float("nan")]), "nan", "nan"),
    (pa.array([float("-inf")]), "-inf", "-inf"),
    (pa.array([decimal.Decimal("-1.50")]), "-1.50", "-1.50"),
    (pa.array([b"\0\xff"]), "00ff", "00ff"),
    (pa.array([datetime.date(2024, 1, 2)]), "2024-01-02", "2024-01-02"),
    (
        pa.array([datetime.datetime(2024, 1, 2, 3, 4, 5, 600)]),
        "2024-01-02T03:04:05.000600",
        "2024-01-02T03:04:05.000600",
    ),
    (
        pa.array([1], pa.timestamp("ns")),
        "1970-01-01T00:00:00.000000001",
        "1970-01-01T00:00:00.000000001",
    ),
    (pa.array([datetime.time(3, 4)]), "03:04:00", "03:04:00"),
]


@pytest.mark.parametrize(("column", "in_json", "in_csv"), TYPES, ids=lambda v: str(v)[:30])
def test_values_of_other_types_survive(column, in_json, in_csv):
    release = release_of({"item": column})
    assert json.loads(render(release, "json"))["items"][0]["item"] == in_json
    assert read_csv(release)[1][0][0] == in_csv
    stored = pq.read_table(io.BytesIO(render(release, "parquet")))
    assert stored["item"].type == column.type
    assert str(stored["item"][0]) == str(column[0])
    assert in_csv.split("T")[0] in render(release, "table").decode()


def test_dates_that_python_has_not_do_not_cost_the_release():
    release = release_of({"item": pa.array([4_000_000, -1_000_000], pa.int32()).cast(pa.date32())})
    for form in ("csv", "json", "table", "parquet"):
        assert render(release, form)
    assert "12921" in render(release, "csv").decode()


def test_several_item_columns_keep_their_order():
    release = release_of({"b": ["x"], "a": [1]})
    assert read_csv(release)[0][:2] == ["b", "a"]
    assert list(json.loads(render(release, "json"))["items"][0])[:3] == ["b", "a", "count"]


def test_parquet_carries_what_json_carries():
    release = release_of({"item": ["a"]})
    metadata = pq.read_schema(io.BytesIO(render(release, "parquet"))).metadata[b"headcount"]
    content = json.loads(render(release, "json"))
    del content["items"]
    assert json.loads(metadata) == content
    assert json.loads(release.table.schema.metadata[b"headcount"]) == content


@pytest.mark.parametrize("form", ["table", "csv", "json", "parquet"])
def test_an_empty_release_has_its_columns(form):
    content = render(release_of({"item": pa.array([], pa.string())}), form)
    if form == "json":
        assert json.loads(content)["items"] == []
    elif form == "parquet":
        assert pq.read_table(io.BytesIO(content)).column_names[0] == "item"
    else:
        assert content.decode().count("std_error") == 1
