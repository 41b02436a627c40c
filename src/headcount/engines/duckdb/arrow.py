"""Arrow files and streams, read into memory once, so that all passes see the same rows."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.engines.files import ARROW_STREAM
from headcount.engines.guard import opening
from headcount.engines.session import Session
from headcount.engines.types import refuse_differences, type_of
from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa


def read_arrow_files(
    session: Session, paths: Sequence[Path], columns: Collection[str] | None
) -> "pa.Table":
    """Return the rows of Arrow files (Feather version 2) or streams as one table.

    Only the requested columns are read, if they all exist.
    """
    import pyarrow as pa

    tables = [
        opening(lambda path=path: _read(session, path, columns), f"cannot read {str(path)!r}")  # type: ignore[misc]
        for path in paths
    ]
    kinds = {
        path: {field.name: type_of(field.type) for field in table.schema}
        for path, table in zip(paths, tables, strict=True)
    }
    refuse_differences(kinds, columns)
    schemas = [table.schema.remove_metadata() for table in tables]
    if any(schema != schemas[0] for schema in schemas):
        raise SourceError("the Arrow files do not have the same columns and types")
    return opening(lambda: pa.concat_tables(tables), "cannot read the Arrow files")


def collected(session: Session, stream: "pa.RecordBatchReader") -> "pa.Table":
    """Return all rows of a stream as a table; a signal or a token ends it between batches."""
    return _table_of(session, stream, stream.schema)


def _table_of(
    session: Session, batches: "Iterable[pa.RecordBatch]", schema: "pa.Schema"
) -> "pa.Table":
    import pyarrow as pa

    found = []
    for batch in batches:
        session.cancel.check()
        found.append(batch)
    return pa.Table.from_batches(found, schema)


def _read(session: Session, path: Path, columns: Collection[str] | None) -> "pa.Table":
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:  # not mapped: later writes by others are not seen
        streamed = file.read(len(ARROW_STREAM)) == ARROW_STREAM
        file.seek(0)
        opened = pa.ipc.open_stream if streamed else pa.ipc.open_file
        names, options = opened(file).schema.names, pa.ipc.IpcReadOptions()
        if columns is not None and set(columns) <= set(names):
            places = [place for place, name in enumerate(names) if name in columns]
            options = pa.ipc.IpcReadOptions(included_fields=places)
        file.seek(0)
        reader = opened(file, options=options)
        batches = reader if streamed else map(reader.get_batch, range(reader.num_record_batches))
        table = _table_of(session, batches, reader.schema)
    table.validate(full=True)  # a file may point to values that are not there
    return table
