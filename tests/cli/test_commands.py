"""demo and help."""

import json
import re

import click
import numpy as np
import pytest

import headcount as hc
from headcount import demo as made_up
from headcount.cli import cli
from headcount.privacy.accounting.budget import Budget

COMMANDS = {name: cli.get_command(None, name) for name in cli.list_commands(None)}


def test_made_up_events():
    events = made_up.made_up_events()
    assert 700_000 < events.num_rows < 1_500_000
    rows_per_user = np.bincount(events["user_id"].to_numpy())
    assert rows_per_user.min() == 1
    assert 500 < rows_per_user.max() <= 1000
    assert events.equals(made_up.made_up_events())


@pytest.fixture
def small_demo(monkeypatch):
    monkeypatch.setattr(made_up, "USERS", 5_000)


def test_demo(headcount, small_demo):
    ran = headcount("demo", "--rho", "5")
    assert ran.code == 0
    assert ran.out.split()[:3] == ["film", "count", "95"]
    assert len(ran.out.splitlines()) == 12
    assert "Guarantee: " in ran.err
    assert re.search(r"Of the \d+ released counts, \d+\.\d% are within 10% of the truth", ran.err)
    assert "only because the data is made up" in ran.err


def test_demo_compares_with_the_truth(small_demo):
    result = made_up.run_demo(Budget(rho=5), lambda message: None)
    events = made_up.made_up_events().to_pandas().drop_duplicates()
    truth = events.groupby("film").size()
    films = result.release.to_pandas()["film"]
    assert (truth[films].to_numpy() == result.true_counts).all()
    assert (result.relative_errors < 1).all()


def test_demo_that_releases_nothing(headcount, small_demo):
    ran = headcount("demo", "--rho", "1e-9")
    assert ran.code == 0
    assert "nan" not in ran.err
    assert "Nothing was released" in ran.err


def test_help(process):
    ran = process("--help")
    assert ran.code == 0
    for command in ("release", "plan", "demo"):
        assert command in ran.out
    assert process("--version").out.strip() == f"headcount, version {hc.__version__}"


@pytest.mark.parametrize("command", [cli, *COMMANDS.values()], ids=lambda c: c.name)
def test_everything_has_help(command):
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert parameter.help.rstrip("].").strip(), parameter.name


@pytest.mark.parametrize("command", ["release", "plan", "demo"])
def test_help_of_a_command(headcount, command):
    for flag in ("--help", "-h"):
        ran = headcount(command, flag)
        assert ran.code == 0
        assert ran.out.startswith(f"Usage: headcount {command}")
        for parameter in COMMANDS[command].params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[0] in ran.out


@pytest.mark.parametrize("args", [[], ["publish"], ["--colour"]])
def test_no_such_command(headcount, args):
    ran = headcount(*args)
    assert (ran.code, ran.out) == (2, "")
    assert "Usage: headcount" in ran.err


def test_help_says_the_defaults_that_hold(headcount, parquet):
    text = " ".join(headcount("release", "--help").out.split())
    ran = headcount(
        "release", parquet, "--user", "uid", "--item", "item", "--rho", "1", "--format", "json"
    )
    settings = json.loads(ran.out)["settings"]
    assert f"[default: {settings['r']}]" in text
    assert "[default: 1e-06]" in text
