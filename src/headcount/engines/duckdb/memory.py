"""Tables in memory: pandas and Polars data frames, PyArrow's tables, and DuckDB's relations.

A dataset, a stream or a relation is read into memory here, once: all passes see the same rows.

A column's type follows from its declared type alone. If it were inferred from the values, one
person's value could change the schema of the result, or whether there is one at all.
"""

import sys
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.arrays import as_text
from headcount.engines.duckdb.arrow import collected
from headcount.engines.duckdb.count import connect, true_rows, with_true_types
from headcount.engines.guard import opening, running
from headcount.engines.reader import A_SOURCE_IS
from headcount.engines.session import Session
from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = "headcount_memory"
_LISTS = (list, tuple, set, frozenset, dict, np.ndarray)
_ERROR_PREFIX = "cannot read this table"


def read_memory(
    session: Session,
    source: Any,  # noqa: ANN401 (a table of any of these kinds)
    columns: Collection[str] | None,
) -> tuple[Any, Any]:
    """Return a table in memory as an Ibis table of DuckDB, and the backend.

    Only the requested columns are looked at, if they all exist.
    """
    table = opening(lambda: _plain_types(_as_arrow(session, source, columns)), _ERROR_PREFIX)
    # All rows now: otherwise an item that is no valid text is found only if its count is high.
    opening(lambda: table.validate(full=True), _ERROR_PREFIX)
    backend = connect(session)

    def register() -> Any:  # noqa: ANN401 (Ibis has no types)
        backend.con.register(_NAME, table)
        return with_true_types(backend.table(_NAME), [table.schema])

    return opening(register, _ERROR_PREFIX), backend


def _as_arrow(
    session: Session,
    source: Any,  # noqa: ANN401
    columns: Collection[str] | None,
) -> "pa.Table":
    import pyarrow as pa

    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    kind = type(source).__name__
    if (stream := _stream_of(source, columns)) is not None:
        # A query that fails at a row may quote it, even in an error about names.
        source = running(lambda: collected(session, stream()), _ERROR_PREFIX)
    if isinstance(source, pa.Table):
        return source.select(_wanted(source.column_names, columns))
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    if polars is not None and isinstance(source, polars.DataFrame | polars.LazyFrame):
        frame = source.lazy()
        plan = frame.select(_wanted(frame.collect_schema().names(), columns))
        # A plan that fails at a row may quote it, as a query may.
        frame = running(plan.collect, _ERROR_PREFIX)
        return pa.table({column.name: _from_polars(column) for column in frame})
    if pandas is not None and isinstance(source, pandas.DataFrame):
        wanted = _wanted(list(source.columns), columns)
        return pa.table({str(name): _from_pandas(source[name]) for name in wanted})
    raise SourceError(f"{A_SOURCE_IS}, got {kind}")


def _stream_of(
    source: Any,  # noqa: ANN401
    columns: Collection[str] | None,
) -> "Callable[[], pa.RecordBatchReader] | None":
    """Return what opens a stream of a source's rows; None if it is not read as a stream."""
    import pyarrow as pa

    if type(source).__name__ == "DuckDBPyRelation":
        wanted = _wanted(source.columns, columns)
        return lambda: true_rows(source, wanted)
    if isinstance(source, pa.RecordBatchReader):
        return lambda: source
    if type(source).__module__ == "pyarrow._dataset":
        wanted = _wanted(source.schema.names, columns)
        return lambda: source.scanner(columns=wanted).to_reader()
    return None


def _wanted(there: list[Any], columns: Collection[str] | None) -> list[Any]:
    if len(set(there)) < len(there):
        raise SourceError("two columns of this table have the same name")
    return list(columns) if columns is not None and set(columns) <= set(there) else there


def _from_pandas(column: Any) -> "pa.Array | pa.ChunkedArray":  # noqa: ANN401
    import pandas
    import pyarrow as pa

    if isinstance(column.dtype, pandas.CategoricalDtype):
        # pandas infers the type of the categories from the values. -1 stands for a missing one.
        codes = column.cat.codes.to_numpy()
        return _from_objects(column.cat.categories).take(pa.array(codes, mask=codes < 0))
    kind = pa.array(column.iloc[:0], from_pandas=True).type
    if pa.types.is_null(kind) or getattr(column.dtype, "storage", "") == "python":  # objects
        values = zip(column.astype(object), column.isna(), strict=True)
        return _from_objects(None if gone else value for value, gone in values)
    return pa.array(column, kind, from_pandas=True)


def _from_polars(column: Any) -> "pa.Array":  # noqa: ANN401
    if column.dtype.is_object():  # as Arrow, it would be addresses in memory
        return _from_objects(column)
    return column.to_arrow()


def _from_objects(objects: Iterable[Any]) -> "pa.Array":
    """Return Python objects as text, or as a column of a type that is refused if all are lists.

    One list among other objects is text as well, so one person's list does not end a run.
    """
    import pyarrow as pa

    values = list(objects)
    held = [value for value in values if value is not None]
    if held and all(isinstance(value, _LISTS) for value in held):
        text = pa.string()
        kind = pa.map_(text, text) if isinstance(held[0], dict) else pa.list_(text)
        return pa.nulls(len(values), kind)
    return pa.array(map(as_text, values), pa.string())


def _plain_types(table: "pa.Table") -> "pa.Table":
    """Return the table with plain types: decoded, and without null and half-precision columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for position, name in enumerate(table.column_names):
        plain = table[position]
        if pa.types.is_run_end_encoded(plain.type):
            plain = pc.run_end_decode(plain)
        if pa.types.is_dictionary(plain.type):
            plain = plain.cast(plain.type.value_type)
        if pa.types.is_null(plain.type):
            plain = plain.cast(pa.string())
        if pa.types.is_float16(plain.type):
            plain = plain.cast(pa.float32())  # which DuckDB has, and which loses nothing
        table = table.set_column(position, name, plain)
    return table
