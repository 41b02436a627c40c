"""Processes and connections that die or race: reserved or refused, never uncharged."""

import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import pytest

import headcount as hc
from headcount.ledger import store
from headcount.ledger.stored_releases import to_bytes
from tests.engines.test_faults import wait_until
from tests.ledger.conftest import NOON, made_of, schema_of

ROOT = Path(__file__).parents[2]


def crowd(*args):
    done = subprocess.run(
        [sys.executable, "-m", "tests.ledger.crowd", *map(str, args)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=900,
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


def test_a_server_that_is_frozen_is_hung_up_on(postgres_url):
    import psycopg

    where = schema_of(postgres_url)
    ledger = hc.Ledger(where)  # with patience for a server that is only slow
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    reservation = ledger.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})
    made = made_of(1)
    frozen = []

    def freeze():
        """Stop the server's process for this connection, as a debugger or a full host does."""
        with psycopg.connect(postgres_url, autocommit=True) as other:
            [(pid,)] = other.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'headcount'"
                " AND state LIKE 'idle in%'"
            ).fetchall()
        os.kill(pid, signal.SIGSTOP)
        frozen.append(pid)
        return to_bytes(made)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("headcount.ledger.ledger.to_bytes", lambda made: freeze())
        try:
            with pytest.raises(hc.LedgerUnavailableError):
                hc.Ledger(where, patience=0.05).settle(reservation, made, None)
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
    assert list(ledger.books().open) == [reservation.number]
    ledger.settle(reservation, made, None)


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
