"""What Spark's libraries log when Java is gone: nothing, while headcount uses it."""

import logging
import socket
import threading
from collections import deque
from types import SimpleNamespace

import pytest

from headcount.engines.session import Session
from headcount.engines.spark import failures
from tests.engines.servers import needs

DEADLINE = 60  # for what takes a second, on a machine that others use too


@pytest.fixture
def alone(monkeypatch):
    """No other test's session keeps Spark quiet."""
    monkeypatch.setattr(failures, "_quiet", [])


@pytest.fixture
def java_that_is_gone():
    """A port at which every connection ends before it is answered."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up():
            while True:
                try:
                    server.accept()[0].close()
                except OSError:
                    return

        threading.Thread(target=hang_up, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def collected(port, prepare):
    """Let py4j's own thread tell Java that an object is not needed, and wait until it has."""
    from py4j import clientserver as py4j

    tasks = deque()
    worker = py4j.FinalizerWorker(tasks)
    worker.daemon = True
    worker.start()
    java, python = py4j.JavaParameters(port=port), py4j.PythonParameters(port=0)
    properties = SimpleNamespace(pool=None)
    client = py4j.JavaClient(java, python, properties, tasks)
    prepare(SimpleNamespace(_gateway_client=client))
    client.garbage_collect_object("o1")
    tasks.appendleft(py4j.SHUTDOWN_FINALIZER_WORKER)
    worker.join(DEADLINE)
    assert not worker.is_alive()


def test_the_thread_that_collects_objects_says_nothing_of_a_java_that_is_gone(
    alone, java_that_is_gone, caplog
):
    needs("pyspark")
    with failures.quietly():
        pass  # the filter stays
    collected(java_that_is_gone, lambda gateway: None)
    assert "while sending command" in caplog.text  # that of somebody else's Spark is theirs
    caplog.clear()
    collected(java_that_is_gone, failures.quiet_collector)
    assert not caplog.records


def test_between_two_actions_of_a_session_nothing_is_logged(alone, caplog):
    needs("pyspark")
    lost = logging.LogRecord("root", logging.ERROR, "/py4j/java_gateway.py", 1, "lost", (), None)
    with Session() as session:
        failures.quiet_until_end(session)
        logging.getLogger().handle(lost)
        assert not caplog.records
    logging.getLogger().handle(lost)
    assert len(caplog.records) == 1
