"""Rows, sums and means in every form of a release, and in what a question is known by."""

import csv
import io
import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.ledger.stored_releases import from_bytes, known_by, to_bytes
from headcount.outputs import render
from headcount.outputs.past_releases import holds_release
from headcount.results.canonical import fingerprint, fingerprint_of_document

NAMES = ["rows", "sum_x", "mean_x"]
PARTS = ["", "_std_error", "_lower", "_upper"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("sums") / "events.parquet"
    users = [n // 2 for n in range(4000)]
    table = {"u": users, "i": ["a", "b", "c"] * 1333 + ["a"], "x": [1.5, -0.25] * 2000}
    pq.write_table(pa.table(table), path)
    return path


@pytest.fixture(scope="module")
def release(source):
    return hc.release(
        source, user="u", item="i", rho=20, count="rows", sum="x", mean="x", columns="all"
    )


def test_every_form_has_every_column(release, tmp_path):
    columns = [name + part for name in NAMES for part in PARTS]
    assert set(columns) < set(release.measure_columns)
    assert {"noisy_sum_x", "sum_x_noisy_std_error"} < set(release.measure_columns)
    document = json.loads(render(release, "json"))
    assert set(columns) < set(document["items"][0])
    assert document["settings"]["aggregates"]["released"] == NAMES
    table = pq.read_table(io.BytesIO(render(release, "parquet")))
    assert fingerprint(table) == fingerprint_of_document(document)
    assert from_bytes(to_bytes(release)).table.equals(release.table)
    written = render(release, "csv").decode()
    assert next(csv.reader(io.StringIO(written))) == release.table.column_names
    assert "mean_x" in render(release, "table").decode()
    assert "a" in release._repr_html_()
    release.write(tmp_path / "out.csv")
    assert holds_release(tmp_path)
    for row in document["items"]:
        assert isinstance(row["rows"], int)
        for name in NAMES:
            assert row[f"{name}_lower"] <= row[name] <= row[f"{name}_upper"]


def test_the_page_the_datasheet_and_the_summary_tell_of_them(source, tmp_path, headcount):
    out, page = tmp_path / "out.parquet", tmp_path / "page.html"
    asked = ["release", source, "-u", "u", "-i", "i", "--rho", "20", "-o", out, "--report", page]
    told = headcount(*asked, "--count", "rows", "--sum", "x", "--mean", "x").err
    assert "scaled down to a limit" in told
    text = page.read_text()
    assert "sum_x" in text
    assert "mean_x" in text
    sheet = headcount("describe", out).out
    assert "distinct people, rows, sum\\_x, mean\\_x" in sheet
    assert "each user's scaled into one l2 norm" in sheet
    assert "sum_x" in headcount("describe", out, "-f", "yaml").out


def test_bounds_are_given_by_column(source, headcount):
    asked = ["release", source, "-u", "u", "-i", "i", "--rho", "20", "-f", "json"]
    some = ["--sum", "x", "--bounds", "x", "-1", "1", "--max-rows-per-user-item", "1"]
    made = json.loads(headcount(*asked, *some).out)
    stated = made["settings"]["aggregates"]
    assert stated["bounds"] == {"x": [-1, 1]}
    assert stated["max_rows_per_user_item"] == 1
    for row in made["items"]:  # 1333 pairs, half of them 1 and half of them −0.25
        assert abs(row["sum_x"] - 500) < 8 * row["sum_x_std_error"]


def test_a_question_with_sums_is_another_question():
    asked = hc.Question(
        source="x.parquet", user="u", item="i", budget=hc.Budget(rho=1), data_version="today"
    )
    others = [
        {},
        {"count": "rows"},
        {"sum": "x"},
        {"mean": "x"},
        {"sum": ["x", "y"]},
        {"sum": "x", "bounds": {"x": (0, 1)}},
        {"sum": "x", "max_rows_per_user_item": 2},
    ]
    assert len({known_by("d", replace(asked, **other)) for other in others}) == len(others)
