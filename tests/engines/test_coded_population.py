"""Rows as codes: the same answers as the engine's own passes, of one snapshot, by exact ids."""

import datetime
import math
from decimal import Decimal

import duckdb
import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headcount
from headcount.engines import Session
from headcount.engines.duckdb import codes
from headcount.engines.duckdb.count import DuckDB
from headcount.errors import SourceError
from headcount.inputs import Request, open_source
from headcount.privacy.questions import GRID, RATION
from headcount.views import coded_population
from headcount.views.coded_population import CodedPopulation
from headcount.views.engine_population import EnginePopulation
from headcount.views.engine_view import EngineView
from tests.privacy.population import both as both_sums

KINDS = (EnginePopulation, CodedPopulation)
EVENTS = pa.table({"who": ["u", "u", "v", "w"], "what": ["a", "b", "a", "c"]})


def answers(population):
    """Return what a population says to every question, items in the order of the answers."""
    top = population.highest_counts(4)
    said = [top.items.to_pylist(), top.items.schema, top.counts.to_pylist()]
    for step in range(2):
        said.append(population.sizes([1, 2, 3, 9]))
        weights = population.weights(2**14, 6, 2**13 + step)
        said.append(weights.values.tolist())
        population.found(weights, [*range(0, len(weights.values), 2)][::-1])
    names = population.found_names()
    said += [repr(names.to_pylist()), names.schema]
    costs = np.array([RATION // (1 + n % 3) + n for n in range(len(names))], dtype=np.int64)
    costs[3::4] = 0
    values = np.arange(costs.size) % 2
    for base in (0, RATION // 3, RATION):
        said.append(both_sums(population.clipped_sums(costs, base)))
        said.append(population.losers(costs, values, [1, 300, GRID], base))
    said.append(population.found_named(np.arange(len(names))[:2]).to_pylist())
    return repr(said)


def both(source, items=("what",), **request):
    """Ask both kinds of population, and return what they said, which must be the same."""
    with Session() as session:
        events = open_source(session, source, Request(**request))
        said = [answers(kind(events, "who", list(items))) for kind in KINDS]
    assert said[0] == said[1]
    return said[0]


FLOATS = [math.nan, -math.nan, 0.0, -0.0, 1.5, math.inf, 5e-324]
VALUES = {
    "integers": (pa.int64(), [2**53 + 1, 2**53 + 2, -(2**63), 2**63 - 1, 0]),
    "unsigned": (pa.uint64(), [2**64 - 1, 2**63, 0]),
    "small": (pa.int8(), [-128, 127, 0]),
    "text": (pa.string(), ["", " ", "a ", "A", "a", "ä", "a\u0308", "\\N", "a\tb\r\n", "%s'\"`;"]),
    "floats": (pa.float64(), FLOATS),
    "small floats": (pa.float32(), FLOATS[:-1]),
    "decimals": (pa.decimal128(30, 4), [Decimal("12345678901234567890.0001"), Decimal("0.0002")]),
    "dates": (pa.date32(), [datetime.date(1582, 10, 4), datetime.date(9999, 12, 31)]),
    "moments": (pa.timestamp("us"), [datetime.datetime(2026, 1, 1, 0, 0, 0, n) for n in (1, 2)]),
    "zoned": (pa.timestamp("us", "Europe/Berlin"), [datetime.datetime(2026, 1, 1), None]),
    "bytes": (pa.binary(), [b"", b"\\x00", b"\x00\xff", b"\xff", b"\t\n"]),
    "booleans": (pa.bool_(), [True, False]),
    "times": (pa.time64("us"), [datetime.time(23, 59, 59, 1), datetime.time(0)]),
    "categories": (pa.dictionary(pa.int32(), pa.string()), ["b", "a", "b", "c"]),
}


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_every_question_is_answered_as_by_the_engine(data):
    """Of users and items of any type, with NULLs, in rows that stand there more than once."""
    columns = {}
    rows = data.draw(st.integers(0, 40))
    for name in ("who", "what", "more"):
        kind, values = VALUES[data.draw(st.sampled_from(sorted(VALUES)))]
        given = st.lists(st.sampled_from([*values, None]), min_size=rows, max_size=rows)
        columns[name] = pa.array(data.draw(given), kind)
    items = data.draw(st.sampled_from([("what",), ("what", "more"), ("more", "what")]))
    both(pa.table(columns), items)


@pytest.mark.parametrize("name", VALUES)
def test_values_of_every_type(name):
    kind, values = VALUES[name]
    numbers = range(5 * len(values))
    items = pa.array([values[n % len(values)] for n in numbers], kind)
    users = pa.array([values[n // 3 % len(values)] for n in numbers], kind)
    both(pa.table({"who": users, "what": items}))


def test_a_collation_merges_neither_users_nor_items(tmp_path):
    path = tmp_path / "e.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (who TEXT COLLATE NOCASE, what TEXT COLLATE NOCASE)")
        rows = "('u', 'a'), ('U', 'A'), ('u', 'A'), ('v', 'a')"
        connection.execute(f"INSERT INTO t VALUES {rows}")
    assert "[3, 1, 0, 0]" in both(path, table="t")


NAMES = ["item_number", "user_number", "user", "place", "key"]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_an_item_column_changes_nothing(name):
    renamed = EVENTS.rename_columns(["who", name])
    both(renamed.append_column("ITEM_number_", EVENTS["what"]), [name, "ITEM_number_"])


@pytest.mark.parametrize("form", ["parquet", "csv", "json"])
def test_files_of_every_form(form, tmp_path):
    path = tmp_path / f"e.{form}"
    write = {"parquet": "parquet", "csv": "csv", "json": "json"}[form]
    duckdb.from_arrow(EVENTS).query("t", f"COPY t TO '{path}' (FORMAT {write})")
    assert both(path) == both(EVENTS)


@pytest.mark.parametrize("method", ["auto", "rationed"])
def test_with_a_seed_the_same_is_released(method, monkeypatch):
    rng = np.random.default_rng(7)
    users = rng.integers(0, 900, 10_000)
    items = (200 * rng.random(10_000) ** 3).astype(np.int64)
    table = pa.table({"who": users, "what": pa.array([f"i{n}" for n in items])})
    how = {"budget": headcount.Budget(rho=2), "method": method, "unsafe_seed": 11}

    def made():
        return headcount.release(table, user="who", item="what", columns="all", **how)

    fast = made()
    monkeypatch.setattr(DuckDB, "codes_rows", False)
    slow = made()
    assert fast.table.num_rows > 5
    assert fast.table.equals(slow.table)
    assert fast.settings == slow.settings


def uneven(rows=400):
    rng = np.random.default_rng(3)
    items = (60 * rng.random(rows) ** 3).astype(np.int64)
    return pa.table({"who": [f"u{n}" for n in rng.integers(0, 90, rows)], "what": items})


@pytest.mark.parametrize("at_a_time", [1, 7, 40])
def test_users_in_divisions_are_the_same_users(at_a_time, monkeypatch, tmp_path):
    pq.write_table(uneven(), tmp_path / "e.parquet")
    whole = both(tmp_path / "e.parquet")
    monkeypatch.setattr(codes, "_SMALL_FILES", 0)
    monkeypatch.setattr(codes, "_USERS_AT_A_TIME", at_a_time)
    with Session() as session:
        events = open_source(session, tmp_path / "e.parquet", Request())
        assert answers(CodedPopulation(events, "who", ["what"])) == whole


def test_arrays_in_files_answer_the_same(monkeypatch):
    whole = both(uneven())
    monkeypatch.setattr(coded_population, "_SHARE", 2**60)
    with Session() as session:
        population = CodedPopulation(open_source(session, uneven(), Request()), "who", ["what"])
        assert list(session.folder.glob("array-*"))
        assert answers(population) == whole
    assert not session.folder.exists()


@pytest.mark.parametrize(
    ("text", "size"), [("1KB", 1000), ("1.5 GiB", 3 * 2**29), ("2mb", 2 * 10**6), ("1TB", 10**12)]
)
def test_memory_in_bytes(text, size):
    assert Session(text).memory_bytes == size


def test_duckdb_gives_codes_and_others_do_not():
    with Session() as session:
        events = open_source(session, EVENTS, Request())
        assert isinstance(EngineView(events, "who", ["what"]).pairs(), CodedPopulation)


def test_users_are_told_apart_by_their_exact_ids(monkeypatch):
    monkeypatch.setattr(DuckDB, "user_key", None)
    with Session() as session:
        events = open_source(session, EVENTS, Request())
        assert CodedPopulation(events, "who", ["what"]).sizes([1, 2]) == [3, 1]


@pytest.mark.parametrize("column", ["item_number", "user_number"])
def test_a_row_without_a_code_is_an_error_and_not_left_out(column, monkeypatch):
    """As when a row came after the users or the items were numbered."""
    materialise = DuckDB.materialise

    def without_one(self, query, error_prefix):
        if column in query.columns:
            query = query.filter(query[column] > 0)
        return materialise(self, query, error_prefix)

    monkeypatch.setattr(DuckDB, "materialise", without_one)
    with Session() as session, pytest.raises(SourceError, match="changed while they were read"):
        CodedPopulation(open_source(session, EVENTS, Request()), "who", ["what"])


@pytest.mark.parametrize("how", ["other time", "other size", "another file", "gone"])
def test_files_that_change_while_they_are_read_are_an_error(how, tmp_path, monkeypatch):
    path = tmp_path / "e.parquet"
    pq.write_table(EVENTS, path)
    gathered = coded_population.gathered

    def changing(*given):
        parts = gathered(*given)
        before = path.stat()
        match how:
            case "other time":
                import os

                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1000))
            case "other size":
                pq.write_table(pa.concat_tables([EVENTS] * 3), path)
            case "another file":
                path.rename(tmp_path / "old.parquet")
                pq.write_table(EVENTS, path)
            case "gone":
                path.unlink()
        return parts

    monkeypatch.setattr(coded_population, "gathered", changing)
    with Session() as session, pytest.raises(SourceError, match="changed while they were read"):
        CodedPopulation(open_source(session, path, Request()), "who", ["what"])


@pytest.fixture
def held(tmp_path):
    backend = ibis.duckdb.connect(tmp_path / "e.duckdb")
    backend.con.register("given", EVENTS)
    backend.con.execute("CREATE TABLE events AS SELECT * FROM given")
    backend.con.unregister("given")
    yield backend
    backend.disconnect()


def pairs_of(backend):
    with Session() as session:
        events = open_source(session, backend.table("events"), Request())
        population = CodedPopulation(events, "who", ["what"])
        return population.highest_counts(9).items["what"].to_pylist(), population.sizes([1, 2])


def test_a_table_that_others_write_to_is_read_as_of_one_moment(held, monkeypatch):
    materialise = DuckDB.materialise

    def written_to(self, query, error_prefix):
        made = materialise(self, query, error_prefix)
        held.con.cursor().execute("INSERT INTO events VALUES ('x', 'd'), ('u', 'c')")
        return made

    monkeypatch.setattr(DuckDB, "materialise", written_to)
    assert pairs_of(held) == (["a", "b", "c"], [3, 1])
    monkeypatch.undo()
    assert pairs_of(held) == (["a", "c", "b", "d"], [4, 1])


def left_on(backend):
    return backend.con.execute("SELECT table_name FROM duckdb_tables()").fetchall()


def test_a_transaction_of_the_users_own_is_used_and_left_open(held):
    held.con.begin()
    held.con.execute("INSERT INTO events VALUES ('x', 'd')")
    assert pairs_of(held) == (["a", "b", "c", "d"], [4, 1])
    assert left_on(held) == [("events",)]
    held.con.rollback()
    assert pairs_of(held) == (["a", "b", "c"], [3, 1])


def test_nothing_is_left_on_a_connection_and_it_still_works(held, monkeypatch):
    pairs_of(held)
    assert left_on(held) == [("events",)]
    monkeypatch.setattr(coded_population, "gathered", lambda *given: 1 // 0)
    with pytest.raises(headcount.EngineError):
        pairs_of(held)
    assert left_on(held) == [("events",)]
    monkeypatch.undo()
    assert pairs_of(held) == (["a", "b", "c"], [3, 1])


def test_a_connection_of_the_users_own_keeps_its_memory_limit(held):
    held.con.execute("SET memory_limit = '700MB'")
    asked = "SELECT current_setting('memory_limit')"
    before = held.con.execute(asked).fetchall()
    pairs_of(held)
    assert held.con.execute(asked).fetchall() == before


def test_users_of_one_division_are_gone_before_the_next(tmp_path, monkeypatch):
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"who": range(300_000), "what": ["a"] * 300_000}), path)
    monkeypatch.setattr(codes, "_SMALL_FILES", 0)
    monkeypatch.setattr(codes, "_USERS_AT_A_TIME", 80_000)
    give_back, held = DuckDB.give_back, []

    def asked(self):
        give_back(self)
        of_tables = "SELECT memory_usage_bytes FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'"
        held.append(self.backend.con.execute(of_tables).fetchall()[0][0])

    monkeypatch.setattr(DuckDB, "give_back", asked)
    with Session() as session:
        events = open_source(session, path, Request())
        assert CodedPopulation(events, "who", ["what"]).sizes([1]) == [300_000]
    assert len(held) >= 4
    assert max(held) < 2**20  # one item; the users of a division take 1.6 MB


def test_a_query_that_is_another_each_time_is_run_once(tmp_path):
    path = tmp_path / "e.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS who FROM range(500)")
    sql = "SELECT who, CAST(random() * 1e9 AS BIGINT) AS what FROM t LIMIT 400"
    with Session() as session:
        events = open_source(session, path, Request(sql=sql))
        assert not events.repeatable
        assert CodedPopulation(events, "who", ["what"]).sizes([1]) == [400]


def test_no_rows_at_all():
    both(EVENTS.slice(0, 0))
    both(pa.table({"who": pa.nulls(3, pa.string()), "what": ["a", "b", "c"]}))
