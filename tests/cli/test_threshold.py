"""The method threshold on the command line: what it asks for, what it says, what it keeps."""

import json

import pytest

import headcount as hc
from tests.cli.test_leaks import no_canary
from tests.conftest import RHO, USERS

ARGS = ["--user", "uid", "--item", "item", "--rho", RHO, "--method"]


def test_the_counts_and_what_is_said_of_the_bound(headcount, parquet, tmp_path):
    output = tmp_path / "o.json"
    bound = ["--max-items-per-user", "3", "--columns", "all", "--output", output]
    ran = headcount("release", parquet, *ARGS, "threshold", *bound)
    assert ran.code == 0
    assert "at most 3 items of each user count" in ran.err
    assert no_canary(ran.err + output.read_text())
    found = json.loads(output.read_text())
    sigma = found["settings"]["sigma"]
    assert found["settings"]["max_items_per_user"] == 3
    assert found["guarantee"]["method"] == "threshold"
    assert [row["item"] for row in found["items"]] == list(USERS)
    for row in found["items"]:
        assert abs(row["count"] - USERS[row["item"]]) <= 1 + 8 * sigma
        assert row["noisy_count"] == row["count"]
        assert row["noisy_std_error"] == sigma
        assert sigma <= row["std_error"] <= 1.01 * sigma  # three digits, rounded up


def test_items_beyond_the_bound_do_not_count(headcount, parquet):
    """Of the users with three items, as many as 500, one item each counts."""
    ran = headcount(
        *("release", parquet, *ARGS, "threshold", "--max-items-per-user", "1", "--format", "json")
    )
    counts = {row["item"]: row["count"] for row in json.loads(ran.out)["items"]}
    assert "one item of each user counts" in ran.err
    assert sum(counts.values()) == pytest.approx(4001, abs=30)  # σ is 0.1
    assert counts["bread"] < 3500


BAD = {
    "no bound": (["threshold"], "needs the largest number of items that a user can have"),
    "0": (["threshold", "--max-items-per-user", "0"], "from 1 to 1,000,000, got 0"),
    "below 0": (["threshold", "--max-items-per-user", "-5"], "from 1 to 1,000,000, got -5"),
    "too large": (["threshold", "--max-items-per-user", "1000001"], "from 1 to 1,000,000"),
    "no number": (["threshold", "--max-items-per-user", "few"], "not a whole number"),
    "a fraction": (["threshold", "--max-items-per-user", "1.5"], "not a whole number"),
    "auto": (["auto", "--max-items-per-user", "5"], "is only for the method threshold"),
    "rationed": (["rationed", "--max-items-per-user", "5"], "is only for the method threshold"),
    "candidates": (
        ["threshold", "--max-items-per-user", "5", "--candidates", "9"],
        "the method threshold has no candidates",
    ),
}


@pytest.mark.parametrize(("options", "says"), BAD.values(), ids=BAD)
def test_bad_bounds(headcount, parquet, options, says):
    ran = headcount("release", parquet, *ARGS, *options)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_plan_says_what_an_item_needs(headcount):
    how = ["--rho", "1", "--method", "threshold", "--max-items-per-user"]
    guess = ["--users", "2000", "--items-per-user", "2", "--items", "50"]
    ran = headcount("plan", *how, "5", *guess)
    assert ran.code == 0
    assert "noisy count exceeds 28 comes out; the standard error of each count is 1.58" in ran.err
    cells = [line.split("  ") for line in ran.out.splitlines()]
    (smallest,) = (int(row[-1].split(" to ")[0]) for row in cells if row[0] == "smallest count")
    assert smallest > 28
    assert headcount("plan", *how, "0").code == 2


def test_a_histogram_has_no_users_to_bound():
    with pytest.raises(hc.SettingsError, match="needs events"):
        hc.release_counts({"a": 5}, budget=hc.Budget(rho=1), method="threshold")
