"""Arrow files and streams, datasets of PyArrow and relations of DuckDB: read once, into memory."""

import decimal
import sqlite3

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.engines import CancelToken, Session
from headcount.engines.duckdb.arrow import collected
from headcount.engines.layout import Layout
from headcount.errors import CancelledError, SourceError
from headcount.inputs.unit import Unit
from tests.inputs.counting import counts
from tests.inputs.units import unit

ROWS = pa.table(
    {
        "u": ["x", "y", "y", None, "z", "z"],
        "i": ["a", "a", "a", "a", None, ""],
        "j": [[1]] * 6,  # which nobody asks for
    }
)
COUNTS = {"a": 2, "": 1}


def stream(path, table=ROWS):
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def file(path, table=ROWS):
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


@pytest.mark.parametrize("compression", ["lz4", "zstd", "uncompressed"])
@pytest.mark.parametrize("name", ["e.feather", "e.arrow", "E.IPC"])
def test_feather(tmp_path, name, compression):
    pyarrow.feather.write_feather(ROWS, str(tmp_path / name), compression=compression)
    assert counts(tmp_path / name) == COUNTS


@pytest.mark.parametrize("write", [file, stream])
def test_files_and_streams(tmp_path, write):
    for n in range(2):
        write(tmp_path / f"{n}.arrow")
    assert counts(tmp_path / "0.arrow") == COUNTS
    assert counts(f"{tmp_path}/*.arrow") == COUNTS
    write(tmp_path / "e.dat")
    assert counts(tmp_path / "e.dat", layout=Layout("arrow")) == COUNTS
    sql = "SELECT u, upper(i) AS i FROM events"
    assert counts(tmp_path / "0.arrow", sql=sql) == {"A": 2, "": 1}


def test_files_of_other_types_are_refused(tmp_path):
    file(tmp_path / "0.arrow", pa.table({"u": ["x"], "i": ["a"]}))
    file(tmp_path / "1.arrow", pa.table({"u": ["x"], "i": [1]}))
    with pytest.raises(SourceError, match="column 'i' has the type string in"):
        counts(f"{tmp_path}/*.arrow")


@pytest.mark.parametrize("write", [file, stream])
def test_a_damaged_file_is_refused(tmp_path, write):
    path = tmp_path / "e.arrow"
    write(path)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:8], whole[:9] + b"\x7f" * 40):
        path.write_bytes(content)
        with pytest.raises(SourceError):
            counts(path)
    path.write_text("u,i\n")
    with pytest.raises(SourceError, match="needs Arrow's IPC format"):
        counts(path)


def test_a_column_twice_is_refused(tmp_path):
    file(tmp_path / "e.arrow", pa.table([["x"], ["a"], ["b"]], names=["u", "i", "i"]))
    with pytest.raises(SourceError, match="two columns of this table have the same name"):
        counts(tmp_path / "e.arrow")


def test_text_that_is_no_text_is_refused(tmp_path):
    """Before a count is known: it would be found only where the count is high."""
    bad = pa.array([b"a", b"\xff"]).view(pa.string())
    file(tmp_path / "e.arrow", pa.table({"u": ["x", "y"], "i": bad}))
    with pytest.raises(SourceError, match="cannot read"):
        counts(tmp_path / "e.arrow")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], pa.int8()),
        (["a", "b"], pa.dictionary(pa.int8(), pa.string())),
        ([decimal.Decimal("1.5"), decimal.Decimal("2.5")], pa.decimal128(5, 1)),
        ([None, None], pa.null()),
    ],
)
def test_types_of_files_are_those_of_tables(tmp_path, values, kind):
    table = pa.table({"u": ["x", "y"], "i": pa.array(values, kind)})
    file(tmp_path / "e.arrow", table)
    assert counts(tmp_path / "e.arrow") == counts(table)


def test_what_duckdb_would_cut_is_refused(tmp_path):
    wide = pa.array([decimal.Decimal(10) ** 50], pa.decimal256(60, 0))
    file(tmp_path / "e.arrow", pa.table({"u": ["x"], "i": wide}))
    with pytest.raises(SourceError):
        counts(tmp_path / "e.arrow")


def test_spark_and_polars_do_not_read_them(tmp_path):
    file(tmp_path / "e.arrow")
    for engine in ("polars", "spark"):
        with pytest.raises(SourceError, match="and this is Arrow; leave out --engine"):
            counts(tmp_path / "e.arrow", engine=engine)


# --- datasets and streams of PyArrow ----------------------------------------------------------


def test_a_dataset(tmp_path):
    for country in ("de", "fr"):
        (tmp_path / f"c={country}").mkdir()
        pq.write_table(ROWS, tmp_path / f"c={country}" / "e.parquet")
    dataset = ds.dataset(tmp_path, partitioning="hive")
    assert counts(dataset) == COUNTS
    assert counts(dataset, item="c") == {"de": 3, "fr": 3}
    assert counts(dataset.filter(ds.field("u") == "y")) == {"a": 1}
    assert counts(ds.dataset(ROWS)) == COUNTS
    assert unit(dataset) is Unit.USER


def test_a_stream_is_read_once_and_released():
    many = pa.table({"u": range(3000), "i": ["tea"] * 3000})
    for source in (many.to_reader(100), ds.dataset(many)):
        made = hc.release(source, user="u", item="i", rho=1, total=True)
        assert made.table["i"].to_pylist() == ["tea"]


def test_a_column_that_is_not_there():
    for source in (ds.dataset(ROWS), ROWS.to_reader(), duckdb.sql("SELECT 1 AS u, 2 AS i, 3 AS j")):
        with pytest.raises(
            SourceError, match="there is no column 'who'; the columns are: 'u', 'i', 'j'"
        ):
            counts(source, user="who")


def test_what_is_collected_can_be_cancelled():
    token = CancelToken()
    token.cancel()
    with Session(cancel=token) as session, pytest.raises(CancelledError):
        collected(session, ROWS.to_reader(2))


# --- relations of DuckDB --------------------------------------------------------------------------


def test_a_relation():
    con = duckdb.connect()
    con.register("rows", ROWS)
    con.execute("CREATE TABLE t AS SELECT * FROM rows")
    assert counts(con.table("t")) == COUNTS
    assert counts(con.sql("SELECT u, upper(i) AS i FROM t")) == {"A": 2, "": 1}
    assert counts(con.sql('SELECT u AS "a""b", i AS "i;x" FROM t'), 'a"b', "i;x") == COUNTS


def test_values_of_a_relation_are_what_they_are():
    relation = duckdb.sql(
        "SELECT * FROM (VALUES ('x', TIMETZ '12:00:00+02', 5::UHUGEINT, '101'::BIT, NULL), "
        "('y', TIMETZ '10:00:00+00', 5::UHUGEINT, '101'::BIT, NULL)) AS t(u, i, h, b, n)"
    )
    assert counts(relation) == {"12:00:00+02": 1, "10:00:00+00": 1}
    assert counts(relation, item="h") == {"5": 2}
    assert counts(relation, item="b") == {"101": 2}
    assert counts(relation, item="n") == {}


def test_a_guarantee_for_a_relation_is_about_its_result():
    """A relation may join, limit or aggregate: one person's rows may change another's."""
    assert unit(duckdb.sql("SELECT 1 AS u, 2 AS i")) is Unit.RELATION


def test_a_plan_of_polars_that_fails_says_nothing_of_the_row():
    """Not even in an error whose kind most often speaks of names only."""

    def failing(frame):
        raise sqlite3.OperationalError("no such patient: canary")

    plan = pl.LazyFrame({"u": [1], "i": ["a"]}).map_batches(failing, schema=None)
    with pytest.raises(SourceError) as refused:
        counts(plan)
    assert "canary" not in str(refused.value)


def test_a_relation_that_fails_says_nothing_of_the_row():
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT 1 AS u, 'canary' AS i")
    for item in ("error(i)", "i::BIGINT"):
        with pytest.raises(SourceError) as refused:
            counts(con.sql(f"SELECT u, {item} AS i FROM t"))
        assert "canary" not in str(refused.value)
