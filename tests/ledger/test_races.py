"""Processes and connections that die or race: reserved or refused, never uncharged."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import pytest
from sqlalchemy.engine.default import DefaultDialect

import headcount as hc
from headcount.ledger.stored_releases import to_bytes
from tests.engines.test_faults import wait_until
from tests.ledger.conftest import NOON, kinds, made_of, schema_of

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

    where = schema_of(postgres_url)
    ledger = hc.Ledger(where, clock=lambda: NOON)
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    made = hc.release_counts({"a": 9000}, budget=hc.Budget(rho=0.1, delta=1e-6))
    reservation = ledger.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})
    raised = []

    def settle():
        try:
            ledger.settle(reservation, made, None)
        except hc.HeadcountError as error:
            raised.append(error)

    with psycopg.connect(where, autocommit=True) as other:
        other.execute("BEGIN; LOCK TABLE headcount_ledger IN EXCLUSIVE MODE")
        settling = threading.Thread(target=settle)
        settling.start()
        waits = "SELECT pid FROM pg_locks WHERE mode = 'ExclusiveLock' AND NOT granted"
        [(pid,)] = wait_until(lambda: other.execute(waits).fetchall())
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
        settling.join()
        other.execute("ROLLBACK")
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


def test_who_may_only_read_cannot_hold_up_a_ledger(postgres_url):
    import psycopg

    where = schema_of(postgres_url)
    ledger = hc.Ledger(where, patience=0.2)
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    with psycopg.connect(where, autocommit=True) as other:
        [(schema,)] = other.execute("SELECT current_schema()").fetchall()
        other.execute(f"CREATE ROLE reader_of_{schema}")
        other.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader_of_{schema}")
        other.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader_of_{schema}")
        other.execute(f"SET ROLE reader_of_{schema}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            other.execute("BEGIN; LOCK TABLE headcount_ledger IN SHARE MODE")
        other.execute("ROLLBACK; BEGIN")
        for table in ("headcount_ledger", "headcount_entries", "headcount_releases"):
            other.execute(f"SELECT * FROM {table}")
        other.execute("SELECT pg_advisory_lock(n) FROM generate_series(0, 99) AS n")
        ledger.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})


def test_a_ledger_on_a_server_is_made_once(postgres_url):
    """Whoever makes the tables second, at the same moment, finds those of the first."""
    import psycopg

    where = schema_of(postgres_url)
    made = []

    def init(dataset):
        hc.Ledger(where).init(dataset, budget=hc.Budget(rho=1, delta=1e-5))
        made.append(dataset)

    with psycopg.connect(where, autocommit=True) as other:
        # Holds up both of them after they have looked, and before they have made the first table.
        other.execute("BEGIN; LOCK TABLE pg_catalog.pg_class IN SHARE MODE")
        both = [threading.Thread(target=init, args=[name]) for name in ("shop", "web")]
        for each in both:
            each.start()
        waits = "SELECT pid FROM pg_locks WHERE NOT granted"
        wait_until(lambda: len(other.execute(waits).fetchall()) >= 2)
        other.execute("ROLLBACK")
    for each in both:
        each.join()
    assert sorted(made) == ["shop", "web"]
    assert hc.Ledger(where).verify().entries == 2


def lost_answers(monkeypatch, *, took_effect, then=lambda: None):
    """Let the next commit of a ledger end in an error, whether it took effect or not."""
    lost = []

    def do_commit(self, connection):
        if lost:
            connection.commit()
            return
        lost.append(connection)
        if took_effect:
            connection.commit()
        then()
        if self.name == "sqlite":
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
            raise error
        with socket.socket(fileno=os.dup(connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)
        connection.execute("SELECT 1")

    monkeypatch.setattr(DefaultDialect, "do_commit", do_commit)


@pytest.mark.parametrize("took_effect", [True, False])
def test_a_commit_whose_answer_is_lost_is_looked_for(opened, monkeypatch, took_effect):
    ledger, made, budget = opened(), made_of(1), hc.Budget(rho=0.1, delta=1e-6)
    kept = [ledger.reserve("shop", budget, {}) for _ in range(3)]
    expected = ["open", "reserve", "reserve", "reserve"]
    for kind, use in (
        ("reserve", lambda: ledger.reserve("shop", budget, {})),
        ("settle", lambda: ledger.settle(kept[0], made, None)),
        ("return", lambda: ledger.abandon(kept[1], reason="it failed")),
        ("return", lambda: ledger.give_back(kept[2].number, reason="power failure")),
        ("extend", lambda: ledger.extend("shop", rho=1, reason="agreed")),
    ):
        lost_answers(monkeypatch, took_effect=took_effect)
        if took_effect:
            use()
            expected.append(kind)
        else:
            with pytest.raises(hc.LedgerUnavailableError, match=r"(failed|was lost[^,]*)$"):
                use()
        assert kinds(ledger) == expected
    ledger.verify()


def test_a_commit_that_cannot_be_looked_for_is_not_known(where, opened, monkeypatch):
    ledger = opened(patience=0.1)
    locks = []

    def lock():
        locks.append(held(where))

    lost_answers(monkeypatch, took_effect=True, then=lock)
    with pytest.raises(hc.LedgerUnavailableError, match=r"not known: look at `headcount"):
        ledger.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})
    locks[0].close()
    assert kinds(ledger) == ["open", "reserve"]


def held(where):
    """Return a connection that keeps everybody else from writing."""
    if where.startswith("postgres"):
        import psycopg

        other = psycopg.connect(where, autocommit=True)
        other.execute("BEGIN; LOCK TABLE headcount_ledger IN EXCLUSIVE MODE")
    else:
        other = sqlite3.connect(where, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
    return other


@pytest.mark.parametrize("moment", ["do_rollback", "do_close"])
def test_ctrl_c_while_a_connection_is_closed_is_not_logged(opened, monkeypatch, caplog, moment):
    """SQLAlchemy logs that, with the names of host and user, and without a handler to stderr."""
    ledger = opened()

    def interrupted(self, connection):
        raise KeyboardInterrupt

    monkeypatch.setattr(DefaultDialect, moment, interrupted)
    with pytest.raises(KeyboardInterrupt):
        ledger.books()
    assert not caplog.records


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
