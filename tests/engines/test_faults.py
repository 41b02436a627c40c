"""Engines that are lost, too slow or ended in the middle: an error, and nothing released."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from tests.conftest import HEADCOUNT
from tests.engines.servers import needs

DEADLINE = 600  # for what takes seconds, on a machine that others use too
OPTIONS = ["--user", "u", "--item", "i", "--rho", "1"]
# With one pass over the events the engine is counting when it is lost; with several, it is keeping
# the pairs.
METHODS = {"pcr-paper": "counted", "auto": "read"}
# As many pairs as could be looked at in hours, of which none is kept: a query that goes on would
# fill the disk, and the server would be lost for the tests that come after.
ENDLESS = (
    "SELECT a::text AS u, b::text AS i "
    "FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b WHERE a + b < 0"
)


def wait_until(condition, process=None):
    end = time.monotonic() + DEADLINE
    while not (found := condition()):
        if process is not None and process.poll() is not None:
            pytest.fail(f"it ended before: {process.communicate()}")
        assert time.monotonic() < end, "it did not get that far"
        time.sleep(0.02)  # between two looks, not for something to happen
    return found


@pytest.fixture
def started(spill, tmp_path):
    """Start the command in a process of its own, with an output; return what ends the test."""
    output = tmp_path / "out" / "counts.csv"
    output.parent.mkdir()
    processes = []

    def start(*args, command=(HEADCOUNT,), **env):
        process = subprocess.Popen(
            [*command, *map(str, args), *OPTIONS, "--output", str(output)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, **env},
        )
        processes.append(process)
        return process

    def ended(process, code, says):
        out, err = process.communicate(timeout=DEADLINE)
        assert (process.returncode, out) == (code, ""), err
        assert says in err
        assert len(err.strip().splitlines()) == 1, "nothing but what we say ourselves"
        assert not list(output.parent.iterdir())
        assert not list(spill.iterdir())

    yield start, ended
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def watcher(postgres_url):
    """A second connection, and the queries of the first as the server sees them."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:

        def running(name):
            return connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = %s "
                "AND state = 'active' AND query ~ '^(FETCH|CREATE TEMP|INSERT) '",
                [name],
            ).fetchone()

        yield connection, running
        # The server goes on with what a client that was killed has asked for.
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND state = 'active' "
            "AND pid <> pg_backend_pid()"
        )


def named(url, name):
    return f"{url}&application_name={name}"


@pytest.mark.parametrize(("method", "done"), METHODS.items())
def test_the_connection_to_postgresql_is_cut(postgres_url, watcher, started, method, done):
    connection, running = watcher
    start, ended = started
    url = named(postgres_url, "cut")
    process = start("release", url, "--sql", ENDLESS, "--method", method)
    (pid,) = wait_until(lambda: running("cut"), process)
    connection.execute("SELECT pg_terminate_backend(%s)", [pid])
    ended(process, 4, f"headcount: the events cannot be {done}: ")


@pytest.mark.parametrize("method", METHODS)
def test_a_query_of_postgresql_that_takes_too_long(postgres_url, watcher, started, method):
    _, running = watcher
    start, ended = started
    url = named(postgres_url, "slow") + "&options=-c%20statement_timeout%3D1000"
    ended(start("release", url, "--sql", ENDLESS, "--method", method), 4, "took too long")
    assert running("slow") is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_the_query_of_postgresql(postgres_url, watcher, started, number, method):
    _, running = watcher
    start, ended = started
    name = f"signal-{number:d}"  # libpq takes no space in a URL
    process = start("release", named(postgres_url, name), "--sql", ENDLESS, "--method", method)
    wait_until(lambda: running(name), process)
    process.send_signal(number)
    ended(process, 128 + number, "headcount: interrupted")
    wait_until(lambda: running(name) is None)


def test_no_server_of_postgresql(started):
    needs("psycopg")
    start, ended = started
    with socket.socket() as free:  # bound, but nobody listens
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        process = start("release", f"postgres://u:p@127.0.0.1:{port}/d", "--table", "t")
        ended(process, 4, "no server answers at that address")


# Spark is watched from within: the process says when a task of the query runs.
WATCHED = """
import threading, sys
from pathlib import Path
from headcount.engines.spark.count import Spark
from headcount.cli import main

sign = Path(sys.argv.pop(1))
interruptibly = Spark._interruptibly
def watched(self, action):
    tracker = self.backend._session.sparkContext.statusTracker()
    def watch():
        while not any(tracker.getStageInfo(stage).numActiveTasks for stage in
                      tracker.getActiveStageIds() if tracker.getStageInfo(stage)):
            threading.Event().wait(0.02)
        sign.write_text(str(spark_pid(self.backend._session)))
    threading.Thread(target=watch, daemon=True).start()
    return interruptibly(self, action)
def spark_pid(session):
    return session._jvm.java.lang.ProcessHandle.current().pid()
Spark._interruptibly = watched
main()
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A file whose pairs are few, and many once they are joined with themselves."""
    path = tmp_path_factory.mktemp("lake") / "numbers.parquet"
    pq.write_table(pa.table({"n": range(100_000)}), path)
    return path


@pytest.fixture(params=METHODS)
def counting(started, spill, tmp_path, lake, request):
    """Start a release by Spark that takes hours; return it and Java's process once it counts."""
    needs("pyspark")
    start, _ = started
    sign = tmp_path / "counting"
    read = (
        "from headcount.engines.spark import read\n"
        "def endless(session, backend, name, form, paths, *more):\n"
        "    numbers = backend._session.read.parquet(*paths)\n"
        "    pairs = numbers.toDF('u').crossJoin(numbers.toDF('i'))\n"
        "    pairs = pairs.selectExpr('string(u) u', 'string(i) i')\n"
        "    return read.as_table(session, backend, pairs)\n"
        "read.read_path = endless\n"
    )
    confs = ["--spark-conf", "spark.master=local[1]", "--spark-conf"]
    process = start(
        *(sign, "release", lake, "--engine", "spark", *confs, "spark.sql.shuffle.partitions=2"),
        *("--method", request.param),
        command=(sys.executable, "-c", read + WATCHED),
    )

    def java():
        assert process.poll() is None, process.stderr.read()
        return sign.exists() and sign.read_text()

    return process, int(wait_until(java))


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_spark_is_killed_in_mid_aggregation(counting, started):
    process, java = counting
    os.kill(java, signal.SIGKILL)
    started[1](process, 4, "the Spark application has ended or was lost")


def test_a_signal_ends_spark(counting, started):
    process, java = counting
    process.send_signal(signal.SIGINT)
    started[1](process, 130, "headcount: interrupted")
    wait_until(lambda: not is_running(java))


def test_spark_can_be_started_again_after_it_was_lost(tmp_path):
    """In one process: nothing of a Spark that is gone stays in the way of the next."""
    needs("pyspark")
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"u": [f"{n}" for n in range(99)], "i": ["x"] * 99}), path)
    program = f"""
import os, signal, headcount
from headcount.engines.spark.count import Spark
fetch = Spark.fetch
def killed(self, query):
    pid = self.backend._session._jvm.java.lang.ProcessHandle.current().pid()
    os.kill(pid, signal.SIGKILL)
    return fetch(self, query)
call = dict(user="u", item="i", budget=headcount.Budget(rho=20.0), engine="spark",
            spark_conf={{"spark.master": "local[1]", "spark.sql.shuffle.partitions": "1"}})
Spark.fetch = killed
try:
    headcount.release({str(path)!r}, **call)
except headcount.EngineError as error:
    assert error.__context__ is None
    Spark.fetch = fetch
    print(len(headcount.release({str(path)!r}, **call)))
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],  # a budget this large is warned of
        capture_output=True,
        encoding="utf-8",
        timeout=2 * DEADLINE,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == ("1\n", "")


def test_interrupts_of_a_query_that_is_gone_are_no_error(monkeypatch, postgres_url):
    """Ctrl-C while the connection is cut: it stays a KeyboardInterrupt."""
    from headcount.engines.postgres.count import Postgres

    class Gone:
        class con:
            @staticmethod
            def cancel():
                raise OSError("gone")

        @staticmethod
        def to_pyarrow(query):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Postgres(Gone(), hc.engines.Session()).fetch(None)
