"""The comparison with other tools: what is run, and what the page says about it."""

import json
import re
import subprocess
import sys
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from experiments.peers import measure, page
from experiments.peers.job import Job
from experiments.peers.measure import BOUNDS, Events, Results, Run
from experiments.peers.tools import TOOLS

OURS, OTHER = TOOLS[0], TOOLS[1]
EVENTS = Events(None, {"x": 100}, guess=55, shape="some people")


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "results.json")


def a_run(tool, bound, accurate=10, failure=""):
    return Run(tool.name, "1.0", bound, 20, accurate, 3.0, "2026-11-18", failure)


def test_every_bound_is_run_once_and_the_guess_and_the_best_more_often(results):
    ran = []
    for bound in measure.plan(OTHER, results, EVENTS):
        ran.append(bound)
        results.add(a_run(OTHER, bound, accurate=99 if bound == 64 else 10))
    assert ran == [55, *BOUNDS, 55, 55, 64, 64]
    assert list(measure.plan(OTHER, Results(results.path), EVENTS)) == []  # as kept in the file


def test_a_tool_that_was_run_with_the_guess_only_has_one_row(results):
    results.add(a_run(OURS, None))
    for tool in TOOLS[1:]:
        results.add(replace(a_run(tool, EVENTS.guess), seconds=None))
    rows = [line for line in page.summary(results, EVENTS) if line.startswith("| OpenDP")]
    assert len(rows) == 1 and "not measured" in rows[0] and "(1 run)" in rows[0]
    assert any("not run" in line for line in page.every_bound(results, EVENTS))


def test_a_tool_that_fails_is_not_tried_again_and_the_table_says_so(results):
    ran = []
    for bound in measure.plan(OTHER, results, EVENTS):
        ran.append(bound)
        results.add(a_run(OTHER, bound, failure="could not be installed"))
    assert ran == [55]
    results.add(a_run(OURS, None))
    for tool in TOOLS[2:]:
        for bound in measure.plan(tool, results, EVENTS):
            results.add(a_run(tool, bound))
    lines = list(page.summary(results, EVENTS))
    assert any("OpenDP" in line and "could not be installed" in line for line in lines)
    assert any("headcount 1.0" in line and "10 (50%)" in line for line in lines)
    assert not any("OpenDP" in line for line in page.every_bound(results, EVENTS))


def test_counts_are_compared_with_the_truth(tmp_path):
    """By the one tool that is here: the runner, the job and the answer."""
    path = tmp_path / "events.parquet"
    people = [*range(5000), *range(5000)]
    pq.write_table(pa.table({"user": people, "item": ["x"] * 5000 + ["y"] * 5000}), path)
    events = Events(path, {"x": 5000, "y": 50}, guess=2, shape="")
    done = measure.run(OURS, None, events, tmp_path)
    assert (done.failure, done.released, done.accurate) == ("", 2, 1)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_tool_has_a_runner_that_can_be_read(tool):
    source = measure.ROOT / "experiments" / "peers" / "runners" / f"{tool.runner}.py"
    compile(source.read_text(encoding="utf-8"), str(source), "exec")


def test_a_job_survives_as_text():
    job = Job("events.parquet", 3.0, 1e-6, 0.18, 3e-7, 55)
    assert Job(**json.loads(job.to_json())) == job


def test_what_a_tool_is_given_needs_no_package():
    """It is imported in environments that have neither headcount nor its libraries."""
    code = "import sys, experiments.peers.job; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=measure.ROOT, text=True,
                          capture_output=True, check=True)  # fmt: skip
    assert not {"headcount", "numpy", "pyarrow"} & set(done.stdout.split())


def test_the_page_has_a_row_for_each_tool_with_its_version():
    text = page.PAGE.read_text(encoding="utf-8")
    table = page.MARKED.search(text)[0]
    for tool in TOOLS:
        assert re.search(rf"^\| {tool.name} (\d+\.\d+|\|)", table, flags=re.M), tool.name
