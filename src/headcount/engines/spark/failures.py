"""Spark's failures, which quote data, turned into ours, which do not, and kept out of logs."""

import logging
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from weakref import WeakSet

from headcount.engines.guard import ANY_FORM, running
from headcount.engines.session import Session
from headcount.errors import EngineError, HeadcountError, SourceError

# Conditions of Spark that say the data, not the machine, is at fault.
_DATA_FAULTS = (
    "CANNOT_READ_FILE",
    "CAST_",
    "FAILED_READ_FILE",
    "INVALID_INPUT",
    "MALFORMED_",
    "NUMERIC_VALUE_OUT_OF_RANGE",
)


def translated(action: Any, error_prefix: str, expected: str = ANY_FORM) -> Any:  # noqa: ANN401
    """Run an action of Spark; nothing that it says about the data is passed on."""
    # Also while the error is inspected, which asks Java for what it refers to and frees it there.
    with quietly():
        return running(
            lambda: _without_data(action, error_prefix, expected), error_prefix, expected
        )


def _without_data(action: Any, error_prefix: str, expected: str) -> Any:  # noqa: ANN401
    from py4j.protocol import Py4JError
    from pyspark.errors import AnalysisException, PySparkException

    failure: HeadcountError
    try:
        return action()
    except AnalysisException as error:
        failure = _refused(_condition(error), error_prefix)
    except (PySparkException, Py4JError, OSError, EOFError) as error:
        condition = _condition(error)
        if condition.startswith((*_NO_TYPE, _NOT_MERGED)):
            failure = _refused(condition, error_prefix)
        elif condition.startswith(_DATA_FAULTS):
            failure = SourceError(f"{error_prefix}: {expected} ({condition})")
        elif condition == "DATA_SOURCE_NOT_FOUND":
            failure = SourceError(
                f"{error_prefix}: Spark needs a package to read this format; name it with "
                "--spark-conf spark.jars.packages=…"
            )
        elif condition == "JAVA_GATEWAY_EXITED":
            failure = EngineError(
                f"{error_prefix}: this Java cannot run it; Spark 4 needs Java 17 or 21"
            )
        elif condition:
            failure = EngineError(f"{error_prefix}: Spark failed ({condition})")
        else:
            failure = EngineError(f"{error_prefix}: the Spark application has ended or was lost")
    raise failure


# What Spark says about columns of a file that it has no types for.
_NO_TYPE = ("PARQUET_TYPE_", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION")
# What it says about files in which a column has different types.
_NOT_MERGED = "CANNOT_MERGE_"


def _refused(condition: str, error_prefix: str) -> HeadcountError:
    if condition.startswith(_NO_TYPE):
        return SourceError(
            f"{error_prefix}: Spark has no type for one of its columns; use DuckDB, or "
            "write the file with timestamps in microseconds, and with text for other types that "
            "Spark lacks"
        )
    if condition.startswith(_NOT_MERGED):
        return SourceError(
            f"{error_prefix}: a column does not have the same type in all files; convert it to one "
            "type"
        )
    return SourceError(f"{error_prefix}: Spark refused it ({condition})")


def _condition(error: Exception) -> str:
    """Return Spark's name for an error, never its text; nothing if Spark is gone."""
    names: list[str] = []
    if not hasattr(error, "java_exception") and not hasattr(error, "getCondition"):
        return ""  # an error of the connection to Java, which is broken
    with suppress(Exception):
        cause: Any = getattr(error, "java_exception", error)
        while cause is not None:
            names.append(_name(cause))
            inner = getattr(cause, "_cause", None)  # of a Python error, or of a Java one
            cause = inner if isinstance(cause, Exception) else cause.getCause()
    at_fault = (name for name in names if name.startswith(_DATA_FAULTS))
    return next(at_fault, names[0] if names else "")


def _name(error: Any) -> str:  # noqa: ANN401
    condition = None
    with suppress(Exception):  # not all Java errors have one
        condition = error.getCondition()
    if condition and re.fullmatch(r"[A-Z0-9_.]+", condition):
        return str(condition)
    if isinstance(error, Exception):
        return type(error).__name__
    return str(error.getClass().getSimpleName())


# pyspark logs an error to stderr before it raises it, with the value at fault. py4j, through which
# it talks to Java, logs to the root logger that Java is gone.
_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_lock = threading.Lock()
_quiet: list[None] = []  # one for each use of `quietly`, in any thread
_collectors: WeakSet[threading.Thread] = WeakSet()  # see `quiet_collector`


def _is_wanted(record: logging.LogRecord) -> bool:
    if threading.current_thread() in _collectors:
        return "py4j" not in record.pathname
    return not _quiet or (record.name not in _LOGGERS and "py4j" not in record.pathname)


@contextmanager
def quietly() -> Iterator[None]:
    """Keep pyspark from logging errors."""
    from pyspark.logger import PySparkLogger

    with _lock:
        _quiet.append(None)
        for name in _LOGGERS:
            PySparkLogger.getLogger(name).addFilter(_is_wanted)
        logging.getLogger().addFilter(_is_wanted)
    try:
        yield
    finally:
        with _lock:
            _quiet.pop()


def quiet_until_end(session: Session) -> None:
    """Keep pyspark from logging errors until a session ends, even between its actions."""
    quiet = ExitStack()
    quiet.enter_context(quietly())
    session.at_end(quiet.close)


def quiet_collector(gateway: Any) -> None:  # noqa: ANN401
    """Keep the thread that tells Java which objects are no longer needed from logging.

    It does so once a second for as long as this process lives. If Java was killed, it logs that
    with a traceback, at an unpredictable moment, perhaps when the session is over.
    """
    from py4j.clientserver import FinalizerWorker

    tasks = getattr(gateway._gateway_client, "finalizer_deque", None)
    for thread in threading.enumerate():
        if isinstance(thread, FinalizerWorker) and thread.deque is tasks:
            _collectors.add(thread)


def undo(action: Callable[[], object]) -> None:
    """Undo something, if Spark is still running; nothing is raised."""
    with quietly(), suppress(Exception):
        action()
