"""How DuckDB turns rows into codes: it numbers users and items, and joins rows with the numbers.

Rows are scanned for the items, then to estimate how many users there are (unless files are small),
then twice for each division: for its users and for its keys. What comes out is what the scans for
keys saw and nothing else. If one of their rows has no code, which happens only if rows change in
between, that is an error: if it were dropped, another user could bring it back.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headcount.engines.base import Expression
from headcount.engines.codes import CodedRows, Division, bits_for, fits
from headcount.engines.guard import interruptibly, running
from headcount.errors import SourceError

if TYPE_CHECKING:
    from headcount.engines.duckdb.count import DuckDB

# Keys per batch: 8 MB of them, enough that Python's work for each batch is small.
_ROWS_AT_A_TIME = 2**20

# More users than this are numbered in divisions: a table of all of them might not fit into memory.
_USERS_AT_A_TIME = 20_000_000
# Files smaller than this have fewer users, or users whose ids are short numbers.
_SMALL_FILES = 2**27

CHANGED = "the rows changed while they were read; nothing was released"


@contextmanager
def coded_rows(
    engine: "DuckDB", rows: Expression, user: str, items: Sequence[str], error_prefix: str
) -> Iterator[CodedRows]:
    """Yield rows of one snapshot as codes; after the block only the items are kept.

    Formal guarantee: a row gives one key, two rows of a division give the same key only if user and
    item are the same, and no row is left out. So the distinct keys of a division are distinct pairs
    of exact ids.

    Edge cases: the caller must have left out rows with NULLs. If files changed while they were
    read, or a row has no code, that is an error, whatever was read.
    """
    before = _stamps(engine.files)
    # Stamps show whether files changed. A transaction would keep what is dropped in it until its
    # end: the users of all divisions.
    with nullcontext() if engine.files else _transaction(engine.backend.con):
        number = _unused("item_number", [user, *items])
        things = engine.materialise(_numbered_items(rows, items, number), error_prefix)
        count = _rows_of(engine, things, error_prefix)
        divisions = _divisions(engine, rows, user, items, things, number, count, error_prefix)
        yield CodedRows(things, number, count, divisions)
    if _stamps(engine.files) != before:
        raise SourceError(f"{error_prefix}: {CHANGED}")


def _numbered_items(rows: Expression, items: Sequence[str], number: str) -> Expression:
    import ibis

    each = rows.select(*items).distinct()
    place = ibis.row_number().over(ibis.window(order_by=list(items)))
    return each.mutate(**{number: place.cast("int64")})


def _divisions(
    engine: "DuckDB",
    rows: Expression,
    user: str,
    items: Sequence[str],
    things: Expression,
    number: str,
    count: int,
    error_prefix: str,
) -> Iterator[Division]:
    user_number = _unused("user_number", [user, *items, number])
    parts = _how_many(engine, rows, user, error_prefix)
    for part in range(parts):
        some = rows if parts == 1 else rows.filter(_division_of(engine, rows[user], parts) == part)
        each = some.select(user).distinct().mutate(**{user_number: engine.row_numbers()})
        people = engine.materialise(each, error_prefix)
        users = _rows_of(engine, people, error_prefix)
        if not fits(users, count):
            raise SourceError(f"{error_prefix}: there are too many users and items to number")
        # Left joins: a row without a code gets a NULL key instead of silently disappearing.
        joined = some.left_join(people, user).left_join(things, list(items))
        key = (joined[user_number] << bits_for(count)) | joined[number]
        yield Division(users, _keys(engine, joined.select(key=key), people, error_prefix))


def _division_of(engine: "DuckDB", user: Expression, parts: int) -> Expression:
    import ibis

    return engine.hashed(user) % ibis.literal(parts, type="uint64")


def _how_many(engine: "DuckDB", rows: Expression, user: str, error_prefix: str) -> int:
    """Return how many divisions to make. It affects the time taken, but no answer."""
    if engine.files and sum(stamp[2] for stamp in _stamps(engine.files) if stamp) < _SMALL_FILES:
        return 1
    about = rows.aggregate(users=rows[user].approx_nunique().cast("int64"))
    users = int(engine.run(about, error_prefix)["users"].to_pylist()[0])
    return max(1, -(-users // _USERS_AT_A_TIME))


def _keys(
    engine: "DuckDB", keys: Expression, people: Expression, error_prefix: str
) -> Iterator[NDArray[np.int64]]:
    yield from _batches(engine, keys, error_prefix)
    # Before the keys are sorted, which takes memory too.
    engine.drop(people)
    engine.give_back()


def _batches(engine: "DuckDB", keys: Expression, error_prefix: str) -> Iterator[NDArray[np.int64]]:
    con, select = engine.backend.con, engine.compiled(keys)

    def guarded(action: Any) -> Any:  # noqa: ANN401 (PyArrow has no types)
        return running(
            lambda: interruptibly(action, con.interrupt, engine.session.cancel),
            error_prefix,
            engine.expected,
        )

    reader = guarded(lambda: reader_of(con.sql(select)))
    while (batch := guarded(lambda: next(reader, None))) is not None:
        column = batch.column(0)
        if column.null_count:
            raise SourceError(f"{error_prefix}: {CHANGED}")
        numbers: NDArray[Any] = np.from_dlpack(column)
        yield numbers


def reader_of(relation: Any) -> Any:  # noqa: ANN401
    """Return a reader that runs a query and leaves its rows in DuckDB until they are requested."""
    if hasattr(relation, "to_arrow_reader"):
        return relation.to_arrow_reader(_ROWS_AT_A_TIME)
    return relation.fetch_arrow_reader(_ROWS_AT_A_TIME)  # DuckDB before 1.4


def _rows_of(engine: "DuckDB", table: Expression, error_prefix: str) -> int:
    """Return how many rows a kept table has, which DuckDB knows without reading them."""
    count = f'SELECT count(*) FROM "{table.get_name()}"'  # noqa: S608 (the name is headcount's)
    [(rows,)] = running(lambda: engine.backend.con.execute(count).fetchall(), error_prefix)
    return int(rows)


@contextmanager
def _transaction(con: Any) -> Iterator[None]:  # noqa: ANN401
    """Show all scans of a database one snapshot: that of a user's transaction, if one is open."""
    import duckdb

    if _in_transaction(con):
        yield
        return
    con.begin()
    try:
        yield
        con.commit()
    except BaseException:
        with suppress(duckdb.Error):
            con.rollback()
        raise


def _in_transaction(con: Any) -> bool:  # noqa: ANN401
    """Whether a transaction is open; beginning another would abort it."""
    first, second = (con.execute("SELECT txid_current()").fetchall() for _ in range(2))
    return bool(first == second)  # without one, each query has its own


def _stamps(files: Sequence[Path]) -> list[tuple[int, ...]]:
    """Return stamps of files, which differ if the files have changed."""
    found: list[tuple[int, ...]] = []
    for path in files:
        try:
            now = path.stat()
        except OSError:
            found.append(())
            continue
        found.append((now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns))
    return found


def _unused(name: str, taken: Sequence[str]) -> str:
    while name in (column.casefold() for column in taken):
        name += "_"
    return name
