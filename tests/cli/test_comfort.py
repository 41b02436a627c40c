"""The command line as people use it: rows that fit, short options, colours, the environment."""

import json
import re
import shlex

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.cli import cli
from headcount.evaluation.methods import Target
from tests.cli.test_terminal import on_a_terminal
from tests.conftest import RHO

ITEMS = 30


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Thirty items, each of which all of 400 users have."""
    path = tmp_path_factory.mktemp("many") / "e.parquet"
    users = [f"u{n}" for n in range(400)]
    items = [f"item {n:02}" for n in range(ITEMS) for _ in users]
    pq.write_table(pa.table({"uid": users * ITEMS, "item": items}), path)
    return path


def ask(path, *more):
    return ["release", path, "-u", "uid", "-i", "item", "--rho", "5000", *more]


def rows_in(text):
    return len(re.findall(r"^item \d\d", text, flags=re.M))


@pytest.mark.parametrize(("more", "rows"), [([], 20), (["-n", "3"], 3), (["--limit", "all"], 30)])
def test_a_terminal_gets_the_first_rows(many, spill, more, rows):
    code, got = on_a_terminal(*ask(many, *more), cwd=spill)
    assert code == 0
    assert rows_in(got) == rows
    assert (f"… and {ITEMS - rows} more\n" in got) == (rows < ITEMS)
    assert ("costs the same again" in got) == (rows < ITEMS)
    assert f"Released {ITEMS} items" in got


def test_a_pipe_gets_everything_unless_asked_for_less(headcount, many):
    ran = headcount(*ask(many))
    assert rows_in(ran.out) == ITEMS
    assert "more" not in ran.out
    ran = headcount(*ask(many, "--limit", "2"))
    assert rows_in(ran.out) == 2
    assert rows_in(headcount(*ask(many, "-n", "99")).out) == ITEMS
    assert ran.out.endswith("… and 28 more\n")


def test_with_a_ledger_the_rest_can_be_fetched(headcount, many, spill, tmp_path):
    ledger = tmp_path / "budget.db"
    headcount("ledger", "init", ledger, "--dataset", "shop", "--rho", "9000")
    charge = ["--ledger", ledger, "--dataset", "shop"]
    code, got = on_a_terminal(*ask(many, *charge), cwd=spill)
    assert code == 0
    assert "headcount ledger fetch" in got
    code, got = on_a_terminal("ledger", "fetch", ledger, "3", cwd=spill)
    assert rows_in(got) == 20
    code, got = on_a_terminal("ledger", "fetch", ledger, "3", "-n", "all", cwd=spill)
    assert rows_in(got) == ITEMS


@pytest.mark.parametrize(
    "more", [["-f", "csv"], ["-f", "json"], ["-o", "{}/o.csv"], ["-o", "{}/o.json", "-f", "json"]]
)
def test_a_limit_is_for_the_table(headcount, many, tmp_path, more):
    ledger = tmp_path / "budget.db"
    headcount("ledger", "init", ledger, "--dataset", "shop", "--rho", "9000")
    more = [part.format(tmp_path) for part in more]
    ran = headcount(*ask(many, "-n", "5", "--ledger", ledger, "--dataset", "shop", *more))
    assert ran.code == 2
    assert "--limit only applies to the table" in ran.err
    assert len(hc.Ledger(ledger).log()) == 1
    assert not list(tmp_path.glob("o.*"))


@pytest.mark.parametrize("limit", ["-1", "some", "1.5", "1_0"])
def test_a_limit_is_a_whole_number(headcount, many, limit):
    ran = headcount(*ask(many, "--limit", limit))
    assert ran.code == 2
    assert "--limit" in ran.err


def test_a_format_beside_an_output_must_agree(headcount, parquet, tmp_path):
    columns = ["-u", "uid", "-i", "item", "--rho", RHO]
    output = tmp_path / "o.json"
    assert headcount("release", parquet, *columns, "-f", "json", "-o", output).code == 0
    assert len(json.loads(output.read_text())["items"]) == 3
    other = tmp_path / "p.json"
    for form in ("csv", "table"):
        ran = headcount("release", parquet, *columns, "-f", form, "-o", other)
        assert ran.code == 2
        assert f"--format says {form}" in ran.err
        assert not other.exists()


def in_colour(*args, cwd, **env):
    return on_a_terminal(*args, cwd=cwd, env={"TERM": "xterm-256color", "NO_COLOR": "", **env})


def test_colours_where_a_terminal_has_them_and_they_are_wanted(parquet, spill):
    args = ["release", str(parquet), "-u", "uid", "-i", "item", "--rho", RHO]
    _, got = in_colour(*args, cwd=spill)
    assert "\x1b[1mitem" in got
    assert "\x1b[33m\x1b[1mCaution: " in got
    missing = ["release", "missing.parquet", "-u", "u", "-i", "i", "-e", "1"]
    code, got = in_colour(*missing, cwd=spill)
    assert code == 2
    assert "\x1b[31m\x1b[1mheadcount: \x1b[0mthere is no file" in got
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in in_colour(*missing, cwd=spill, **env)[1]


def test_colours_go_to_no_pipe(process, parquet):
    ran = process("release", parquet, "-u", "uid", "-i", "item", "--rho", RHO,
                  env={"TERM": "xterm-256color"})  # fmt: skip
    assert "\x1b" not in ran.out + ran.err


def test_quiet_says_cautions_only(headcount, parquet, tmp_path):
    columns = ["-u", "uid", "-i", "item"]
    assert headcount("release", parquet, *columns, "-e", "9", "-q").err == ""
    ran = headcount("release", parquet, *columns, "--rho", RHO, "--quiet")
    assert ran.err.startswith("Caution: with ε above 10")
    assert ran.err.count("\n") == 1
    ran = headcount("release", parquet, *columns, "--rho", "1", "--unsafe-seed", "1", "-q")
    assert "must not be published" in ran.err
    ledger = tmp_path / "budget.db"
    headcount("ledger", "init", ledger, "--dataset", "shop", "--rho", "9")
    charge = ["--ledger", ledger, "--dataset", "shop"]
    assert headcount("release", parquet, *columns, "-e", "9", "-q", *charge).err == ""


def test_quiet_still_says_what_a_failure_cost(headcount, tmp_path):
    """A query that fails on a row is charged, and that must be said."""
    import duckdb

    database, ledger = tmp_path / "d.duckdb", tmp_path / "budget.db"
    with duckdb.connect(str(database)) as con:
        con.execute("CREATE TABLE t AS SELECT 'u' AS u, 'no number' AS i")
    headcount("ledger", "init", ledger, "--dataset", "shop", "--rho", "9")
    ran = headcount(
        "release", database, "--sql", "SELECT u, CAST(i AS INTEGER) AS i FROM t", "-u", "u",
        "-i", "i", "--rho", "1", "-q", "--ledger", ledger, "--dataset", "shop",
    )  # fmt: skip
    assert ran.code == 2
    assert "counts as spent" in ran.err


def test_verbose_says_each_step_and_the_settings(headcount, parquet):
    ran = headcount("release", parquet, "-u", "uid", "-i", "item", "--rho", RHO, "-v")
    lines = ran.err.splitlines()
    assert "the budget you meant" in lines[0]  # before anything is read
    assert lines[1] == "opening the source …"
    assert re.search(r"^Made by headcount [\d.]+, auto; settings: .*r = 0\.1", ran.err, flags=re.M)


@pytest.mark.parametrize("command", ["release", "plan", "demo", "compare"])
def test_quiet_and_verbose_exclude_each_other(headcount, parquet, command):
    columns = ["-u", "uid", "-i", "item"]
    args = {"release": [parquet, *columns, "-e", "1"], "plan": ["-e", "1"], "demo": [],
            "compare": [parquet, *columns, "--i-own-this-data"]}  # fmt: skip
    ran = headcount(command, *args[command], "-q", "-v")
    assert (ran.code, ran.out) == (2, "")
    assert "cannot be used together" in ran.err


def test_the_environment_names_ledger_dataset_and_actor(headcount, parquet, tmp_path, monkeypatch):
    ledger = tmp_path / "budget.db"
    monkeypatch.setenv("HEADCOUNT_LEDGER", str(ledger))
    monkeypatch.setenv("HEADCOUNT_ACTOR", "ann")
    assert headcount("ledger", "init", "--dataset", "shop", "--rho", "99").code == 0
    columns = ["release", parquet, "-u", "uid", "-i", "item", "--rho", RHO]
    refused = headcount(*columns)
    assert (refused.code, refused.out) == (2, "")
    assert "must be given together" in refused.err
    monkeypatch.setenv("HEADCOUNT_DATASET", "shop")
    output = tmp_path / "o.json"
    assert headcount(*columns, "-o", output).code == 0
    assert headcount("verify", output).code == 0
    assert "ann" in headcount("ledger", "log").out
    assert headcount(*columns, "--dataset", "other").code == 2  # what is typed comes first
    assert headcount("ledger", "show", tmp_path / "missing.db").code == 2
    monkeypatch.delenv("HEADCOUNT_LEDGER")
    assert "must be given together" in headcount(*columns).err


def test_no_budget_comes_from_the_environment(headcount, parquet, monkeypatch):
    for name in ("RHO", "EPSILON", "DELTA", "RELEASE_RHO", "RELEASE_EPSILON"):
        monkeypatch.setenv(f"HEADCOUNT_{name}", "5")
    ran = headcount("release", parquet, "-u", "uid", "-i", "item")
    assert "give a privacy budget" in ran.err


def commands_below(command, words):
    yield command, words
    if isinstance(command, click.Group):
        context = click.Context(command, **command.context_settings)
        for name in command.list_commands(context):
            yield from commands_below(command.get_command(context, name), [*words, name])


@pytest.mark.parametrize(
    ("command", "words"),
    list(commands_below(cli, ["headcount"])),
    ids=lambda v: getattr(v, "name", None),
)
def test_help_ends_with_examples_that_can_be_typed(command, words):
    assert command.epilog is not None, "it has no examples"
    assert command.epilog.startswith("\b\nExamples:\n")
    text = command.epilog.partition("Examples:\n")[2].replace("\\\n", "")
    for line in text.splitlines():
        typed = shlex.split(line.rpartition("| ")[2])  # what comes before is not headcount
        assert typed[: len(words)] == words
        found, rest = cli, typed[1:]
        parent = click.Context(cli, **cli.context_settings)
        while isinstance(found, click.Group):
            found, rest = found.get_command(parent, rest[0]), rest[1:]
        assert found.make_context(found.name, rest, parent=parent)


@pytest.mark.parametrize("words", [[], ["ledger"]])
def test_no_command_is_described_by_half_a_sentence(headcount, words):
    listed = headcount(*words, "--help").out.partition("Commands:")[2].partition("Examples:")[0]
    assert listed.strip() and "..." not in listed


@pytest.mark.parametrize(
    ("typed", "offers"),
    [
        ("headcount rel", "plain,release"),
        ("headcount release --eps", "plain,--epsilon"),
        ("headcount release --engine du", "plain,duckdb"),
        ("headcount release ev", "file,ev"),
        ("headcount ledger fe", "plain,fetch"),
    ],
)
def test_a_shell_can_complete(process, typed, offers):
    env = {"_HEADCOUNT_COMPLETE": "bash_complete", "COMP_WORDS": typed,
           "COMP_CWORD": str(len(typed.split()) - 1)}  # fmt: skip
    ran = process(env=env)
    assert (ran.code, ran.err) == (0, "")
    assert offers in ran.out.splitlines()


def test_a_comparison_takes_epsilon(headcount, parquet):
    columns = ["-u", "uid", "-i", "item", "--i-own-this-data", "--trials", "1"]
    ran = headcount("compare", parquet, *columns, "-e", "3")
    assert ran.code == 0
    rho = hc.Budget(epsilon=3).rho
    assert f"ε = 3 is ρ = {rho:g}" in ran.err
    assert f"{rho:g}" in ran.out
    for wrong in ("0", "-1", "inf", "x"):
        assert headcount("compare", parquet, *columns, "--epsilon", wrong).code == 2


def test_a_target_keeps_how_its_budget_was_given():
    for budget in (hc.Budget(epsilon=3), hc.Budget(rho=0.5, delta=1e-7)):
        assert Target.of(budget, 0.1).budget == budget
    assert Target(1.0, 1e-6, 0.1).budget == hc.Budget(rho=1.0)
