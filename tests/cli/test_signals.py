"""A run that is ended leaves nothing behind, and ends at once."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from headcount import cli
from tests.conftest import HEADCOUNT

DEADLINE = 300  # for what takes a second or two, on a machine that others use too

# As many pairs as could be counted in hours.
ENDLESS = "SELECT a.n AS u, b.n AS i FROM numbers AS a, numbers AS b"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("endless")
    with duckdb.connect(str(folder / "e.duckdb")) as connection:
        connection.execute("CREATE TABLE numbers AS SELECT range AS n FROM range(1000000)")
    with sqlite3.connect(folder / "e.sqlite") as connection:
        connection.execute("CREATE TABLE numbers (n INT)")
        connection.executemany("INSERT INTO numbers VALUES (?)", ((n,) for n in range(100_000)))
    return folder


def wait_until(condition):
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "it did not get that far"
        time.sleep(0.01)  # between two looks, not for something to happen


def is_counting(engine, spill, process):
    """Whether the query runs: DuckDB spills, SQLite uses processor time on it."""
    if engine == "duckdb":
        # In a folder of its own: Python tries out whether it may write to the one above.
        return lambda: any(path.is_file() for path in spill.rglob("*/*"))
    used_when_opened = []

    def busy():
        if not list(spill.iterdir()):
            return False
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        used_when_opened.append(used)
        return used > used_when_opened[0] + 1.5

    return busy


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_a_query(folder, tmp_path, spill, engine, number):
    output = tmp_path / "counts.csv"
    output.write_text("old")
    options = ["--user", "u", "--item", "i", "--rho", "1", "--memory", "100MB", "--output", output]
    process = subprocess.Popen(
        [
            HEADCOUNT,
            "release",
            folder / f"e.{engine}",
            "--sql",
            ENDLESS,
            *options,
            "--force",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        wait_until(is_counting(engine, spill, process))
        process.send_signal(number)
        out, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert (out, err.strip()) == ("", "headcount: interrupted")
    assert list(tmp_path.iterdir()) == [output]
    assert output.read_text() == "old"
    assert not list(spill.iterdir())


TALKATIVE = """
import logging, sys
from headcount import cli

class Connection:
    def __del__(self):
        raise KeyboardInterrupt("host=db.example.org")

def run():
    logging.getLogger("library").error("host=%s", "db.example.org", exc_info=ValueError("ann"))
    Connection()
    raise KeyboardInterrupt

cli.cli.main = lambda **options: run()
cli.main()
"""


def test_what_libraries_log_is_not_shown():
    """Some log that closing a connection was interrupted, with host and user."""
    done = subprocess.run(
        [sys.executable, "-c", TALKATIVE], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr.strip() == "headcount: interrupted"


def test_a_run_that_is_killed_leaves_nothing_beside_its_output(folder, tmp_path, spill):
    ask = ["--sql", ENDLESS, "--user", "u", "--item", "i", "--rho", "1", "--memory", "100MB"]
    process = subprocess.Popen(
        [HEADCOUNT, "release", folder / "e.duckdb", *ask, "--output", tmp_path / "counts.csv"]
    )
    try:
        wait_until(is_counting("duckdb", spill, process))
    finally:
        process.kill()
        process.wait()
    assert not list(tmp_path.iterdir())


def test_a_signal_that_is_ignored_stays_ignored(monkeypatch):
    monkeypatch.setattr(cli, "_run", lambda: 0)
    monkeypatch.setattr(cli, "_leave", sys.exit)
    before = {number: signal.getsignal(number) for number in cli._ENDING_SIGNALS}
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        with pytest.raises(SystemExit):
            cli.main()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is cli._end
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


INTERRUPTED_IMPORT = """
import sys
program, when, *arguments = sys.argv[1:]
class Interrupting:
    def find_spec(self, name, *_):
        if name == when:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
sys.argv[:] = [program, *arguments]
import headcount.cli
if arguments:
    headcount.cli.main()
"""


@pytest.mark.parametrize("module", ["click", "headcount.engines.guard", "numpy"])
def test_an_interrupt_while_modules_are_imported(module):
    def interrupted(program):
        command = [sys.executable, "-c", INTERRUPTED_IMPORT, program, module]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    for program in ("/usr/bin/headcount", "headcount.exe", "-m"):
        ran = interrupted(program)
        assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "headcount: interrupted\n")
    assert "Traceback" in interrupted("analysis.py").stderr  # another program's own business


@pytest.mark.parametrize("module", ["headcount.cautions", "headcount.cli.release"])
def test_an_interrupt_while_the_modules_of_a_command_are_imported(module):
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, "headcount", module, "release", "--help"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr.lstrip() == "headcount: interrupted\n"


def test_an_interrupt_in_a_command(headcount, parquet, tmp_path, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "headcount.privacy.mechanisms.auto.mechanism.release_automatically", interrupted
    )
    args = ["--user", "uid", "--item", "item", "--rho", "1", "--output", tmp_path / "o.csv"]
    ran = headcount("release", parquet, *args)
    assert (ran.code, ran.out, ran.err) == (130, "", "\nheadcount: interrupted\n")
    assert not list(tmp_path.iterdir())
