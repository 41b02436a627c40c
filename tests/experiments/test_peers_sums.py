"""Sums and means by other tools: what is asked of them, and what is made of their answers."""

import json
import subprocess
import sys

import numpy as np
import pytest
from experiments.clipped import Bounds, Hindsight, best
from experiments.peers import measure
from experiments.peers import sums as peers
from experiments.peers.job import Question, SumsJob
from experiments.peers.measure import Command

from experiments import rated, sums

#: Answers as a runner does, exactly, for users in rising order whose first items count.
EXACT = """
import json, sys
import numpy as np, pyarrow.parquet as pq
from experiments.peers.job import SumsJob
job = SumsJob.of(**json.loads(sys.argv[1]))
users, items, values = (pq.read_table(job.events)[n].to_numpy() for n in ("user", "item", "value"))
first = np.searchsorted(users, users)
made = []
for question in job.questions:
    kept = np.arange(users.size) - first < question.most_items
    rows = np.bincount(items[kept], minlength=job.items)
    total = np.bincount(items[kept], values[kept].clip(question.low, question.high), job.items)
    each = {"rows": rows, "sum": total, "mean": total / rows}[question.what]
    made.append({str(item): float(number) for item, number in enumerate(each)})
with open(sys.argv[2], "w") as file:
    json.dump({"version": "1", "made": made, "asked": len(made)}, file)
"""
TRIPLES = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([1.0, 2.0, 3.0, 9.0])


@pytest.fixture
def asked(monkeypatch):
    """Have this Python answer instead of Tumult; return the jobs that it was given."""
    jobs = []

    def command(tool, runner, job, output, folder):
        jobs.append(job)
        assert (tool.name, runner) == ("Tumult", "tumult_sums")
        words = [sys.executable, "-c", EXACT, job.to_json(), str(output)]
        return Command(words, {"PYTHONPATH": str(measure.ROOT)})

    monkeypatch.setattr(peers, "command", command)
    return jobs


def test_questions_survive_as_text():
    questions = Question("sum", 3, 0.0, 5.0), Question("rows", 1, 0.0, 1.0)
    job = SumsJob("events.parquet", 7, 0.5, questions)
    assert SumsJob.of(**json.loads(job.to_json())) == job


def test_each_question_is_asked_once_and_answered_as_often_as_it_is_there(asked):
    one, two = Question("sum", 2, 0.0, 4.0), Question("rows", 1, 0.0, 1.0)
    made = peers.answers(TRIPLES, 2, 0.5, [one, two, one])
    assert [each.tolist() for each in made] == [[4.0, 6.0], [2.0, 0.0], [4.0, 6.0]]
    assert asked[0].questions == (one, two) and (asked[0].items, asked[0].rho) == (2, 0.5)


def test_a_runner_that_fails_is_no_result(monkeypatch):
    fails = Command([sys.executable, "-c", "raise SystemExit(1)"], {})
    monkeypatch.setattr(peers, "command", lambda *args: fails)
    with pytest.raises(subprocess.CalledProcessError):
        peers.answers(TRIPLES, 2, 0.5, [Question("rows", 1, 0.0, 1.0)])


def test_each_measure_has_the_bounds_that_are_best_for_it(asked, monkeypatch):
    ratings = rated.Ratings(*TRIPLES)
    chosen = Hindsight(0.0, 0.0, Bounds(9.0, 2), Bounds(4.0, 2))
    job = rated.Job("sum, no bounds", {}, "sum_stars", 0.25, lambda *_: chosen)
    monkeypatch.setattr(rated, "released", lambda *_: (None, ratings))
    kept = peers.of_ratings(ratings, job, 7)
    # True sums are 4 and 11. Up to 9 both are right; up to 4 they are 4 and 6.
    assert (kept.right, kept.error) == (1.0, np.median([0, 5 / 11]))
    assert asked[0].rho == 0.25 and [q.high for q in asked[0].questions] == [9.0, 4.0]
    assert (kept.name, kept.seed, *kept[4:]) == (job.name, 7, chosen.for_right, chosen.for_error)


def test_amounts_are_asked_for_with_the_bounds_that_were_best_for_opendp(asked, monkeypatch):
    chosen = Hindsight(0.0, 0.0, Bounds(1e9, 1000), Bounds(0.0, 1000))
    monkeypatch.setattr(sums, "large_clipped", lambda pairs, accurate, seed: chosen)
    kept = peers.of_amounts("some", "log-normal, σ = 1", 3, users=5000)
    # Nothing is lost with the one, and everything with the other.
    assert (kept.name, kept.seed, kept.right, kept.error) == ("some", 3, 1.0, 1.0)
    assert asked[0].rho == sums.SHARE
    assert asked[0].questions == (
        Question("sum", 1000, 0.0, 1e9), Question("sum", 1000, 0.0, 0.0)
    )  # fmt: skip


def test_a_mean_is_told_the_range_of_the_ratings():
    asked = peers.question_of("mean", Bounds(2.0, 64))
    assert asked == Question("mean", 64, rated.LOWEST, rated.HIGHEST)
    assert peers.question_of("rows", Bounds(1.0, 8)) == Question("rows", 8, 0.0, 1.0)


def test_what_was_run_is_kept_and_not_run_again(tmp_path):
    path, bounds = tmp_path / "new" / "sums.json", Bounds(5.0, 64)
    results = peers.Results(path)
    for seed, right in enumerate((0.5, 0.7)):
        run = peers.Kept("rows", seed, right, 0.1, bounds, bounds)
        results.run("rows", seed, lambda run=run: run)
    again = peers.Results(path)
    again.run("rows", 1, lambda: pytest.fail("it was run again"))
    assert again.runs == results.runs
    assert again.table()[2:] == ["| rows | 60.0% | 10.00% | 2 | 64 items up to 5 |"]


def test_films_that_were_found_are_numbered_anew():
    ratings = rated.Ratings(np.array([0, 0, 1]), np.array([0, 2, 2]), np.array([1.0, 4.0, 5.0]))
    found = ratings.only(np.array([2]))
    assert (found.users.tolist(), found.items.tolist(), found.films) == ([0, 1], [0, 0], 1)
    assert found.stars.tolist() == [4.0, 5.0]
    assert ratings.only(np.array([2, 0])).items.tolist() == [1, 0, 0]


def test_errors_of_means_are_in_stars_and_others_are_relative():
    ratings = rated.Ratings(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([2.0, 4.0, 4.0]))
    assert rated.off_by(ratings, "rows", np.array([2.1, 1.5])) == pytest.approx((0.5, 0.275))
    assert rated.off_by(ratings, "sum_stars", np.array([6.3, 4.0])) == pytest.approx((1, 0.025))
    assert rated.off_by(ratings, "mean_stars", np.array([3.2, 4.4])) == pytest.approx((0.5, 0.3))


def test_the_best_bounds_are_neither_too_narrow_nor_too_wide():
    """Nobody has more than one item, and values are 1: wider bounds add noise and nothing else."""
    users = np.arange(30_000)
    triples = users, users % 3, np.ones(users.size)
    found = best(triples, 0.01, np.full(3, True), [0.25, 1.0, 64.0], [1, 16], seed=0)
    assert found.for_right == found.for_error == Bounds(1.0, 1)
    assert found.right == 1.0 and found.error < 0.01


@pytest.mark.parametrize("runner", ["tumult_sums"])
def test_the_runner_can_be_read(runner):
    source = measure.ROOT / "experiments" / "peers" / "runners" / f"{runner}.py"
    compile(source.read_text(encoding="utf-8"), str(source), "exec")
