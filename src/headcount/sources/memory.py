"""Tables in memory: pandas and Polars data frames, PyArrow tables."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headcount.engines import Session, duckdb
from headcount.engines.guard import opening
from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = "headcount_events"


def read_memory(session: Session, source: Any, columns: Sequence[str] | None) -> tuple[Any, Any]:  # noqa: ANN401
    """Return a table in memory as an Ibis table of DuckDB, and the backend.

    Only the columns that are asked for are looked at, if they are all there.
    """
    table = opening(lambda: _plain_types(_as_arrow(source, columns)), "cannot read this table")
    # All rows now, or an item that is no text would be found only where its count is high.
    opening(lambda: table.validate(full=True), "cannot read this table")
    backend = duckdb.connect(session)

    def register() -> Any:  # noqa: ANN401 (Ibis has no types)
        backend.con.register(_NAME, table)
        return duckdb.with_true_types(backend.table(_NAME), [table.schema])

    return opening(register, "cannot read this table"), backend


def _as_arrow(source: Any, columns: Sequence[str] | None) -> "pa.Table":  # noqa: ANN401
    import pyarrow as pa

    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return source.select(_wanted(source.column_names, columns))
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    if polars is not None and isinstance(source, polars.DataFrame | polars.LazyFrame):
        frame = source.lazy()
        return frame.select(_wanted(frame.collect_schema().names(), columns)).collect().to_arrow()
    if pandas is not None and isinstance(source, pandas.DataFrame):
        wanted = _wanted(list(source.columns), columns)
        return pa.table({str(name): _from_pandas(source[name]) for name in wanted})
    raise SourceError(
        "a source is a path, a pandas or Polars data frame, a PyArrow table or an Ibis table, "
        f"got {type(source).__name__}"
    )


def _wanted(there: list[Any], columns: Sequence[str] | None) -> list[Any]:
    if len(set(there)) < len(there):
        raise SourceError("two columns of this table have the same name")
    return list(columns) if columns is not None and set(columns) <= set(there) else there


def _from_pandas(column: Any) -> "pa.Array | pa.ChunkedArray":  # noqa: ANN401
    import pyarrow as pa

    if column.dtype == object:
        # Anything can be in it. One type for all, or one person's value would decide it.
        return pa.array(column.map(as_text, na_action="ignore"), pa.string(), from_pandas=True)
    return pa.array(column, from_pandas=True)


def as_text(value: object) -> str | None:
    """Return a value of any kind as text: text as it is, bytes in hexadecimal."""
    match value:
        case str() | None:
            return value
        case bytes():
            return value.hex()
        case _:
            return str(value)


def _plain_types(table: "pa.Table") -> "pa.Table":
    """Return the table without the types that a column has only because of how it was made."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table[position].cast(field.type.value_type)
        elif pa.types.is_null(field.type):
            plain = table[position].cast(pa.string())
        elif pa.types.is_float16(field.type):
            plain = table[position].cast(pa.float32())  # which DuckDB has, and holds as much
        else:
            continue
        table = table.set_column(position, field.name, plain)
    return table
