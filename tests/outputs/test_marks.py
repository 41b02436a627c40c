"""A release made with a seed says in every format that it is not private."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest

from headcount.errors import NotPrivateError
from headcount.outputs import render
from tests.outputs.releases import release_of


@pytest.mark.parametrize("private", [True, False])
def test_every_format_says_whether_it_is_private(private):
    release = release_of({"item": ["a", "b"]}, private=private)
    assert json.loads(render(release, "json"))["guarantee"]["private"] is private
    metadata = pq.read_schema(io.BytesIO(render(release, "parquet"))).metadata[b"headcount"]
    assert json.loads(metadata)["guarantee"]["private"] is private
    rows = list(csv.DictReader(io.StringIO(render(release, "csv").decode())))
    assert [row.get("private") for row in rows] == [None if private else "False"] * 2
    assert ("private" in release.to_pandas()) is not private
    assert ("private" in release.to_polars()) is not private
    assert render(release, "table").decode().startswith("NOT PRIVATE") is not private
    assert repr(release).count("NOT PRIVATE") == (not private)
    assert " ".join(release.summary()).count("NOT PRIVATE") == (not private)


def test_the_number_of_items_is_shown_in_one_way():
    release = release_of({"item": list(range(2063))})
    assert repr(release).startswith("<Release of 2,063 items: ")
    assert release.summary()[0] == "Released 2,063 items."


def test_what_is_not_private_is_refused():
    release_of({"item": ["a"]}).guarantee.require_private()
    with pytest.raises(NotPrivateError):
        release_of({"item": ["a"]}, private=False).guarantee.require_private()
