"""SQL reads the source and nothing else of this machine."""

import json

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.engines import Session
from headcount.inputs import Request, open_source
from tests.inputs.counting import counts

ROWS = pa.table({"u": ["1", "2", "2", "3"], "i": ["a", "A", "b", "a"]})
FOLDED = {"a": 3, "b": 1}
SQL = "SELECT u, lower(i) AS i FROM events"


def write(path, rows=ROWS):
    path.parent.mkdir(exist_ok=True)
    match path.suffix:
        case ".parquet":
            pq.write_table(rows, path)
        case ".csv":
            pyarrow.csv.write_csv(rows, path)
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
        case ".arrow":
            with pa.ipc.new_file(str(path), rows.schema) as writer:
                writer.write_table(rows)
        case ".duckdb":
            with duckdb.connect(str(path)) as connection:
                connection.register("given", rows)
                connection.execute("CREATE TABLE events AS SELECT * FROM given")


FORMS = ["parquet", "csv", "jsonl", "arrow", "duckdb"]
OTHERS = [
    "read_text('{other}')",
    "read_blob('{folder}/*')",
    "glob('{folder}/*')",
    "read_parquet('{other}')",
    "parquet_schema('{other}')",
    "'{other}'",
    "read_text('/etc/passwd')",
    "read_text('{folder}/e.{form}/../secret.parquet')",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("other", OTHERS)
def test_sql_reads_the_source_only(form, other, tmp_path):
    write(tmp_path / f"e.{form}")
    write(tmp_path / "secret.parquet")
    named = other.format(other=tmp_path / "secret.parquet", folder=tmp_path, form=form)
    for sql in (
        f"SELECT '1' AS u, 'x' AS i FROM {named}",
        f"SELECT u, i FROM events WHERE EXISTS (SELECT 1 FROM {named})",
    ):
        with pytest.raises(hc.InputError, match="SQL can read only the source"):
            counts(tmp_path / f"e.{form}", sql=sql)


@pytest.mark.parametrize("form", FORMS)
def test_the_error_says_so(form, tmp_path):
    write(tmp_path / f"e.{form}")
    with pytest.raises(hc.InputError) as caught:
        counts(tmp_path / f"e.{form}", sql="SELECT 1 AS u, 2 AS i FROM read_text('/etc/passwd')")
    said = "the SQL cannot be run: it names another file, and SQL can read only the source"
    assert str(caught.value) == said


NAMES = ["e", "it's", "a b", "ev[12]", "e*", "e?", "ü", "a,b", "{x}"]


@pytest.mark.parametrize("form", FORMS)
def test_the_source_is_read_whatever_it_is_called(form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in NAMES if form != "duckdb" else ["e", "it's", "ü"]:
        write(tmp_path / f"{name}.{form}")
        for path in (tmp_path / f"{name}.{form}", f"{name}.{form}", f"./{name}.{form}"):
            assert counts(path, sql=SQL) == FOLDED, path
    (tmp_path / f"link.{form}").symlink_to(tmp_path / f"e.{form}")
    assert counts(f"link.{form}", sql=SQL) == FOLDED


@pytest.mark.parametrize("form", FORMS[:-1])
def test_so_are_all_files_of_a_glob(form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "logs" / f"1.{form}", ROWS.slice(0, 2))
    write(tmp_path / "logs" / f"[2].{form}", ROWS.slice(2))
    for name in (f"{tmp_path}/logs/*.{form}", f"logs/*.{form}", f"./logs/../logs/*.{form}"):
        assert counts(name, sql=SQL) == FOLDED


@pytest.mark.parametrize("form", ["parquet", "duckdb"])
def test_what_does_not_fit_into_memory_still_spills(form, tmp_path):
    numbers = pa.array(range(1_000_000))
    write(tmp_path / f"e.{form}", pa.table({"u": numbers, "i": numbers}))
    sql = "SELECT md5(u::VARCHAR) AS u, md5(i::VARCHAR) AS i FROM events"
    with Session("60MB") as session:
        request = Request(sql=sql, columns=["u", "i"], user="u")
        events = open_source(session, tmp_path / f"e.{form}", request)
        events.engine.materialise(events.table, "it fails")
        assert list(session.folder.rglob("*.tmp"))


def test_a_view_of_a_database_still_reads_the_files_that_its_owner_named(tmp_path):
    write(tmp_path / "e.parquet")
    with duckdb.connect(str(tmp_path / "e.duckdb")) as connection:
        connection.execute(f"CREATE VIEW v AS SELECT * FROM '{tmp_path}/e.parquet'")
    assert counts(tmp_path / "e.duckdb", table="v") == {"a": 2, "A": 1, "b": 1}
