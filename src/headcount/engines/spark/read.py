"""What Spark reads: data frames, tables of a catalog, files and lake folders."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Never

from headcount.engines.files import keys_of
from headcount.engines.layout import BY_NAME, Layout
from headcount.engines.session import Session
from headcount.engines.spark.count import Spark
from headcount.engines.spark.failures import quiet_until_end, translated, undo
from headcount.engines.spark.moments import with_time_zones
from headcount.engines.spark.start import connect, through_ibis
from headcount.errors import SourceError

# Everything is text of a fixed form, as in DuckDB's reader: see engines/duckdb/text.py. A line with
# a field too many or too few is an error, which is found only if all columns are read.
_CSV: dict[str, Any] = {
    "header": True,
    "inferSchema": False,
    "multiLine": True,
    "quote": '"',
    "escape": '"',
    "nullValue": "\0NULL\0",  # a field that is not there; a quoted empty one is text
    "emptyValue": "",
    "mode": "FAILFAST",
    "columnPruning": False,
    "unescapedQuoteHandling": "RAISE_ERROR",
}
# In JSON: an escaped high surrogate without a low one after it, or a low one without a high one.
_HALF_A_CHARACTER = (
    r"(?i)(?<!\\)(\\\\)*(\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f])"
)


def read_frame(session: Session, frame: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return a Spark data frame as an Ibis table, and its backend."""
    quiet_until_end(session)
    error_prefix = "this Spark data frame cannot be read"
    backend = translated(lambda: through_ibis(session, frame.sparkSession), error_prefix)
    return translated(lambda: as_table(session, backend, frame), error_prefix), backend


def as_table(session: Session, backend: Any, frame: Any) -> Any:  # noqa: ANN401
    """Return a data frame as an Ibis table, through a view that is dropped with the session."""
    import ibis

    name = ibis.util.gen_name("headcount")
    frame.createOrReplaceTempView(name)
    session.at_end(lambda: undo(lambda: frame.sparkSession.catalog.dropTempView(name)))
    return with_time_zones(backend.table(name), frame)


def read_table(session: Session, backend: Any, name: str) -> Any:  # noqa: ANN401
    """Return a table of the catalog, named as in Spark's SQL: ``catalog.schema.`table```."""
    spark = backend._session
    return translated(
        lambda: as_table(session, backend, spark.table(name)), f"there is no table {name!r} to read"
    )


def is_stored(backend: Any, table: str) -> bool:  # noqa: ANN401
    """Whether a table of the catalog is known to store its own rows."""
    try:
        kind = backend._session.catalog.getTable(table).tableType
    except Exception:  # not every catalog can tell
        return False
    return kind in ("MANAGED", "EXTERNAL")


class SparkCatalog:
    """The tables of a cluster's catalog: a `headcount.engines.reader.Database`."""

    def __init__(self, session: Session, master: str, settings: Mapping[str, str]) -> None:
        self._session = session
        self._backend = connect(session, master, settings)
        self.engine = Spark(self._backend, session)

    @property
    def catalog(self) -> Never:
        """Not available: no query is read here."""
        raise NotImplementedError

    def table(self, name: str | None) -> tuple[Any, bool]:
        """Return a table or view as an Ibis table, and whether it stores its own rows."""
        if name is None:
            raise SourceError("name a table of the server")
        table = read_table(self._session, self._backend, name)
        return table, is_stored(self._backend, name)

    def query(self, select: str) -> Never:
        """Not available: Spark has no dialect here."""
        raise NotImplementedError


def read_path(
    session: Session,
    backend: Any,  # noqa: ANN401
    name: str,
    form: str,
    paths: Sequence[str],
    columns: Collection[str] | None,
    layout: Layout = BY_NAME,
) -> Any:  # noqa: ANN401
    """Return files of one form, or a lake folder, as an Ibis table."""
    spark = backend._session
    readers = {
        # Spark compares all schemas: a value of another type might make it fail.
        "parquet": lambda: spark.read.parquet(*paths, mergeSchema=len(paths) == 1),
        "csv": lambda: _read_csv(_checked(spark, paths), layout.delimiter_of(form), paths),
        "tsv": lambda: _read_csv(_checked(spark, paths), layout.delimiter_of(form), paths),
        "json": lambda: _read_json(spark, paths, columns or ()),
        "delta": lambda: spark.read.format(form).load(paths[0]),
        "iceberg": lambda: spark.read.format(form).load(paths[0]),
    }
    return translated(
        lambda: as_table(session, backend, readers[form]()), f"Spark cannot read {name!r} as {form}"
    )


def _checked(spark: Any, paths: Sequence[str]) -> Any:  # noqa: ANN401
    """Return Spark if the files are UTF-8: its CSV reader replaces what is not.

    This reads them once more. Lines of text are the only form that Spark leaves unchanged.
    """
    if spark.read.text(list(paths)).filter("NOT is_valid_utf8(value)").limit(1).count():
        raise SourceError("a file is not valid UTF-8 throughout")
    return spark


def _read_csv(spark: Any, delimiter: str, paths: Sequence[str]) -> Any:  # noqa: ANN401
    """Read text with the columns of the first line, as engines/duckdb/text.py does."""
    import csv

    first = (_first_line(spark, paths) or "").removeprefix("\ufeff")
    names = next(csv.reader([first], delimiter=delimiter), [])
    if not names:
        raise SourceError("a file does not begin with a line of column names")
    # A column without a name cannot be requested, but needs some name.
    names = [name or f"column{n}" for n, name in enumerate(names)]
    if len({name.casefold() for name in names}) < len(names):
        raise SourceError(
            "a column name appears twice in the first line (upper and lower case are the same here)"
        )
    reader = spark.read.options(sep=delimiter, enforceSchema=len(paths) == 1, **_CSV)
    return reader.csv(list(paths), schema=_all_text(names))


def _read_json(spark: Any, paths: Sequence[str], asked: Collection[str]) -> Any:  # noqa: ANN401
    """Read JSON lines as text, with the columns of the first, as engines/duckdb/text.py does.

    A line that is not one whole object is a row without values. Spark's parser replaces what is
    not UTF-8 and surrogates without their other half, so lines with these are left out.
    """
    from pyspark.sql import functions as F  # noqa: N812

    keys = keys_of(_first_line(spark, paths, lineSep="\n") or "", asked)
    lines = spark.read.text(list(paths), lineSep="\n")
    whole = F.is_valid_utf8("value") & ~F.col("value").rlike(_HALF_A_CHARACTER)
    row = F.from_json("value", _all_text(keys)).alias("row")
    return lines.filter(whole).select(row).select("row.*")


def _first_line(spark: Any, paths: Sequence[str], **options: str) -> str | None:  # noqa: ANN401
    row = spark.read.text(paths[0], **options).filter(r"value RLIKE '\\S'").first()
    return row and str(row[0])


def _all_text(names: Sequence[str]) -> Any:  # noqa: ANN401
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(name, StringType()) for name in names])
