"""Published files, read with care: anybody may have made them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from headcount.errors import NotPrivateError, SourceError, VerificationError
from headcount.outputs.account import Account
from headcount.privacy.mechanisms.base import COUNT
from headcount.results.canonical import (
    METADATA_KEY,
    account_of,
    document_of,
    fingerprint,
    fingerprint_of_document,
    strict_json,
)
from headcount.results.guarantee import Guarantee
from headcount.results.totals import totals_in_words

if TYPE_CHECKING:
    import pyarrow as pa

#: The most that is read of a file, in bytes, packed or unpacked: a million items with long names.
LARGEST = 2**28
_ROWS_AT_A_TIME = 1024

_T = TypeVar("_T")


class _TooLargeError(Exception):
    """A file holds more than any release does."""


def fingerprint_of_file(path: Path) -> str:
    """Return the fingerprint of the release in a published Parquet or JSON file."""
    return _read(
        path,
        lambda: fingerprint_of_document(strict_json(path.read_bytes())),
        lambda: fingerprint(_read_parquet(path)),
    )


def document_of_file(path: Path) -> dict[str, Any]:
    """Return what a published Parquet or JSON file says, as one JSON object.

    Only its size and its form are checked: it may say anything.
    """
    return _read(
        path,
        lambda: dict(strict_json(path.read_bytes())),
        lambda: document_of(_read_parquet(path)),
    )


def account_of_file(path: Path) -> Account:
    """Return what a published Parquet or JSON file says about itself.

    It is only what the file says: a ledger can tell whether it is true (`Ledger.find`).
    """
    return _read(path, lambda: _account_in_json(path), lambda: _account_in_parquet(path))


def _account_in_json(path: Path) -> Account:
    document = strict_json(path.read_bytes())
    rows = document["items"]
    names = list(rows[0]) if rows else [COUNT]
    return Account(_checked(document), tuple(names[: names.index(COUNT)]), len(rows))


def _account_in_parquet(path: Path) -> Account:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as opened:
        names, rows = opened.schema_arrow.names, opened.metadata.num_rows
        account = account_of(opened.schema_arrow.empty_table())
    return Account(_checked(account), tuple(names[: names.index(COUNT)]), rows)


def _checked(account: dict[str, Any]) -> Guarantee:
    """Return the guarantee of an account that has values of the right types."""
    made = Guarantee.from_account(account)
    history = made.provenance
    numbers: list[object] = [made.rho, made.delta, made.epsilon, *made.delta_split.values()]
    texts: list[object] = [made.unit, made.method, made.version, history.date]
    texts += [made.variant, made.adjacency, made.privacy_unit]
    texts += [*history.mechanisms, *history.post_processing, *history.public]
    if not all(isinstance(number, float | int) for number in numbers):
        raise TypeError("a number is none")
    if not all(isinstance(text, str | None) for text in texts):
        raise TypeError("a text is none")
    if made.delta_split and set(made.delta_split) != {"selection", "conversion"}:
        raise ValueError("δ pays for two things")
    if not isinstance(made.settings, dict) or not isinstance(history.ledger, dict | None):
        raise TypeError("an object is none")
    totals_in_words(made.totals)
    return made


def _read(path: Path, json: Callable[[], _T], parquet: Callable[[], _T]) -> _T:
    """Return what a published file holds; errors say nothing about what is in it."""
    ending = path.suffix.lower()
    if ending not in (".json", ".parquet"):
        raise SourceError(
            "give the release's .parquet or .json file; others, such as CSV, do not contain the "
            "guarantee"
        )
    if not os.path.isfile(path):  # noqa: PTH113 (False, not an error, where nobody may look)
        raise SourceError(f"there is no file {str(path)!r}")
    try:
        if path.stat().st_size > LARGEST:
            raise _TooLargeError
        return json() if ending == ".json" else parquet()
    except NotPrivateError:
        raise
    except _TooLargeError:
        why = "it is too large to be a release"
    except OSError as error:
        why = error.strerror or "it cannot be read"
    except Exception:  # whatever is wrong with it
        why = "it is not a release that headcount wrote"
    raise VerificationError(f"cannot check {str(path)!r}: {why}")


def _read_parquet(path: Path) -> "pa.Table":
    """Return the table of a file that does not unpack to more than `LARGEST`.

    Its footer says how large the columns are, unless it lies or values are repeated by reference.
    So text is left in its dictionary, a few rows at a time, and measured before it is written out.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as opened:
        schema, footer = opened.schema_arrow, opened.metadata
        if METADATA_KEY not in (schema.metadata or {}):
            raise ValueError("it has no guarantee")
        groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
        said = sum(group.total_byte_size for group in groups)
        # Any row, of numbers or of short text, is some bytes when it is written out.
        if max(said, footer.num_rows * len(schema)) > LARGEST:
            raise _TooLargeError
    by_reference = [field.name for field in schema if _has_any_length(field.type)]
    read, parts = 0, []
    with pq.ParquetFile(path, read_dictionary=by_reference) as opened:
        for batch in opened.iter_batches(_ROWS_AT_A_TIME):
            read += sum(_unpacked(column) for column in batch.columns)
            if read > LARGEST:
                raise _TooLargeError
            parts.append(pa.Table.from_batches([batch]).cast(schema))
    return pa.concat_tables(parts) if parts else schema.empty_table()


def _has_any_length(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return any(
        of(kind)
        for of in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
        )
    )


def _unpacked(column: "pa.Array") -> int:
    """Return how many bytes the values of a column take when each is written out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(pc.sum(lengths).as_py() or 0) + len(column)
