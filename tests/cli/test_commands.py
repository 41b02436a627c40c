"""plan, demo and help."""

import json
import re

import click
import numpy as np
import pytest

import headcount as hc
from headcount import demo as made_up
from headcount.cli import cli
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.mechanisms.pcr.expectations import expect, expectations, smallest_item
from headcount.privacy.mechanisms.pcr.schedule import delta_star
from headcount.privacy.mechanisms.pcr.settings import PRESETS


def test_plan(headcount):
    ran = headcount("plan", "--epsilon", "3", "--delta", "1e-6")
    assert ran.code == 0
    assert ran.out.splitlines()[0].split() == ["users", "per", "item", "items", "std", "error"]
    assert re.search(r"ρ = 0\.\d+, δ = 1e-06, which is \(ε = 3, δ = 1e-06\)", ran.err)
    assert re.search(r"needs about \d+ users", ran.err)
    rows = [line.replace(",", "").split() for line in ran.out.splitlines()[2:]]
    users, items = [int(row[0]) for row in rows], [int(row[1]) for row in rows]
    assert users == sorted(users)
    assert items == sorted(items)
    assert items[0] >= 1
    assert items[-1] == 100_000


def test_plan_follows_the_formula():
    settings, budget = PRESETS["pcr"], Budget(rho=1, delta=1e-6)
    ratio = np.log(settings.k_bar / float(delta_star(settings, budget)))
    for expected in expectations(settings, budget)[:-1]:
        cost = (
            ratio**2 / 8 + 1 / (2 * (settings.noise * settings.r / 1.5) ** 2)
        ) / expected.users**2
        assert 0.8 < expected.items * cost < 1.4
        assert expected.std_error == pytest.approx(settings.r / 1.5 * expected.users, rel=0.06)
    smallest = smallest_item(settings, budget)
    assert expect(smallest + 1, settings, budget)
    assert expect(smallest - 2, settings, budget) is None


def test_plan_is_about_right():
    settings, budget = PRESETS["pcr"], Budget(rho=1, delta=1e-6)
    (planned,) = [e for e in expectations(settings, budget) if e.users == 300]
    counts = {f"item {n}": planned.users for n in range(10 * planned.items)}
    released = len(hc.release_counts(counts, budget=budget, unsafe_seed=1))
    assert planned.items / 2 < released < planned.items * 2


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--rho", "1", "--relative-error", "0.001"], "within 0.1 % of the truth"),
        (["--rho", "1e300"], "about 1 users"),
        (["--rho", "1e-9"], "too small to release anything"),
    ],
)
def test_plan_at_the_edges(headcount, args, says):
    ran = headcount("plan", *args)
    assert ran.code == 0
    assert says in ran.err + ran.out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "rho or epsilon"),
        (["--rho", "1", "--epsilon", "1"], "not both"),
        (["--rho", "-1"], "above 0"),
        (["--rho", "1", "--delta", "2"], "between 0 and 1"),
        (["--rho", "1", "--candidates", "0"], "at least 1"),
        (["--rho", "1", "--method", "pcr-paper", "--delta", "1e-12"], "delta is too small"),
    ],
)
def test_plan_of_what_is_no_budget(headcount, args, says):
    ran = headcount("plan", *args)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_plan_of_the_paper_stops_where_delta_ends():
    budget = Budget(rho=1e6, delta=1e-9)
    assert expectations(PRESETS["pcr-paper"], budget)[-1].items == 90


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


@pytest.mark.parametrize("command", [cli, *cli.commands.values()], ids=lambda c: c.name)
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
        for parameter in cli.commands[command].params:
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
