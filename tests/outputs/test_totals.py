"""Totals in every form of a release, and in what a question is known by."""

import io
import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.ledger.stored_releases import from_bytes, known_by, to_bytes
from headcount.outputs import render
from headcount.privacy.mechanisms.base import Total
from headcount.results.canonical import fingerprint, fingerprint_of_document
from headcount.results.release import release_of_table
from tests.conftest import RHO, USERS
from tests.pages.made import release_with


@pytest.fixture(scope="module")
def release(parquet):
    budget = hc.Budget(rho=float(RHO))
    return hc.release(parquet, user="uid", item="item", budget=budget, total=True, other=True)


def test_json_and_parquet_have_the_totals(release):
    document = json.loads(render(release, "json"))
    assert document["totals"] == release.totals
    for total in release.totals.values():
        assert list(total) == ["count", "std_error", "lower", "upper"]
        assert total["lower"] <= total["count"] <= total["upper"]
    table = pq.read_table(io.BytesIO(render(release, "parquet")))
    assert release_of_table(table).totals == release.totals
    assert fingerprint(table) == fingerprint_of_document(document) == fingerprint(release.table)
    assert from_bytes(to_bytes(release)).totals == release.totals


def test_other_is_about_what_is_not_listed(release):
    assert release.table["item"].to_pylist() == list(USERS)
    # Some items are too rare to come out; 9 standard errors of 1 user are far less than the rest.
    assert release.totals["other"]["count"] < 20
    assert release.totals["total"]["count"] > 3000


def test_the_summary_says_them_and_that_rows_overlap(release):
    said = "\n".join(release.summary())
    assert f"Users with an item: {release.totals['total']['count']:,} (standard error 1.0)." in said
    assert "Users with an item that is not listed: " in said
    assert "do not add up to a total" in said
    assert [notice.code for notice in release.notices()][-1] == "rows-overlap"


def test_without_totals_a_release_says_nothing_of_them(parquet):
    release = hc.release(parquet, user="uid", item="item", budget=hc.Budget(rho=float(RHO)))
    assert release.totals == {}
    assert "totals" not in json.loads(render(release, "json"))
    assert "rows-overlap" not in [notice.code for notice in release.notices()]


def test_the_command_line_has_them(parquet, headcount):
    asked = [
        "release",
        parquet,
        "--user",
        "uid",
        "--item",
        "item",
        "--rho",
        RHO,
        "--format",
        "json",
    ]
    result = headcount(*asked, "--total")
    assert list(json.loads(result.out)["totals"]) == ["total"]
    assert "Users with an item: " in result.err


def test_a_question_with_totals_is_another_question():
    asked = hc.Question(
        source="x.parquet", user="u", item="i", budget=hc.Budget(rho=1), data_version="today"
    )
    both = [(False, False), (False, True), (True, False), (True, True)]
    assert len({known_by("d", replace(asked, total=a, other=b)) for a, b in both}) == 4
    assert hc.Question.from_json(replace(asked, other=True).to_json()).other


def test_noise_below_zero_leaves_an_interval_that_is_as_wide_as_the_noise():
    released = [Total("total", 1000, 10.0), Total("other", -50, 10.0)]
    items = pa.table({"item": ["a", "b"]})
    release = release_with(items, np.array([100.0, -50.0]), errors=10.0, totals=released)
    assert release.totals == {
        "total": {"count": 1000, "std_error": 10.0, "lower": 980.4, "upper": 1019.6},
        "other": {"count": 0, "std_error": 10.0, "lower": 0.0, "upper": 19.6},
    }
    counts = release.table.select(["count", "lower", "upper"]).to_pylist()
    assert counts[1] == {"count": 0, "lower": 0.0, "upper": 19.6}


def test_the_datasheet_and_the_registry_entry_say_them(release, tmp_path, headcount):
    path = tmp_path / "out.json"
    release.write(path)
    total = release.totals["total"]
    interval = f"{total['lower']:,.1f} to {total['upper']:,.1f}"
    assert (
        f"| Users with an item | {total['count']:,}, 95 % interval {interval} |"
        in headcount("describe", path).out
    )
    entry = headcount("describe", path, "-f", "yaml").out
    assert f"Users with an item: {total['count']:,} (95 % interval: {interval}). " in entry


@pytest.mark.parametrize("totals", [[], {"total": {}}, {"total": {"count": "x"}}, {"more": {}}])
def test_a_file_with_other_totals_is_refused(release, tmp_path, headcount, totals):
    document = json.loads(render(release, "json")) | {"totals": totals}
    path = tmp_path / "out.json"
    path.write_text(json.dumps(document))
    for command in ("describe", "report"):
        assert "not a release that headcount wrote" in headcount(command, path).err
