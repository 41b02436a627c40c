"""DuckDB and SQLite files: tables, views and queries."""

import datetime
import decimal
import shutil
import sqlite3

import duckdb
import pytest

from headcount.engines import Session
from headcount.errors import SourceError
from headcount.inputs import Request, open_source
from tests.inputs.counting import counts

SETUP = """
CREATE TABLE t (u integer, i varchar);
INSERT INTO t VALUES (1, 'a'), (2, 'A'), (2, 'a'), (NULL, 'x'), (3, NULL), (4, '');
CREATE TABLE no_rows (u integer, i varchar);
CREATE VIEW v AS SELECT u, upper(i) AS i FROM t;
CREATE TABLE "it's ""odd""; --" ("u ""; --" integer, "i'" varchar);
INSERT INTO "it's ""odd""; --" VALUES (1, 'a');
CREATE TABLE headcount_events (u integer, i varchar);
INSERT INTO headcount_events VALUES (1, 'mine');
CREATE TABLE clash (u integer, "user" varchar, "rows" varchar);
INSERT INTO clash VALUES (1, 'a', 'b');
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("databases")
    with duckdb.connect(str(folder / "e.duckdb")) as connection:
        connection.execute(SETUP)
    connection = sqlite3.connect(folder / "e.sqlite")
    connection.executescript(SETUP)
    connection.close()
    return folder


@pytest.fixture(params=["e.duckdb", "e.sqlite"])
def database(folder, request):
    return folder / request.param


def test_a_table(database):
    assert counts(database, table="t") == {"a": 2, "A": 1, "": 1}


def test_a_view(database):
    assert counts(database, table="v") == {"A": 2, "": 1}


def test_a_table_without_rows(database):
    assert counts(database, table="no_rows") == {}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT u, lower(i) AS i FROM t", {"a": 2, "": 1}),
        ("SELECT u, lower(i) AS i FROM t;", {"a": 2, "": 1}),
        ("select u, i from t -- where false", {"a": 2, "A": 1, "": 1}),
        ("/* hi */ SELECT u, i FROM t ; -- bye", {"a": 2, "A": 1, "": 1}),
        ("WITH x AS (SELECT * FROM t) SELECT u, i FROM x WHERE u = 2", {"a": 1, "A": 1}),
        ("SELECT u, i FROM t UNION ALL SELECT u + 10, i FROM t", {"a": 4, "A": 2, "": 2}),
        ("SELECT u, 'é;--' AS i FROM t", {"é;--": 4}),
        ("SELECT u, i, i FROM t", {"a": 2, "A": 1, "": 1}),
        ("SELECT u, lower(i) AS i FROM no_rows", {}),
        ("SELECT u, u || '' AS i FROM t WHERE false", {}),
        ("SELECT u, i FROM headcount_events", {"mine": 1}),
        ('SELECT "u ""; --" AS u, "i\'" AS i FROM "it\'s ""odd""; --"', {"a": 1}),
    ],
)
def test_a_query(database, sql, expected):
    assert counts(database, sql=sql) == expected


def test_names_are_never_sql(database):
    odd = {"table": 'it\'s "odd"; --', "user": 'u "; --', "item": "i'"}
    assert counts(database, **odd) == {"a": 1}
    for name in ('t"; DROP TABLE t; --', "t; DROP TABLE t", "t'"):
        with pytest.raises(SourceError, match="there is no table"):
            counts(database, table=name)
    assert counts(database, table="headcount_events") == {"mine": 1}
    assert counts(database, table="clash", item=["user", "rows"]) == {("a", "b"): 1}


@pytest.mark.parametrize(
    "sql",
    [
        "",
        ";",
        "-- nothing",
        "SELEC u, i FROM t",
        "SELECT u, i FROM t; SELECT u, i FROM t",
        "SELECT u, i FROM t; DROP TABLE t",
        "INSERT INTO t VALUES (9, 'z') RETURNING u, i",
        "WITH x AS (INSERT INTO t VALUES (9, 'z') RETURNING *) SELECT * FROM x",
        "DELETE FROM t RETURNING u, i",
        "UPDATE t SET i = 'z' RETURNING u, i",
        "CREATE TABLE z AS SELECT 1",
        "SELECT u, i INTO z FROM t",
        "COPY t TO 'z.csv'",
        "PRAGMA table_info('t')",
        "ATTACH 'z.db'",
        "SET threads = 1",
        "EXPLAIN SELECT u, i FROM t",
        "DESCRIBE t",
        "SUMMARIZE t",
        "SHOW TABLES",
        "CALL pragma_version()",
        "LOAD httpfs",
        "INSTALL httpfs",
        "BEGIN",
        "VACUUM",
        "VALUES (1, 'a')",
        "PIVOT t ON i USING count(*)",
    ],
)
def test_only_one_select(database, sql, caplog, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = database.read_bytes()
    with pytest.raises(SourceError, match="SELECT"):
        counts(database, sql=sql)
    assert database.read_bytes() == before
    assert not list(tmp_path.iterdir())
    assert not caplog.records  # sqlglot warns of what it cannot parse


@pytest.mark.parametrize(
    ("sql", "says"),
    [("SELECT u, i FROM absent", "absent"), ("SELECT u, absent FROM t", "absent")],
)
def test_sql_that_does_not_fit_says_why(database, sql, says):
    with pytest.raises(SourceError, match=says):
        counts(database, sql=sql)


def test_a_table_must_be_named(database):
    for table in (None, "absent"):
        with pytest.raises(SourceError, match="it has: 'clash', 'headcount_events'"):
            counts(database, table=table)
    with pytest.raises(SourceError, match="not both"):
        counts(database, table="t", sql="SELECT 1")


def test_the_file_is_not_changed(database):
    before = database.read_bytes()
    counts(database, table="t")
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir() if "." in path.name[1:]]
    assert not list(database.parent.glob("*-journal")) + list(database.parent.glob("*.wal"))


def test_the_file_cannot_be_changed(database):
    with Session() as session:
        connection = open_source(session, database, Request(table="t")).engine.backend.con
        with pytest.raises(Exception, match=r"read-?only"):
            connection.execute("CREATE TABLE main.z (a INT)")


def test_the_ending_db_is_either(folder):
    for name in ("e.duckdb", "e.sqlite"):
        shutil.copy(folder / name, folder / "either.db")
        assert counts(folder / "either.db", table="t") == {"a": 2, "A": 1, "": 1}
    (folder / "either.db").unlink()


def test_one_database_only(folder):
    shutil.copy(folder / "e.duckdb", folder / "f.duckdb")
    with pytest.raises(SourceError, match="one database"):
        counts(folder / "?.duckdb", table="t")


UUID = "123e4567-e89b-12d3-a456-426614174000"
DUCKDB_VALUES = [
    ("BIGINT", "9007199254740993", 9007199254740993),
    ("UBIGINT", "18446744073709551615", 2**64 - 1),
    ("HUGEINT", str(10**37), decimal.Decimal(10**37)),
    ("DECIMAL(20,3)", "-12345678901234567.891", decimal.Decimal("-12345678901234567.891")),
    ("BOOLEAN", "true", True),
    ("BLOB", r"'\xAA\x00'::BLOB", b"\xaa\0"),
    ("UUID", f"'{UUID}'", UUID),
    ("DATE", "'2024-01-02'", datetime.date(2024, 1, 2)),
    ("TIMESTAMP", "'2024-01-02 03:04:05.6'", datetime.datetime(2024, 1, 2, 3, 4, 5, 600_000)),
    ("ENUM ('x', 'y')", "'x'", "x"),
    ("VARCHAR", "'a' || chr(0) || 'b'", "a\0b"),
]


@pytest.mark.parametrize(("kind", "value", "expected"), DUCKDB_VALUES)
def test_values_of_any_type_as_items_and_as_users(tmp_path, kind, value, expected):
    with duckdb.connect(str(tmp_path / "e.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t (u INT, i {kind})")
        connection.execute(f"INSERT INTO t VALUES (1, {value}), (2, {value}), (3, NULL)")
    assert counts(tmp_path / "e.duckdb", table="t") == {expected: 2}
    assert counts(tmp_path / "e.duckdb", table="t", user="i", item="u") == {1: 1, 2: 1}


@pytest.mark.parametrize("kind", ["STRUCT(a INT)", "INTERVAL", "MAP(INT, INT)", "JSON"])
def test_values_that_are_not_plain(tmp_path, kind):
    with duckdb.connect(str(tmp_path / "e.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t (u INT, i {kind})")
        with pytest.raises(SourceError, match="values other than text"):
            counts(connection.table("t"))
    with pytest.raises(SourceError, match="values other than text"):
        counts(tmp_path / "e.duckdb", table="t")


@pytest.fixture
def sqlite(tmp_path):
    def run(script: str, **options):
        path = tmp_path / "e.sqlite"
        connection = sqlite3.connect(path)
        connection.executescript(script)
        connection.close()
        return counts(path, table="t", **options)

    return run


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("INTEGER", "9007199254740993", 9007199254740993),
        ("REAL", "1.5", 1.5),
        ("BLOB", "x'00ff'", b"\0\xff"),
        ("DATETIME", "'2024-01-02 03:04:05'", "2024-01-02 03:04:05"),
        ("", "5", "5"),
        ("", "'x'", "x"),
    ],
)
def test_sqlite_values_have_the_type_that_was_declared(sqlite, kind, value, expected):
    script = f"CREATE TABLE t (u, i {kind}); INSERT INTO t VALUES (1, {value}), ('x', {value})"
    assert sqlite(script) == {expected: 2}


def test_sqlite_rows_do_not_decide_the_type(sqlite):
    script = (
        "CREATE TABLE t (u, i); INSERT INTO t VALUES (1, NULL), (NULL, 2), (1, 3), (x'ff', 'y')"
    )
    assert sqlite(script) == {"3": 1, "y": 1}


def test_sqlite_numbers_and_text_that_look_alike_are_one_item(sqlite):
    script = "CREATE TABLE t (u, i); INSERT INTO t VALUES (1, 5), (2, '5'), ('2', '5')"
    assert sqlite(script) == {"5": 2}


def test_sqlite_computed_columns(sqlite):
    script = "CREATE TABLE t (u INT, a INT, i INT AS (a + 1)); INSERT INTO t VALUES (1, 1)"
    assert sqlite(script) == {2: 1}


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("INT", ["7", "'text'", "2.5", "x'37'", "7"], 7),
        ("REAL", ["0.5", "'text'", "'0.5x'", "x'302e35'", "0.5"], 0.5),
        ("BLOB", ["x'37'", "'7'", "7", "7.0", "x'37'"], b"7"),
    ],
)
def test_sqlite_value_that_is_not_of_its_declared_type(sqlite, tmp_path, kind, values, expected):
    """It counts as NULL, row by row: an error would tell that its count is high."""
    rows = ", ".join(f"({user}, {value})" for user, value in enumerate(values))
    script = f"CREATE TABLE t (u INT, i {kind}); INSERT INTO t VALUES {rows}"
    assert sqlite(script) == {expected: 2}
    assert counts(tmp_path / "e.sqlite", table="t", user="i", item="u") == {0: 1, 4: 1}


def test_a_table_of_another_schema(tmp_path):
    with duckdb.connect(str(tmp_path / "e.duckdb")) as connection:
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.t AS SELECT 1 AS u, 'a' AS i")
    assert counts(tmp_path / "e.duckdb", table="s.t") == {"a": 1}
    with pytest.raises(SourceError, match=r"it has: 's\.t'"):
        counts(tmp_path / "e.duckdb", table="t")
