"""The picture of time and memory: who is measured, and how."""

import json
import sys

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from benchmarks import growth
from benchmarks.aggregation import Run, measured
from benchmarks.data import generated
from experiments.peers.tools import TOOLS


@pytest.fixture
def ran(monkeypatch):
    """Measure nothing; return what would have been measured."""
    lines = []

    def one(command, variables=None, folder=None):
        lines.append((command, variables))
        return Run(1.0, 2.0, 3e9)

    monkeypatch.setattr(growth, "measured", one)
    monkeypatch.setattr(
        growth, "in_turns", lambda mine, _: {name: one(mine[name]) for name in mine}
    )
    monkeypatch.setattr(growth, "generated", lambda folder, rows: folder / f"events-{rows}.parquet")
    return lines


def test_only_what_is_asked_for_is_measured(ran, monkeypatch):
    python = "python of the tool"
    monkeypatch.setattr("experiments.peers.measure.python_of", lambda tool, folder: python)
    made = {"OpenDP, Polars context": {"5": {"seconds": 9.0, "gigabytes": 9.0}}}
    growth.measure(made, 1000, ["query", "opendp", "tumult"])
    assert [set(sizes) for sizes in made.values()] == [{"5", "1000"}, {"1000"}, {"1000"}]
    assert made["COUNT(DISTINCT) in DuckDB"]["1000"] == {"seconds": 2.0, "gigabytes": 3.0}
    assert [command[:3] for command, _ in ran[1:]] == [
        [python, "-m", f"experiments.peers.runners.{name}"] for name in ("opendp", "tumult")
    ]
    job = json.loads(ran[1][0][3])
    assert (job["rho"], job["delta"], job["bound"]) == (1.0, 1e-6, growth.BOUND)
    assert job["events"].endswith("events-1000.parquet")


def test_other_tools_are_lines_of_the_picture():
    tools = {tool.runner for tool in TOOLS if tool.requirements}
    assert set(growth.LINES) - set(growth.OURS) <= tools
    kept = json.loads(growth.MEASURED.read_text(encoding="utf-8"))
    assert set(kept) <= set(growth.LINES.values())


def test_one_user_in_twenty_has_more_than_the_bound(tmp_path):
    """Of 5,000 users; by chance the share is off by 0.3 % at one standard deviation."""
    rows = pq.read_table(generated(tmp_path, 100_000), columns=["user"])["user"]
    sizes = pc.value_counts(rows).field("counts")
    share = pc.sum(pc.greater(sizes, growth.BOUND)).as_py() / 5000
    assert abs(share - 0.05) < 0.02


def test_a_line_has_its_name_in_the_picture(tmp_path):
    figures = {"seconds": 1.0, "gigabytes": 1.0}
    picture = tmp_path / "speed.svg"
    growth.draw({growth.LINES["tumult"]: {"10": figures, "100": figures}}, picture)
    said = picture.read_text(encoding="utf-8")
    assert growth.LINES["tumult"] in said and growth.LINES["opendp"] not in said


def test_a_command_gets_its_variables():
    asks = "import os, sys; sys.exit(os.environ.get('WHO') != 'me')"
    assert measured([sys.executable, "-c", asks], {"WHO": "me"}).processor > 0
    with pytest.raises(RuntimeError, match="a command failed"):
        measured([sys.executable, "-c", asks])
