"""What passes keep on an engine: one snapshot, every value as it was, and nothing afterwards."""

import datetime
import sqlite3
from decimal import Decimal

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount
from headcount.engines import Session
from headcount.inputs import Request, open_source
from headcount.views.passes import Passes
from tests.engines.servers import ENGINES
from tests.engines.test_passes import opened

EVENTS = pa.table({"who": ["u", "u", "v"], "what": ["a", "b", "a"]})
MORE = pa.table({"who": ["w", "w"], "what": ["a", "c"]})


def pairs_of(passes):
    rows = passes.run(passes.pairs, most_rows=99)
    return sorted(rows["what"].to_pylist())


def change(engine, source):
    """Let somebody else add rows, or write a file anew."""
    match engine:
        case "postgres":
            import psycopg

            with psycopg.connect(source) as connection:
                connection.execute("INSERT INTO events VALUES ('w', 'a'), ('w', 'c')")
        case "sqlite":
            with sqlite3.connect(source) as connection:
                connection.execute("INSERT INTO events VALUES ('w', 'a'), ('w', 'c')")
            connection.close()
        case _:
            pq.write_table(MORE, source)


# Nobody else can write to a DuckDB file that is open; what a connection writes itself is below.
@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "duckdb file"])
def test_passes_see_one_snapshot(engine, on_engine):
    """A table that changes between passes is not seen to change."""
    call = on_engine(engine, EVENTS)
    with Session() as session:
        passes = Passes(opened(session, call), "who", ["what"])
        before = pairs_of(passes)
        change(engine, call["source"])
        assert pairs_of(passes) == before == ["a", "a", "b"]


def test_a_transaction_of_postgresql_sees_one_snapshot_throughout(on_engine):
    call = on_engine("postgres", EVENTS)
    with Session() as session:
        events = opened(session, call)
        change("postgres", call["source"])
        assert pairs_of(Passes(events, "who", ["what"])) == ["a", "a", "b"]


class Held:
    """A table of a connection that a user made, and what there is on that connection."""

    def __init__(self, engine, request, tmp_path):
        self.engine, self.path = engine, tmp_path / f"e.{engine}"
        self.spark = request.getfixturevalue("spark") if engine == "spark" else None
        if engine == "spark":
            self.source = self.spark.createDataFrame(EVENTS)
            return
        if engine == "postgres":
            import psycopg

            url = request.getfixturevalue("postgres_url")
            backend = ibis.postgres.from_connection(psycopg.connect(url, autocommit=True))
        else:
            backend = getattr(ibis, engine).connect(self.path)
        backend.con.execute("CREATE TEMP TABLE held (who text, what text)")
        backend.con.execute("INSERT INTO held VALUES ('u', 'a'), ('u', 'b'), ('v', 'a')")
        self.backend, self.source = backend, backend.table("held")

    def names(self):
        if self.engine == "spark":
            tables = [table.name for table in self.spark.catalog.listTables()]
            return [*tables, *self.spark.sparkContext._jsc.getPersistentRDDs()]
        query = {
            "postgres": "SELECT relname FROM pg_class WHERE relpersistence = 't'",
            "sqlite": "SELECT name FROM sqlite_temp_master",
            "duckdb": "SELECT table_name FROM duckdb_tables() "
            "UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal",
        }[self.engine]
        return sorted(self.backend.con.execute(query).fetchall())


@pytest.fixture
def held(request, tmp_path):
    held = Held(request.param, request, tmp_path)
    yield held
    if held.spark is None:
        held.backend.disconnect()


on_held = pytest.mark.parametrize("held", ["duckdb", "sqlite", "postgres", "spark"], indirect=True)


def too_large(passes):
    """Sum what no 64-bit integer holds."""
    public = passes.public(pa.table({"what": ["a", "b"], "cost": [2**62, 2**62]}))
    costs = passes.pairs.join(public, "what")
    return costs.agg(total=costs["cost"].sum().cast("int64"))


@on_held
@pytest.mark.parametrize("fails", ["", "in Python", "on the engine"])
def test_nothing_is_left_on_the_engine(held, fails):
    before = held.names()

    def use():
        with Session() as session:
            passes = Passes(open_source(session, held.source, Request()), "who", ["what"])
            passes.public(pa.table({"what": ["a"], "noise": [1]}))
            # What SQLite has is kept by DuckDB.
            assert (held.names() != before) == (held.engine != "sqlite")
            if fails == "in Python":
                raise ZeroDivisionError
            if fails == "on the engine":
                passes.run(too_large(passes), most_rows=1)

    if fails:
        with pytest.raises((ZeroDivisionError, headcount.HeadcountError)):
            use()
    else:
        use()
    assert held.names() == before


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sum_that_is_too_large_is_an_error(engine, on_engine):
    """Not a sum that begins again below 0: that would be another number, and no less private."""
    with Session() as session:
        passes = Passes(opened(session, on_engine(engine, EVENTS)), "who", ["what"])
        with pytest.raises(headcount.HeadcountError, match="the events cannot be aggregated: "):
            passes.run(too_large(passes), most_rows=1)


VALUES = {
    "integers": (pa.int64(), [2**53 + 1, 2**53 + 2, -(2**63), 2**63 - 1]),
    "text": (
        pa.string(),
        ["", " ", "a ", "A", "ä", "a\u0308", "\\N", "\\.", "a\tb\r\n", "%s'\"`;"],
    ),
}
TYPED = {
    "decimals": (pa.decimal128(30, 4), [Decimal("12345678901234567890.0001"), Decimal("0.0002")]),
    "dates": (pa.date32(), [datetime.date(1582, 10, 4), datetime.date(9999, 12, 31)]),
    "timestamps": (pa.timestamp("us"), [datetime.datetime(2026, 1, 1, 0, 0, 0, n) for n in (1, 2)]),
    "bytes": (pa.binary(), [b"", b"\\x00", b"\x00\xff", b"\t\n"]),
    "booleans": (pa.bool_(), [True, False]),
}
KEPT = [(engine, name) for engine in ENGINES for name in VALUES]
KEPT += [(engine, name) for engine in ENGINES if engine != "sqlite" for name in TYPED]


@pytest.mark.parametrize(("engine", "name"), KEPT)
def test_values_come_back_as_they_were_and_find_their_pairs(engine, name, on_engine):
    """What a pass returns is put beside the pairs again, and joined with them."""
    kind, values = {**VALUES, **TYPED}[name]
    events = pa.table({"who": ["u"] * len(values), "what": pa.array(values, kind)})
    with Session() as session:
        passes = Passes(opened(session, on_engine(engine, events)), "who", ["what"])
        items = passes.run(passes.pairs.select("what"), most_rows=99)
        public = passes.public(items.append_column("one", pa.array([1] * len(items))))
        joined = passes.pairs.join(public, "what")
        found = passes.run(joined.group_by("what").agg(n=ibis._.one.count()), most_rows=99)
    assert sorted(items["what"].to_pylist()) == sorted(values)
    assert sorted(found["what"].to_pylist()) == sorted(values)
    assert found["n"].to_pylist() == [1] * len(values)


def test_no_pair_finds_two_rows_of_a_public_table(tmp_path):
    """A text that is not UTF-8 comes back as one that looks like another item."""
    with sqlite3.connect(tmp_path / "e.sqlite") as connection:
        connection.execute("CREATE TABLE events (who TEXT, what TEXT)")
        connection.execute("INSERT INTO events VALUES ('u', ?)", ["\\xff"])
        connection.execute("INSERT INTO events VALUES ('u', CAST(x'ff' AS TEXT)), ('u', 'a')")
    connection.close()
    with Session() as session:
        events = open_source(session, tmp_path / "e.sqlite", Request("events"))
        passes = Passes(events, "who", ["what"])
        items = passes.run(passes.pairs.select("what"), most_rows=9)
        assert sorted(items["what"].to_pylist()) == ["\\xff", "\\xff", "a"]
        public = passes.public(items.append_column("one", pa.array([1] * len(items))))
        joined = passes.pairs.join(public, "what")
        found = passes.run(joined.group_by("what").agg(n=ibis._.one.count()), most_rows=9)
    assert sorted(found.to_pylist(), key=str) == [{"what": "\\xff", "n": 1}, {"what": "a", "n": 1}]


def test_a_block_that_spark_has_lost_is_an_error(spark):
    """It is not read again from a table that may have changed."""
    jvm, rdds = spark._jvm, spark.sparkContext._jsc.getPersistentRDDs
    before = set(rdds())
    with Session() as session:
        frame = spark.createDataFrame(EVENTS)
        passes = Passes(open_source(session, frame, Request()), "who", ["what"])
        [kept] = set(rdds()) - before
        jvm.org.apache.spark.SparkEnv.get().blockManager().master().removeRdd(kept, True)
        with pytest.raises(headcount.EngineError, match="aggregated: Spark failed"):
            pairs_of(passes)


def test_spark_that_lets_sums_overflow_is_refused(spark):
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        with Session() as session, pytest.raises(headcount.SettingsError, match=r"ansi.enabled"):
            events = open_source(session, spark.createDataFrame(EVENTS), Request())
            Passes(events, "who", ["what"])
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "true")
