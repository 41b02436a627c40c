"""One small dataset for the session, and the command line run in this process."""

import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from headcount import cli

# How long an example takes says something about the machine, not about the code.
settings.register_profile("headcount", deadline=None)
settings.load_profile("headcount")

pytest_plugins = ["tests.engines.servers"]

#: Each Java of the tests lives for seconds, which it would spend on compiling well. With its first
#: compiler only, and one thread for garbage, Spark starts in 10 s of processor time instead of 19.
BRIEF_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
for _name in ("SPARK_SUBMIT_OPTS", "SPARK_DAEMON_JAVA_OPTS", "SPARK_LAUNCHER_OPTS"):
    os.environ.setdefault(_name, BRIEF_JAVA)

#: The command as it is installed, for what only a process of its own can show.
HEADCOUNT = str(Path(sys.executable).with_name("headcount"))

#: Enough for the items below to come out, but for the canary, with near certainty.
RHO = "50"


def after_the_caution(said: str) -> str:
    """Return what stderr says after the first line, that RHO is a weak promise."""
    first, _, rest = said.partition("\n")
    assert "the budget you meant" in first
    return rest


# Far apart, so that noise does not change their order: 9 standard errors and more.
USERS = {"bread": 4000, "milk": 1500, "tea": 500}
CANARY_USER = "canary-user-7f3a"
CANARY_ITEM = "canary-item-91c2"


class SparkApart(LoadScopeScheduling):
    """What uses the Spark of the tests runs in one process, first, which starts it once.

    What starts a Spark of its own runs in one process too, so that there are never more than two at
    a time; and what needs a browser.
    """

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith("tests/browser/"):
            return "browser"
        if not any(word in nodeid for word in ("spark", "cluster", "test_grouped_population")):
            return nodeid
        ones_own = nodeid.startswith(("tests/engines/test_cluster", "tests/engines/test_faults"))
        return "own spark" if ones_own else "spark"


def pytest_xdist_make_scheduler(config, log):
    return SparkApart(config, log)


def make_events() -> pa.Table:
    """Return a row per user and item; one user has an item of their own."""
    pairs = [(f"u{n}", item) for item, users in USERS.items() for n in range(users)]
    pairs += [(CANARY_USER, CANARY_ITEM), (CANARY_USER, "bread")]
    return pa.table({"uid": [user for user, _ in pairs], "item": [item for _, item in pairs]})


@pytest.fixture(autouse=True)
def _warnings_are_seen(monkeypatch):
    """Let tests see what a session hides: what headcount itself uses must not be deprecated."""
    monkeypatch.setattr("headcount.engines.session.without_warnings", nullcontext)


@pytest.fixture(scope="session")
def events() -> pa.Table:
    return make_events()


@pytest.fixture(scope="session")
def parquet(tmp_path_factory, events) -> Path:
    path = tmp_path_factory.mktemp("events") / "events.parquet"
    pq.write_table(events, path)
    return path


@dataclass
class Ran:
    """What a run left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def spill(tmp_path_factory, monkeypatch) -> Path:
    """Return a folder for temporary files that a run must leave empty."""
    folder = tmp_path_factory.mktemp("spill")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def headcount(monkeypatch, capfd, spill):
    """Run the command line in this process; what engines print themselves is caught too."""

    def run(*args: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["headcount", *map(str, args)])
        monkeypatch.setattr(cli, "_received", [])
        capfd.readouterr()
        code = cli._run()
        sys.stdout.flush()
        captured = capfd.readouterr()
        assert not list(spill.iterdir())
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def process(spill):
    """Run the installed command in a process of its own."""

    def run(*args: object, **options) -> Ran:
        done = subprocess.run(
            [HEADCOUNT, *map(str, args)],
            capture_output=True,
            encoding="utf-8",
            timeout=600,
            check=False,
            env={**os.environ, **options.pop("env", {})},
            **options,
        )
        assert not list(spill.iterdir())
        return Ran(done.returncode, done.stdout, done.stderr)

    return run
