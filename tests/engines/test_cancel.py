"""A token ends a release from another thread, with the query that is running."""

import sqlite3
import threading

import duckdb
import pyarrow as pa
import pytest

import headcount as hc
from headcount.engines import CancelToken, Session
from headcount.engines.guard import interruptibly

BUDGET = hc.Budget(rho=1)
EVENTS = pa.table({"who": list(range(400)), "what": ["tea"] * 400})
# More rows than anybody would wait for.
ENDLESS = "SELECT range AS who, 'tea' AS what FROM range(10000000000000)"
ENDLESS_SQLITE = """
    WITH RECURSIVE n AS (SELECT 1 AS who UNION ALL SELECT who + 1 FROM n)
    SELECT who, 'tea' AS what FROM n
"""


@pytest.fixture
def ledger(tmp_path):
    made = hc.Ledger(tmp_path / "budget.db")
    made.init("shop", budget=hc.Budget(rho=9, delta=1e-4))
    return made


def kinds(ledger):
    return [entry.kind.value for entry in ledger.log()]


def test_a_query_that_is_running_is_ended():
    """The action here is over only when it is interrupted."""
    token, begun, ended = CancelToken(), threading.Event(), threading.Event()

    def endless():
        begun.set()
        ended.wait()

    canceller = threading.Thread(target=lambda: begun.wait() and token.cancel())
    canceller.start()
    with pytest.raises(hc.CancelledError):
        interruptibly(endless, ended.set, token)
    canceller.join()


@pytest.mark.parametrize("begins", [True, False])
def test_a_signal_while_the_thread_of_a_query_starts_ends_the_query(monkeypatch, begins):
    """It may have begun by then, and would hold the connection for as long as it takes."""
    begun, ended, threads, interrupts = threading.Event(), threading.Event(), [], []

    def endless():
        begun.set()
        ended.wait()

    def interrupt():
        interrupts.append("once")
        ended.set()

    start = threading.Thread.start

    def interrupted(thread):
        threads.append(thread)
        if begins:
            start(thread)
            begun.wait()
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        interruptibly(endless, interrupt, CancelToken())
    ended.set()  # so that nothing is left of a test that fails
    (thread,) = threads
    if not begins:
        start(thread)
    thread.join()
    assert begun.is_set() == begins
    assert bool(interrupts) == begins


@pytest.mark.parametrize("form", ["duckdb", "sqlite"])
def test_an_endless_query_of_a_database_is_ended(tmp_path, form, ledger):
    token, path = CancelToken(), tmp_path / f"shop.{form}"
    with (duckdb if form == "duckdb" else sqlite3).connect(path) as connection:
        connection.execute("CREATE TABLE other (a INTEGER)")
    said = []

    def progress(message):
        said.append(message)
        if len(said) > 1:  # the source is open, and rows are about to be read
            threading.Timer(0.0, token.cancel).start()

    with pytest.raises(hc.CancelledError):
        hc.release(
            path,
            sql=ENDLESS if form == "duckdb" else ENDLESS_SQLITE,
            user="who",
            item="what",
            budget=BUDGET,
            progress=progress,
            cancel=token,
        )


def test_what_is_cancelled_before_noise_costs_nothing(ledger):
    token = CancelToken()
    with pytest.raises(hc.CancelledError):
        hc.release(
            EVENTS,
            user="who",
            item="what",
            budget=BUDGET,
            ledger=ledger,
            dataset="shop",
            progress=lambda message: token.cancel(),
            cancel=token,
        )
    assert kinds(ledger) == ["open", "reserve", "return"]


def test_what_is_cancelled_while_noise_is_drawn_counts_as_spent(ledger, monkeypatch):
    token = CancelToken()

    def cancelled(*given):
        token.cancel()
        raise ValueError("whatever an engine says")

    monkeypatch.setattr("headcount.pipeline.build_release", cancelled)
    with pytest.raises(hc.CancelledError):
        hc.release(
            EVENTS, user="who", item="what", budget=BUDGET, ledger=ledger, dataset="shop",
            cancel=token,
        )  # fmt: skip
    assert kinds(ledger) == ["open", "reserve"]


def test_what_was_cancelled_is_never_begun(ledger):
    token = CancelToken()
    token.cancel()
    token.cancel()
    assert token.cancelled
    ask = {"budget": BUDGET, "ledger": ledger, "dataset": "shop", "cancel": token}
    with pytest.raises(hc.CancelledError):
        hc.release(EVENTS, user="who", item="what", **ask)
    with pytest.raises(hc.CancelledError):
        hc.release_counts({"tea": 400}, user="who", **ask)
    assert kinds(ledger) == ["open"]


def test_a_token_that_is_not_used_changes_nothing():
    token = CancelToken()
    asked = {"user": "who", "item": "what", "budget": BUDGET, "unsafe_seed": 3}
    made = hc.release(EVENTS, cancel=token, **asked)
    assert made.table.equals(hc.release(EVENTS, **asked).table)


@pytest.mark.parametrize("wrong", [{"cancel": True}, {"progress": 3}])
def test_what_is_no_token_or_function_is_refused(wrong):
    with pytest.raises(TypeError, match=f"{next(iter(wrong))} must be"):
        hc.release(EVENTS, user="who", item="what", budget=BUDGET, **wrong)


def test_a_session_has_a_token_of_its_own():
    with Session() as one, Session() as other:
        one.cancel.cancel()
        assert not other.cancel.cancelled
