"""headcount plan: forecasts that say what they are, for people and for the shell."""

import re

import pytest

from headcount.planning import api

GUESS = ["--users", "3000", "--items-per-user", "5", "--items", "200"]


@pytest.fixture
def small_shapes(monkeypatch):
    monkeypatch.setattr(api, "TYPICAL", ((200, 2, 20), (3000, 5, 200), (9000, 5, 200)))


def columns(line):
    return [cell for cell in re.split(r" {2,}", line) if cell]


def figures(out):
    """Return the figures and ranges by name."""
    return {name: cells for name, *cells in map(columns, out.splitlines()[2:])}


def test_a_guess(headcount):
    ran = headcount("plan", "--epsilon", "3", "--delta", "1e-6", *GUESS)
    assert ran.code == 0
    assert columns(ran.out.splitlines()[0]) == ["forecast", "range"]
    told = figures(ran.out)
    assert list(told) == [
        "items that come out",
        "smallest count",
        "within 10 % of the truth",
        "typical standard error",
    ]
    typical, reach = told["items that come out"]
    low, high = map(int, reach.split(" to "))
    assert 10 < low <= int(typical) <= high <= 200
    assert re.search(r"ρ = 0\.\d+, δ = 1e-06, which is \(ε = 3, δ = 1e-06\)", ran.err)
    assert "A forecast from a guess: 3,000 users, 5 items each on average, 200 items" in ran.err
    assert "No data was read, nothing was charged and nothing was released." in ran.err
    assert re.search(r"The method auto chose (pcr|rationed)", ran.err)
    again = headcount("plan", "--epsilon", "3", "--delta", "1e-6", *GUESS)
    assert again.out == ran.out


def test_a_stand_in(headcount, parquet):
    ran = headcount("plan", "--rho", "1", "--like", parquet, "--user", "uid", "--item", "item")
    assert ran.code == 0
    assert figures(ran.out)["items that come out"] == ["3", "3"]
    assert "A forecast from a stand-in: 4,001 users" in ran.err
    assert "read without any privacy, so it must not be secret. Nothing was charged" in ran.err


def test_a_stand_in_in_a_database(headcount, tmp_path, events):
    import duckdb

    path = tmp_path / "d.duckdb"
    with duckdb.connect(path) as connection:
        connection.register("given", events)
        connection.execute("CREATE TABLE plays AS SELECT * FROM given")
    how = ["--rho", "1", "--like", path, "--user", "uid", "--item", "item"]
    by_table = headcount("plan", *how, "--table", "plays")
    assert by_table.code == 0
    by_sql = headcount("plan", *how, "--sql", "SELECT uid, item FROM plays WHERE item = 'tea'")
    assert figures(by_sql.out)["items that come out"] == ["1", "1"]


@pytest.mark.parametrize("rho", ["1e-300", "1e-6", "0.1", "1e6"])
def test_without_a_guess(headcount, small_shapes, rho):
    ran = headcount("plan", "--rho", rho)
    assert ran.code == 0
    header, _, *rows = map(columns, ran.out.splitlines())
    assert header[:4] == ["users", "items per user", "items", "come out"]
    assert [row[0] for row in rows] == ["200", "3,000", "9,000"]
    come_out = [float(row[3].replace(",", "")) for row in rows]
    assert come_out == sorted(come_out)
    assert (come_out == [0, 0, 0]) == (rho in ("1e-300", "1e-6"))
    for row in rows:
        assert (row[3] == "0") == (row[4:] == ["–", "–", "–"])
    assert "What comes out depends on the data" in ran.err
    assert "No data was read, nothing was charged and nothing was released." in ran.err


def test_nothing_comes_out_of_a_tiny_budget_and_nothing_else_is_said(headcount):
    ran = headcount("plan", "--rho", "1e-6", *GUESS)
    assert figures(ran.out) == {"items that come out": ["0", "0"]}
    assert "Nothing came out" in ran.err
    assert "chose" not in ran.err


def test_a_weak_budget_is_told_whatever_is_said(headcount, small_shapes):
    for args in (["--epsilon", "50", *GUESS], ["--epsilon", "50", "--quiet"]):
        ran = headcount("plan", *args)
        assert ran.code == 0
        assert ran.err.count("Caution: with ε above 10") == 1
    assert "Caution" not in headcount("plan", "--epsilon", "3", *GUESS).err


@pytest.mark.parametrize(("bound", "told"), [("2", True), ("5", False)])
def test_a_bound_below_the_mean_is_explained(headcount, bound, told):
    ran = headcount(
        *("plan", "-e", "3", *GUESS, "--method", "threshold", "--max-items-per-user", bound)
    )
    assert ran.code == 0
    assert ("too low, by 60 % or more in total" in ran.err) == told


def test_a_number_of_users_may_have_an_exponent(headcount):
    ran = headcount("plan", "-e", "3", "--users", "3e3", "--items-per-user", "5", "--items", "2e2")
    assert "3,000 users, 5 items each on average, 200 items in all" in ran.err


def test_options_of_the_method_are_used(headcount):
    def items(*more):
        ran = headcount("plan", "--epsilon", "3", *GUESS, *more)
        assert ran.code == 0
        return float(figures(ran.out)["items that come out"][0]), ran

    usual, _ = items()
    coarse, ran = items("--relative-error", "0.3")
    assert coarse > usual
    assert "within 30 % of the truth" in ran.out
    few, ran = items("--candidates", "10")
    assert few <= 10
    assert "chose" not in ran.err  # candidates mean pcr
    assert items("--method", "pcr-paper")[0] < usual


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "rho or epsilon"),
        (["--rho", "1", "--epsilon", "1"], "not both"),
        (["--rho", "-1"], "above 0"),
        (["--rho", "1", "--delta", "2"], "between 0 and 1"),
        (["--rho", "1", "--candidates", "0"], "at least 1"),
        (["--rho", "1", "--method", "pcr-paper", "--delta", "1e-12"], "delta is too small"),
        (["--rho", "1", "--users", "5"], "--items-per-user (items_per_user=) and --items (items=)"),
        (["--rho", "1", *GUESS[2:]], "a guess needs"),
        (["--rho", "1", *GUESS[:4]], "; missing: --items (items=)"),
        (["--rho", "1", "--user", "u"], "; missing: --like (like=), --item (item=)"),
        (["--rho", "1", *GUESS, "--item", "i"], "not both"),
        (["--rho", "1", *GUESS[2:], "--users", "0"], "whole number from 1 to 100,000,000,000"),
        (["--rho", "1", *GUESS[2:], "--users", "9" * 99], "whole number from 1 to"),
        (["--rho", "1", *GUESS[2:], "--users", "1.5"], "not a whole number"),
        (
            ["--rho", "1", *GUESS[:2], *GUESS[4:], "--items-per-user", "201"],
            "nobody can have 201 different items",
        ),
        (
            ["--rho", "1", *GUESS[:2], *GUESS[4:], "--items-per-user", "0"],
            "from 1 to 10,000 on average",
        ),
        (
            ["--rho", "1", *GUESS[:2], *GUESS[4:], "--items-per-user", "1e99"],
            "from 1 to 10,000 on average",
        ),
        (["--rho", "1", *GUESS[:4], "--items", "15001"], "cannot have 15,001 different ones"),
        (["--rho", "1", "--like", "none.csv", "--user", "u", "--item", "i"], "none.csv"),
    ],
)
def test_what_cannot_be_forecast(headcount, args, says):
    ran = headcount("plan", *args)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
