"""Spark, on this machine or on a cluster."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from headcount.engines.base import Engine
from headcount.engines.layout import BY_NAME, Layout
from headcount.engines.reader import Database, Opened, Reader
from headcount.engines.session import Session


class SparkReader(Reader):
    """What Spark reads: files and lake folders, tables of a catalog, and its data frames."""

    name = "spark"
    title = "Spark"
    package = "pyspark"
    ibis_backend = "pyspark"
    file_forms = ("parquet", "csv", "tsv", "json")
    takes_layout = True
    finds_files = True
    url_schemes = ("spark",)
    objects = ("pyspark.DataFrame",)
    takes_settings = True

    def engine(self, backend: Any, session: Session) -> Engine:  # noqa: ANN401
        """Return the engine."""
        from headcount.engines.spark.count import Spark

        return Spark(backend, session)

    def is_stored(self, backend: Any, schema: str | None, name: str) -> bool:  # noqa: ANN401
        """Whether a table is known to be managed or external, and not a view."""
        from headcount.engines.spark.read import is_stored

        return is_stored(backend, ".".join(filter(None, (schema, name))))

    def read_files(
        self,
        session: Session,
        name: str,
        columns: Collection[str] | None,
        settings: Mapping[str, str],
        layout: Layout = BY_NAME,
    ) -> Opened:
        """Open files, a folder or a lake table, on this machine or elsewhere."""
        from headcount.engines.files import expected
        from headcount.engines.spark.count import Spark
        from headcount.engines.spark.paths import files_of
        from headcount.engines.spark.read import read_path
        from headcount.engines.spark.start import connect

        form, paths = files_of(name, self, layout, columns)
        backend = connect(session, None, settings)
        table = read_path(session, backend, name, form, paths, columns, layout)
        return Opened(table, Spark(backend, session, expected=expected(form, layout)))

    def open_database(
        self, session: Session, where: Path | str, settings: Mapping[str, str]
    ) -> Database:
        """Connect to a cluster to read tables of its catalog."""
        from headcount.engines.spark.read import SparkCatalog

        return SparkCatalog(session, str(where), settings)

    def read_object(
        self,
        session: Session,
        source: Any,  # noqa: ANN401 (a data frame of Spark)
        columns: Collection[str] | None,
    ) -> Opened:
        """Open a data frame."""
        from headcount.engines.spark.count import Spark
        from headcount.engines.spark.read import read_frame

        table, backend = read_frame(session, source)
        return Opened(table, Spark(backend, session))


reader = SparkReader()
