"""The whole run on small sets: what it writes, and that it goes on where it ended."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from experiments.store import Description, ResultStore
from experiments.takeaways import TAKEAWAYS, page

from headcount.evaluation.methods import Target
from headcount.evaluation.summary import SummaryRow
from headcount.evaluation.trials import TrialOutcome

ROOT = Path(__file__).parents[2]


def experiments(*args):
    command = [sys.executable, "-m", "experiments", *map(str, args)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=600)


def test_a_run_writes_everything_and_goes_on_where_it_ended(tmp_path):
    data, output = tmp_path / "data", tmp_path / "results"
    data.mkdir()
    users = [f"u{n}" for n in range(3000)]
    mine = pa.table({"user": users * 2, "item": ["tea"] * 3000 + ["secret-item"] * 3000})
    pq.write_table(mine, data / "mine.parquet")
    ask = ["--data", data, "--output", output, "--trials", "2", "mine", "reddit-sample"]
    done = experiments(*ask)
    assert done.returncode == 0, done.stderr
    assert "reddit-sample: generated, matched to the paper's table" in done.stderr
    for name in ("mine", "reddit-sample"):
        assert (output / f"{name}.svg").read_text().lstrip().startswith("<?xml")
        assert (output / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    with (output / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {(row["set"], row["rho"]) for row in rows} == {
        (name, rho) for name in ("mine", "reddit-sample") for rho in ("0.1", "0.5", "1.0")
    }
    assert {row["trials"] for row in rows} == {"2"}
    laplace = [row for row in rows if row["method"] == "laplace-threshold"]
    assert [(row["set"], row["released"]) for row in laplace] == [("mine", "2.0")] * 3
    assert "## reddit-sample" in (output / "results.md").read_text()
    assert "Plume" in (output / "takeaways.md").read_text()
    for file in output.iterdir():
        assert b"secret-item" not in file.read_bytes(), file

    written = (output / "outcomes.jsonl").read_text()
    whole = (output / "results.csv").read_text()
    kept = written[: 2 * len(written) // 3]
    assert not kept.endswith("\n")  # cut within a line
    (output / "outcomes.jsonl").write_text(kept)
    assert experiments(*ask).returncode == 0
    assert (output / "results.csv").read_text() == whole
    again = (output / "outcomes.jsonl").read_text()
    assert again.startswith(kept + "\n")
    # What was there whole was not run again.
    assert len(again.splitlines()) == len(written.splitlines()) + 1


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["nowhere"], "there is no set nowhere"),
        (["--file", "nowhere=x.csv"], "there is no set nowhere"),
        (["--file", "finance=missing.csv", "finance"], "cannot read 'missing.csv'"),
        (["--file", "finance"], "--file takes SET=PATH"),
        (["--data", "/no/such/folder"], "there is no folder '/no/such/folder'"),
        (["--trials", "0"], "--trials must be at least 1"),
        (["--trials", "-3"], "--trials must be at least 1"),
    ],
)
def test_what_cannot_be_done_is_said(args, says, tmp_path):
    done = experiments("--output", tmp_path, *args)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_real_file_is_used_when_its_path_is_given(tmp_path):
    file = tmp_path / "raw_analyst_ratings.csv"
    file.write_text("stock\n" + "A\n" * 3000 + "B\n" * 2000)
    done = experiments("--output", tmp_path, "--trials", 1, "--file", f"finance={file}", "finance")
    assert done.returncode == 0, done.stderr
    assert "finance: the real file, raw_analyst_ratings.csv" in done.stderr
    described = json.loads((tmp_path / "sets.jsonl").read_text())
    assert (described["users"], described["items"], described["most_items"]) == (5000, 2, 1)


def described(name, stamp="1"):
    return Description(name, "generated", stamp, 10, 5, 20, (1, 1, 1, 1), 1)


def test_results_of_another_file_are_not_mixed_in(tmp_path):
    store, target = ResultStore(tmp_path), Target(1.0, 1e-6, 0.1)
    outcome = TrialOutcome("pcr", 1.0, 0, 3, 2, 3, 0.5)
    store.add(described("a"), target, [outcome])
    assert store.outcomes(described("a"), target) == [outcome]
    assert store.outcomes(described("a", stamp="2"), target) == []
    assert store.outcomes(described("a"), Target(1.0, 1e-7, 0.1)) == []
    store.describe(described("a"))
    assert store.description("a", "1") == described("a")
    assert store.description("a", "2") is None


def row(method, rho, released, within):
    beyond = 1 - within / released
    return SummaryRow(method, rho, 1, released, 0.0, within, 0.0, beyond, 0.0, 0.0)


def test_takeaways_say_whether_they_are_agreed():
    """PCR releases fewer counts than Plume and all of its own are close; at ρ = 1 few are."""
    rows = [
        row(method, rho, released, within)
        for rho in (0.1, 0.5, 1.0)
        for method, released, within in [
            ("pcr-paper", 100, 95 if rho < 1 else 50),
            *((f"plume-{p}", 1000, 900) for p in (95, 99)),
            *((f"plume-{p}-threshold", 300, 200) for p in (95, 99)),
        ]
    ]
    names = ("finance", "wikipedia")
    text = page([described(name) for name in names], dict.fromkeys(names, rows), "weighted")
    lines = {line.split(" | ")[0].strip("| "): line for line in text.splitlines()}
    assert lines["Plume can return a lot more results than PCR."].endswith("| agreed |")
    assert "at ρ = 0.1, 0.5 only" in lines["Less than 10 % of PCR's counts are beyond the target."]
    assert "| 95th | 0.1 | 12,981.5 | 1,000.0 |" in text
    assert "## movielens" not in text


def test_every_set_of_the_paper_has_takeaways():
    from experiments.paper_sets import PAPER_SETS

    assert {takeaway.name for takeaway in TAKEAWAYS} == set(PAPER_SETS)
