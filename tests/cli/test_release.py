"""headcount release, as a user runs it."""

import csv
import io
import json

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tests.conftest import CANARY_ITEM, HEADCOUNT, RHO, USERS

COLUMNS = ["--user", "uid", "--item", "item"]


@pytest.fixture(scope="session")
def sources(tmp_path_factory, events):
    """Return the same events as every kind of source, with the options it takes."""
    folder = tmp_path_factory.mktemp("sources")
    pq.write_table(events, folder / "e.parquet")
    pyarrow.csv.write_csv(events, folder / "e.csv")
    with (folder / "e.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in events.to_pylist())
    (folder / "logs").mkdir()
    pyarrow.csv.write_csv(events.slice(0, 500), folder / "logs" / "1.csv")
    pyarrow.csv.write_csv(events.slice(500), folder / "logs" / "2.csv")
    with duckdb.connect(str(folder / "e.duckdb")) as connection:
        connection.register("events", events)
        connection.execute("CREATE TABLE plays AS SELECT * FROM events")
    upper = "SELECT uid, lower(upper(item)) AS item FROM plays"
    return {
        "parquet": [folder / "e.parquet"],
        "csv": [folder / "e.csv"],
        "jsonl": [folder / "e.jsonl"],
        "glob": [folder / "logs" / "*.csv"],
        "duckdb table": [folder / "e.duckdb", "--table", "plays"],
        "duckdb sql": [folder / "e.duckdb", "--sql", upper],
    }


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl", "glob", "duckdb table", "duckdb sql"])
def test_every_source_gives_the_same_release(headcount, sources, kind):
    ran = headcount("release", *sources[kind], *COLUMNS, "--rho", RHO, "--format", "json")
    assert ran.code == 0
    found = json.loads(ran.out)["items"]
    assert [row["item"] for row in found] == list(USERS)
    for row in found:
        assert list(row) == ["item", "count", "std_error", "lower", "upper"]
        assert isinstance(row["count"], int)
        assert abs(row["count"] - USERS[row["item"]]) <= 10 * row["std_error"]
        # A count is rounded to a whole number, and its error and interval up to three digits.
        reach = pytest.approx(1.959964 * row["std_error"], abs=0.5 + 0.03 * row["std_error"])
        assert row["upper"] - row["count"] == reach
        assert row["count"] - row["lower"] == reach
    assert CANARY_ITEM not in ran.out + ran.err


def test_json_is_one_object_of_the_promised_shape(headcount, parquet):
    ran = headcount("release", parquet, *COLUMNS, "--epsilon", "20", "--format", "json")
    content = json.loads(ran.out)
    keys = ["format", "guarantee", "spent", "settings", "provenance", "items"]
    assert list(content) == keys
    guarantee = content["guarantee"]
    assert list(guarantee) == [
        *("rho", "delta", "epsilon", "unit", "private", "method", "version"),
        *("variant", "adjacency", "privacy_unit", "delta_split"),
    ]
    assert guarantee["epsilon"] == 20
    assert guarantee["delta"] == 1e-6
    assert 0 < guarantee["rho"] < 20
    assert guarantee["private"] is True
    assert "one user: all rows of one user id, added or removed" in guarantee["unit"]
    assert list(content["spent"]) == ["rho", "delta"]
    assert 0 < content["spent"]["rho"] <= guarantee["rho"]
    assert 0 < content["spent"]["delta"] <= guarantee["delta"]
    settings = {"rationed": {"chosen", "r"}, "pcr": {"chosen", "r", "k_bar", "selection"}}
    assert settings[content["settings"]["chosen"]] <= set(content["settings"])


def test_formats_on_stdout(headcount, parquet):
    table = headcount("release", parquet, *COLUMNS, "--rho", RHO)
    assert table.out.splitlines()[0].split() == ["item", "count", "std_error", "lower", "upper"]
    same = headcount("release", parquet, *COLUMNS, "--rho", RHO, "--format", "table")
    assert same.out.splitlines()[0] == table.out.splitlines()[0]
    text = headcount("release", parquet, *COLUMNS, "--rho", RHO, "--format", "csv").out
    assert [row["item"] for row in csv.DictReader(io.StringIO(text))] == list(USERS)


def test_the_summary_goes_to_stderr(headcount, parquet):
    ran = headcount("release", parquet, *COLUMNS, "--rho", RHO)
    assert "Released 3 items with the method " in ran.err
    assert "1e-06-approximate 50-zCDP" in ran.err
    assert "one user: all rows of one user id, added or removed" in ran.err
    assert "Spent: ρ = " in ran.err
    assert "Released" not in ran.out


@pytest.mark.parametrize("ending", ["csv", "json", "parquet", "CSV"])
def test_output_by_ending(headcount, parquet, tmp_path, ending):
    path = tmp_path / f"counts.{ending}"
    ran = headcount("release", parquet, *COLUMNS, "--rho", RHO, "--output", path)
    assert (ran.code, ran.out) == (0, "")
    assert list(tmp_path.iterdir()) == [path]
    read = {"csv": pyarrow.csv.read_csv, "parquet": pq.read_table}
    if ending == "json":
        items = [row["item"] for row in json.loads(path.read_text())["items"]]
    else:
        items = read[ending.lower()](path)["item"].to_pylist()
    assert items == list(USERS)


def test_parquet_carries_the_guarantee(headcount, parquet, tmp_path):
    path = tmp_path / "counts.parquet"
    headcount("release", parquet, *COLUMNS, "--rho", RHO, "--output", path)
    account = json.loads(pq.read_schema(path).metadata[b"headcount"])
    assert list(account) == ["format", "guarantee", "spent", "settings", "provenance"]
    assert account["guarantee"]["rho"] == 50


def test_several_item_columns(headcount, tmp_path):
    pages = pa.table(
        {
            "uid": list(range(300)) * 2,
            "country": ["FR"] * 300 + ["DE"] * 200 + [None] * 100,
            "page": ["/a"] * 600,
        }
    )
    pq.write_table(pages, tmp_path / "p.parquet")
    items = ["--item", "country", "--item", "page"]
    ran = headcount(
        "release", tmp_path / "p.parquet", "--user", "uid", *items, "--rho", RHO, "--format", "csv"
    )
    rows = list(csv.reader(io.StringIO(ran.out)))
    assert rows[0][:3] == ["country", "page", "count"]
    assert [row[:2] for row in rows[1:]] == [["FR", "/a"], ["DE", "/a"]]


def test_settings_reach_the_mechanism(headcount, parquet):
    options = ["--relative-error", "0.3", "--candidates", "2", "--method", "pcr-paper"]
    ran = headcount("release", parquet, *COLUMNS, "--rho", RHO, "--format", "json", *options)
    content = json.loads(ran.out)
    assert content["settings"]["r"] == 0.3
    assert content["settings"]["k_bar"] == 2
    assert content["settings"]["charging"] == "paper"
    assert content["guarantee"]["method"] == "pcr-paper"
    assert len(content["items"]) <= 2


def test_a_seed_is_reproducible_and_says_so_everywhere(headcount, parquet, tmp_path):
    args = ["release", parquet, *COLUMNS, "--rho", RHO, "--unsafe-seed", "7"]
    ran = headcount(*args, "--format", "json")
    assert ran.out == headcount(*args, "--format", "json").out
    assert json.loads(ran.out)["guarantee"]["private"] is False
    assert "NOT PRIVATE" in ran.err
    assert headcount(*args).out.startswith("NOT PRIVATE")
    assert headcount(*args, "--format", "csv").out.splitlines()[1].endswith("False")
    headcount(*args, "--output", tmp_path / "o.parquet")
    metadata = json.loads(pq.read_schema(tmp_path / "o.parquet").metadata[b"headcount"])
    assert metadata["guarantee"]["private"] is False
    other = headcount(*args[:-1], "8", "--format", "json")
    assert other.out != ran.out


@pytest.mark.parametrize(
    ("sql", "protects", "caution"),
    [
        ("SELECT uid, item FROM plays WHERE item <> 'tea'", "of one user id, added", None),
        ("SELECT uid, item FROM plays LIMIT 500", "in the result of the given SQL", "several rows"),
        ("SELECT uid || item AS uid, item FROM plays", "one value of the user column", "less than"),
    ],
)
def test_what_a_query_protects_is_said(headcount, sources, sql, protects, caution):
    database = sources["duckdb table"][0]
    ran = headcount("release", database, "--sql", sql, *COLUMNS, "--rho", "1")
    assert ran.code == 0
    assert protects in ran.err
    assert ("Caution: the" in ran.err) is (caution is not None)
    assert caution is None or caution in ran.err


def test_the_command_as_installed(process, parquet, tmp_path):
    ran = process("release", parquet, *COLUMNS, "--rho", RHO, "--format", "json", cwd=tmp_path)
    assert ran.code == 0
    assert [row["item"] for row in json.loads(ran.out)["items"]] == list(USERS)
    assert not list(tmp_path.iterdir())
    assert HEADCOUNT.endswith("headcount")


def test_names_survive_every_output(headcount, tmp_path):
    names = ["a,\"b\"\n'c'", "x" * 10_000, "é 漢字 😀", "\x1b[31m", "=1", "", "\r\n\t\0"]
    pairs = [(user, name) for name in names for user in range(300)]
    pq.write_table(
        pa.table({"u": [pair[0] for pair in pairs], "i": [pair[1] for pair in pairs]}),
        tmp_path / "e.parquet",
    )
    args = ["release", tmp_path / "e.parquet", "--user", "u", "--item", "i", "--rho", RHO]
    as_json = json.loads(headcount(*args, "--format", "json").out)
    assert {row["i"] for row in as_json["items"]} == set(names)
    headcount(*args, "--output", tmp_path / "o.csv")
    with (tmp_path / "o.csv").open(newline="", encoding="utf-8") as file:
        assert {row["i"].removeprefix("'") for row in csv.DictReader(file)} == set(names)
    headcount(*args, "--output", tmp_path / "o.parquet")
    assert set(pq.read_table(tmp_path / "o.parquet")["i"].to_pylist()) == set(names)
    shown = headcount(*args)
    assert "\x1b" not in shown.out
    assert len(shown.out.splitlines()) == 2 + len(names)
    assert "\\x1b[31m" in shown.out
    assert "x" * 10_000 in shown.out


@pytest.mark.parametrize(("budget", "weak"), [(["--epsilon", "3"], False), (["--rho", "50"], True)])
def test_a_budget_that_promises_little_is_cautioned(headcount, parquet, budget, weak):
    ran = headcount("release", parquet, "--user", "uid", "--item", "item", *budget)
    assert ("weak promise" in ran.err) is weak


def test_a_glob_that_the_shell_expanded(headcount, parquet):
    ran = headcount("release", parquet, parquet, "--user", "uid", "--item", "item", "--rho", "1")
    assert ran.code == 2
    assert "put a glob in quotes" in ran.err
