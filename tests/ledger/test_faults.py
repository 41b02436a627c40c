"""Processes that die, race or find no room: refused or reserved, never released uncharged."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path

import pytest

import headcount as hc
from headcount.ledger import store
from tests.engines.test_faults import wait_until
from tests.ledger.conftest import NOON, release, schema_of

ROOT = Path(__file__).parents[2]


def crowd(*args):
    done = subprocess.run(
        [sys.executable, "-m", "tests.ledger.crowd", *map(str, args)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_workers_killed_at_random_moments(where, tmp_path):
    """At 1,000 kills: `make kill-ledger`."""
    folder = tmp_path / "out"
    folder.mkdir()
    found = crowd("kill", where, folder, 60)
    assert found["within the total"]
    assert found["released without a charge"] == 0
    assert found["reserve"] == found["reserved and died"] + found.get("settle", 0)


@pytest.mark.parametrize("winners", [1, 5])
def test_32_processes_race_for_the_last_of_the_budget(where, winners):
    found = crowd("race", where, 32, winners)
    assert found == {"won": winners, "refused": 32 - winners, "failed": {}, "left": [0.0, 0.0]}


# --- no room, no right, no lock -----------------------------------------------------------------


@pytest.fixture
def shop(tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db", patience=0.05)
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    return ledger


def in_a_process(work):
    """Run a function in a process of its own, which may lose its rights; return what it raised."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        try:
            work()
            said = ""
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return said


def files_end_at(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_full_disk_refuses(shop):
    size = Path(shop._where).stat().st_size

    def fill():
        files_end_at(size)
        for _ in range(1000):  # until a page more is needed
            shop.reserve("shop", hc.Budget(rho=1e-6, delta=1e-11), {})

    assert in_a_process(fill).startswith("LedgerUnavailableError: ")
    shop.verify()


def test_a_full_disk_at_settling_leaves_the_reservation(shop):
    made = hc.release_counts(
        {f"item {n}": 9000 for n in range(300)}, budget=hc.Budget(rho=0.5, delta=1e-6)
    )
    reservation = shop.reserve("shop", hc.Budget(rho=0.5, delta=1e-6), {})

    def settle():
        files_end_at(Path(shop._where).stat().st_size)
        shop.settle(reservation, made, None)

    said = in_a_process(settle)
    assert said.startswith("LedgerUnavailableError: ")
    assert "disk is full" in said
    assert list(shop.books().open) == [reservation.number]
    shop.verify()


def test_a_read_only_ledger_can_be_read_and_not_charged():
    with tempfile.TemporaryDirectory() as name:  # where another user may look
        folder = Path(name)
        ledger = hc.Ledger(folder / "budget.db")
        ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
        (folder / "budget.db").chmod(0o444)
        folder.chmod(0o555)

        def charge():
            if os.getuid() == 0:
                os.setuid(65534)
            ledger.verify()
            ledger.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})

        said = in_a_process(charge)
        folder.chmod(0o755)
    assert said == "LedgerUnavailableError: the ledger cannot be used: it is read-only"


def test_a_locked_ledger_refuses(shop):
    made = hc.release_counts({"a": 9000}, budget=hc.Budget(rho=0.1, delta=1e-6))
    reservation = shop.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})
    other = sqlite3.connect(shop._where, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(hc.LedgerUnavailableError, match="locked"):
        release(shop)
    with pytest.raises(hc.LedgerUnavailableError, match="locked"):
        shop.settle(reservation, made, None)
    other.execute("ROLLBACK")
    other.close()
    assert list(shop.books().open) == [reservation.number]


def test_waiting_for_another_process_is_told(shop, monkeypatch):
    monkeypatch.setattr(store, "SILENCE", 0.0)
    told = []
    ledger = hc.Ledger(shop._where, tell=told.append)
    other = sqlite3.connect(shop._where, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    for use in (ledger.verify, lambda: ledger.retire("shop", reason="the end")):
        told.clear()
        waiting = threading.Thread(target=use)
        waiting.start()
        wait_until(lambda: told)
        other.execute("ROLLBACK")
        waiting.join()
        other.execute("BEGIN EXCLUSIVE")
        assert told[0].startswith("Waiting for the ledger: another process holds it")
    other.close()
    assert shop.books().retired == {"shop"}


# --- PostgreSQL ---------------------------------------------------------------------------------


def test_a_connection_lost_while_settling_releases_nothing(postgres_url):
    import psycopg

    ledger = hc.Ledger(schema_of(postgres_url), clock=lambda: NOON)
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    made = hc.release_counts({"a": 9000}, budget=hc.Budget(rho=0.1, delta=1e-6))
    reservation = ledger.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})
    raised = []

    def settle():
        try:
            ledger.settle(reservation, made, None)
        except hc.HeadcountError as error:
            raised.append(error)

    with psycopg.connect(postgres_url, autocommit=True) as other:
        lock = [store._POSTGRES_LOCK]
        other.execute("SELECT pg_advisory_lock(%s)", lock)
        settling = threading.Thread(target=settle)
        settling.start()
        waits = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        [(pid,)] = wait_until(lambda: other.execute(waits).fetchall())
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
        settling.join()
        other.execute("SELECT pg_advisory_unlock(%s)", lock)
    [error] = raised
    assert isinstance(error, hc.LedgerUnavailableError)
    assert "connection was lost" in str(error)
    assert list(ledger.books().open) == [reservation.number]


def test_what_is_read_is_of_one_moment(postgres_url):
    ledger = hc.Ledger(schema_of(postgres_url), clock=lambda: NOON)
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    with ledger._store.transaction(writes=False) as reading:
        ledger.extend("shop", rho=1, reason="while another reads")
        assert len(reading.entries()) == 1
    assert ledger.verify().entries == 2


@pytest.mark.parametrize(
    "url",
    [
        "postgres://ann:hunter2@localhost:1/nothing",
        "postgres://ann:hunter2@nowhere.invalid/nothing",
        "postgres://ann:hunter2@:x/nothing",
    ],
)
def test_no_password_is_repeated(url):
    with pytest.raises(hc.LedgerError) as found:
        hc.Ledger(url).books()
    assert "hunter2" not in "".join(traceback.format_exception(found.value))
    assert found.value.__context__ is None


@pytest.mark.parametrize("content", [b"", b"not a database", None])
def test_what_is_no_ledger(tmp_path, content):
    path = tmp_path / "budget.db"
    if content is None:
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE people (name)")
        other.close()
        with pytest.raises(hc.LedgerError, match="something else"):
            hc.Ledger(path).init("shop", budget=hc.Budget(rho=1))
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(hc.LedgerError, match="no ledger"):
        release(hc.Ledger(path))
    assert path.read_bytes() == before


def test_a_commit_is_on_disk(shop):
    with shop._store._connected(writes=True) as connection:
        [(synchronous,)] = connection.exec_driver_sql("PRAGMA synchronous").fetchall()
        [(journal,)] = connection.exec_driver_sql("PRAGMA journal_mode").fetchall()
    assert (synchronous, journal) == (2, "persist")  # 2 is FULL


def test_a_ledger_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(hc.LedgerError, match="headcount ledger init"):
        release(hc.Ledger(tmp_path / "budget.db"))
    assert not list(tmp_path.iterdir())
