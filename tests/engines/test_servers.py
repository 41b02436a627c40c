"""Spark and PostgreSQL from the command line: what they read, refuse and never say."""

import logging
import subprocess
import sys
import traceback

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.engines.session import Session
from headcount.engines.spark.read import is_stored, read_table
from headcount.engines.spark.start import _ARGUMENTS, connect, through_ibis
from headcount.inputs.unit import Unit
from headcount.results.release import CAUTIONS
from tests.conftest import HEADCOUNT, RHO
from tests.engines.conftest import copied_to_postgres, needs

BUDGET = hc.Budget(rho=20.0)
OPTIONS = ["--user", "uid", "--item", "item", "--rho", RHO]
SEEDED = [*OPTIONS, "--unsafe-seed", "4", "--format", "csv"]
PASSWORD = "hunter2-4f1c"
CANARY = "canary-4f1c"

GOOD = [f"u{n},x" for n in range(30)]


def lines(*more: str) -> str:
    return "\n".join(["uid,item", *GOOD, *more, ""])


CSV = {
    "an empty field is NULL, an empty text is not": lines(*(f'v{n},\nw{n},""' for n in range(20))),
    "line breaks in a field": lines(*(f'v{n},"a\nb"\nw{n},"a\r\nb"' for n in range(20))),
    "quotes and backslashes": lines(*(f'v{n},"say ""hi"""\nw{n},\\\nx{n},a"b' for n in range(20))),
    "CRLF": lines().replace("\n", "\r\n"),
    "a byte order mark, blank lines": "\ufeff" + lines("", "", "v,y"),
    "spaces, NULL and #": lines(*(f"v{n}, x \nw{n},NULL\n#z{n},#" for n in range(20))),
    "a column without a name": lines().replace("item", "item,").replace(",x", ",x,y"),
}


@pytest.mark.parametrize("text", CSV.values(), ids=CSV)
def test_spark_reads_csv_as_duckdb_does(spark, headcount, tmp_path, text):
    path = tmp_path / "events [1].csv"
    path.write_bytes(text.encode())
    duckdb = headcount("release", path, *SEEDED)
    ours = headcount("release", path, *SEEDED, "--engine", "spark")
    assert (ours.code, ours.out, ours.err) == (0, duckdb.out, duckdb.err)


BROKEN = {
    "a field too many": ("e.csv", lines(f"{CANARY},{CANARY},{CANARY}")),
    "a field too few": ("e.csv", lines(CANARY)),
    "text after a quote": ("e.csv", lines(f'{CANARY},"{CANARY}"x')),
    "a column twice": ("e.csv", lines().replace("item", "item,ITEM").replace(",x", ",x,y")),
    "JSON, broken": ("e.jsonl", '{"uid":"u","item":"x"}\n' * 9 + f'{{"uid":"{CANARY}'),
    "JSON, no object": ("e.jsonl", '{"uid":"u","item":"x"}\n' * 9 + f'["{CANARY}"]\n'),
    "CSV, not UTF-8": ("e.csv", lines(f"{CANARY},\udcff{CANARY}")),
    "JSON, not UTF-8": ("e.jsonl", '{"uid":"u","item":"\udcff"}\n' * 9),
    "JSON, first line": ("e.jsonl", f'{{"uid":"{CANARY}\n'),
}


@pytest.mark.parametrize(("name", "text"), BROKEN.values(), ids=BROKEN)
def test_spark_refuses_broken_files_and_quotes_nothing(
    spark, headcount, tmp_path, name, text, request
):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    ran = headcount("release", path, *OPTIONS, "--engine", "spark")
    assert (ran.code, ran.out) == (2, "")
    assert CANARY not in ran.err
    if "field" in request.node.callspec.id:
        assert "as many fields as the header has" in ran.err
    assert headcount("release", path, *OPTIONS).code == 2


def test_spark_reads_json_lines_as_duckdb_does(spark, headcount, tmp_path):
    path = tmp_path / "e.jsonl"
    items = ['"x\\ny"', "12", "true", '""']
    rows = [f'{{"uid":"u{n}","item":{item}}}' for item in items for n in range(30)]
    path.write_text("\n".join([*rows, '{"uid":"v","item":null,"more":1}', '{"uid":"v"}', ""]))
    duckdb = headcount("release", path, *SEEDED)
    ours = headcount("release", path, *SEEDED, "--engine", "spark")
    assert (ours.code, ours.out) == (0, duckdb.out)


@pytest.mark.parametrize("kind", ["file", "glob", "folder"])
def test_spark_reads_parquet(spark, headcount, tmp_path, events, parquet, kind):
    duckdb = headcount("release", parquet, *SEEDED)
    for n, half in enumerate((events.slice(0, 400), events.slice(400))):
        (tmp_path / f"day={n}").mkdir()
        pq.write_table(half, tmp_path / f"day={n}" / "part.parquet")
    source = {"file": parquet, "glob": tmp_path / "*" / "*.parquet", "folder": tmp_path}[kind]
    ours = headcount("release", source, *SEEDED, "--engine", "spark")
    assert (ours.code, ours.out, ours.err) == (0, duckdb.out, duckdb.err)


@pytest.mark.parametrize(("form", "mark"), [("Delta", "_delta_log"), ("Iceberg", "metadata")])
def test_a_lake_table_is_not_taken_for_its_files(spark, headcount, tmp_path, parquet, form, mark):
    """It has files with rows that were deleted. Spark knows, with a package it does not bring."""
    (tmp_path / "lake" / mark).mkdir(parents=True)
    (tmp_path / "lake" / "part.parquet").write_bytes(parquet.read_bytes())
    ran = headcount("release", tmp_path / "lake", *OPTIONS)
    assert (ran.code, ran.out) == (2, "")
    assert f"is a {form} table; --engine spark reads it" in ran.err
    ran = headcount("release", tmp_path / "lake", *OPTIONS, "--engine", "spark")
    assert (ran.code, ran.out) == (2, "")
    assert f"as {form.lower()}: Spark reads this form only with a package for it" in ran.err


def test_the_names_of_folders_are_a_column_of_text(spark, headcount, tmp_path, events):
    for n in (1, 2):
        (tmp_path / f"day=0{n}").mkdir()
        pq.write_table(events, tmp_path / f"day=0{n}" / "part.parquet")
    options = ["--user", "uid", "--item", "day", "--rho", RHO, "--format", "csv"]
    ran = headcount("release", tmp_path, *options, "--engine", "spark")
    assert sorted(line.split(",")[0] for line in ran.out.splitlines()[1:]) == ['"01"', '"02"']


def test_a_spark_frame_leaves_no_trace_in_its_session(spark, events, parquet):
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    before = spark.catalog.listTables()
    frame = spark.read.parquet(str(parquet))
    call = {"user": "uid", "item": "item", "budget": BUDGET, "unsafe_seed": 4}
    assert hc.release(frame, **call).table.equals(hc.release(events, **call).table)
    assert spark.catalog.listTables() == before
    assert spark.conf.get("spark.sql.session.timeZone") == "Europe/Berlin"
    spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_what_spark_cannot_read_is_neither_quoted_nor_logged(spark, capfd, caplog):
    """Spark's errors quote values, and pyspark logs them before it raises them."""
    rows = [("u1", "1"), (CANARY, CANARY)]
    frame = spark.createDataFrame(rows, ["uid", "item"]).selectExpr("uid", "int(item) AS item")
    with caplog.at_level(logging.DEBUG, "pyspark"), pytest.raises(hc.SourceError) as caught:
        hc.release(frame, user="uid", item="item", budget=BUDGET)
    out, err = capfd.readouterr()
    said = "".join(traceback.format_exception(caught.value))
    assert CANARY not in said + out + err + caplog.text
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("setting", "is_argument"),
    [
        ("spark.driver.memory", True),
        ("spark.driver.extraJavaOptions", True),
        ("spark.jars.packages", True),
        ("spark.some.password", False),
        ("spark.hadoop.fs.s3a.encryption.key", False),
        ("spark.sql.catalog.shop.url", False),  # jdbc:…?password=…
        ("spark.ssl.keyPhrase", False),
    ],
)
def test_only_what_java_needs_is_an_argument_that_all_may_read(setting, is_argument):
    assert bool(_ARGUMENTS.fullmatch(setting)) == is_argument


def test_a_setting_for_a_spark_that_runs_already_is_refused(spark, headcount, parquet):
    secret = ("--spark-conf", f"spark.some.password={PASSWORD}")
    ran = headcount("release", parquet, *OPTIONS, "--engine", "spark", *secret)
    assert (ran.code, ran.out) == (2, "")
    assert "runs in this process already, with another spark.some.password" in ran.err
    assert PASSWORD not in ran.err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["no/such.parquet", "--engine", "spark"], "no file 'no/such.parquet'"),
        (["s3x://b/e.parquet", "--engine", "spark"], "Spark cannot read 's3x://b/e.parquet'"),
        (
            ["e.parquet", "--engine", "spark", "--table", "t"],
            "(postgres:// or spark://)",
        ),
        (
            ["e.parquet", "--engine", "spark", "--sql", "SELECT 1"],
            "SQL goes with a DuckDB",
        ),
        (["spark://h:1"], "name a table"),
        (["spark://h:1", "--sql", "SELECT 1"], "give Spark a table"),
        (["postgres://h/d"], "name a table"),
        (["postgres://h/d", "--table", "t", "--sql", "SELECT 1"], "not both"),
        (["postgres://h/d", "--sql", "DELETE FROM t"], "must be a single SELECT"),
        (["postgres://h/d", "--sql", "SELECT 1; SELECT 2"], "must be a single SELECT"),
    ],
)
def test_what_cannot_be_asked_for(spark, headcount, args, says):
    ran = headcount("release", *args, *OPTIONS)
    assert (ran.code, ran.out) == (4 if "s3x" in args[0] else 2, "")
    assert says in ran.err


def test_views_of_the_catalog(spark, parquet):
    with Session() as session:
        backend = through_ibis(session, spark)
    spark.catalog.createTable("stored", str(parquet), "parquet")
    spark.sql("CREATE VIEW shown AS SELECT * FROM stored LIMIT 3")
    spark.sql("CREATE TEMPORARY VIEW passing AS SELECT * FROM stored")
    try:
        stored = [
            name
            for name in ("stored", "default.`stored`", "shown", "passing", "absent")
            if is_stored(backend, name)
        ]
    finally:
        spark.sql("DROP VIEW passing")
        spark.sql("DROP VIEW shown")
        spark.sql("DROP TABLE stored")
    assert stored == ["stored", "default.`stored`"]


def test_a_table_that_the_catalog_does_not_have(spark, headcount):
    master = spark.sparkContext.master
    with Session() as session:
        backend = connect(session, master, {})
        with pytest.raises(hc.SourceError, match=r"no table 'no.such' .*TABLE_OR_VIEW_NOT_FOUND"):
            read_table(session, backend, "no.such")


@pytest.mark.parametrize(
    ("package", "extra", "args"),
    [
        ("pyspark", "spark", ["e.parquet", "--engine", "spark"]),
        ("pyspark", "spark", ["spark://h:1", "--table", "t"]),
        ("psycopg", "postgres", ["postgres://h/d", "--table", "t"]),
        ("polars", "polars", ["e.parquet", "--engine", "polars"]),
    ],
)
def test_a_missing_extra_is_named(tmp_path, parquet, package, extra, args):
    (tmp_path / "e.parquet").write_bytes(parquet.read_bytes())
    block = f"import sys; sys.modules[{package!r}] = None; from headcount.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", block, "release", *args, *OPTIONS],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"pip install 'headcount[{extra}]'" in ran.stderr


@pytest.fixture(scope="module")
def tables(postgres_url, events):
    """Put the events into tables with all kinds of names."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute('DROP SCHEMA IF EXISTS "My Schema" CASCADE')
        connection.execute('CREATE SCHEMA "My Schema"')
        copied_to_postgres(postgres_url, events, "plain")
        for name in ('"My Schema"."o\'d""d.tab%le"', '"My Schema".plain', '"Plain.Dot"'):
            connection.execute(f"DROP TABLE IF EXISTS {name}")
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM plain")
        connection.execute("CREATE MATERIALIZED VIEW seen AS SELECT * FROM plain")
        connection.execute("CREATE TYPE food AS ENUM ('bread', 'milk', 'tea')")
        connection.execute(
            "CREATE TABLE enumerated AS "
            "SELECT uid, item::food AS item FROM plain WHERE item IN ('bread', 'milk', 'tea')"
        )
    yield postgres_url
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP TABLE enumerated")
        connection.execute("DROP TYPE food")
        connection.execute("DROP MATERIALIZED VIEW seen")


@pytest.mark.parametrize(
    "option",
    [
        ("--table", "plain"),
        ("--table", "public.plain"),
        ("--table", "My Schema.plain"),
        ("--table", "My Schema.o'd\"d.tab%le"),
        ("--table", '"My Schema"."o\'d""d.tab%le"'),
        ("--table", "Plain.Dot"),
        ("--table", "seen"),
        ("--sql", "SELECT * FROM \"My Schema\".plain WHERE item LIKE '%e%' OR true"),
        ("--sql", "SELECT uid, item::text AS item FROM enumerated UNION ALL SELECT 'x', 'rare'"),
    ],
)
def test_tables_and_queries_of_postgresql(tables, headcount, parquet, option):
    duckdb = headcount("release", parquet, *SEEDED)
    ours = headcount("release", tables, *option, *SEEDED)
    if "UNION" in option[1]:
        assert (ours.code, len(ours.out.splitlines())) == (0, len(duckdb.out.splitlines()))
    else:
        view = f"{CAUTIONS[Unit.VIEW]}\n" if option[1] == "seen" else ""
        assert (ours.code, ours.out, ours.err) == (0, duckdb.out, duckdb.err + view)


def test_an_enumeration_is_counted_as_text(tables, headcount):
    ran = headcount("release", tables, "--table", "enumerated", *SEEDED)
    assert ran.code == 0
    assert [line.split(",")[0] for line in ran.out.splitlines()[-3:]] == [
        '"bread"',
        '"milk"',
        '"tea"',
    ]


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (("--table", "nope"), "there is no table 'nope'; there are: "),
        (("--table", "PLAIN"), "'Plain.Dot', "),
        (("--sql", "SELECT * FROM nope"), "a table, a column or a permission is missing"),
        (("--sql", "SELECT uid, uid, item FROM plain"), "two columns of the SQL have the same"),
        (("--sql", "SELECT uid, ARRAY[item] AS item FROM plain"), "holds no plain values"),
        (("--sql", "SELECT uid, int4(item) AS item FROM plain"), "SQLSTATE 22P02"),
        (("--sql", "SELECT uid AS whom, item FROM plain"), "no column 'uid'; there are: 'whom'"),
        (("--sql", "DELETE FROM plain"), "must be a single SELECT"),
        (("--sql", "WITH d AS (DELETE FROM plain RETURNING *) SELECT * FROM d"), "single SELECT"),
        (("--sql", "SELECT * INTO copied FROM plain"), "must be a single SELECT"),
    ],
)
def test_what_postgresql_cannot_be_asked(tables, headcount, option, says):
    ran = headcount("release", tables, *option, *OPTIONS)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert "canary" not in ran.err


def test_a_query_that_writes_by_a_function_changes_nothing(tables, headcount):
    import psycopg

    with psycopg.connect(tables, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS written (n int)")
        connection.execute(
            "CREATE OR REPLACE FUNCTION write() RETURNS text LANGUAGE sql "
            "AS $$INSERT INTO written VALUES (1); SELECT 'x'$$"
        )
        sql = "SELECT uid, write() AS item FROM plain"
        assert headcount("release", tables, "--sql", sql, *OPTIONS).code == 0
        assert connection.execute("SELECT count(*) FROM written").fetchone() == (0,)
        connection.execute("DROP FUNCTION write")
        connection.execute("DROP TABLE written")


SECRETS = {
    "no server": f"postgres://u:{PASSWORD}@127.0.0.1:1/d",
    "no host": f"postgres://u:{PASSWORD}@nohost.invalid/d",
    "no URL": f"postgres://u:{PASSWORD}@[::1/d",
    "a bad escape": f"postgres://u:{PASSWORD}%zz@127.0.0.1:1/d",
    "an unknown option": f"postgres://u:p@127.0.0.1:1/d?secret={PASSWORD}",
    "a bad value": f"postgres://u:{PASSWORD}@127.0.0.1:1/d?sslmode={PASSWORD}",
    "a bad port": f"postgres://u:p@127.0.0.1:{PASSWORD}/d",
    "an @ in the password": f"postgres://u:p@{PASSWORD}@127.0.0.1:1/d",
}


@pytest.mark.parametrize("url", SECRETS.values(), ids=SECRETS)
def test_a_password_is_never_said(headcount, tmp_path, url):
    needs("psycopg")
    args = ["--table", "t", *OPTIONS, "--output", tmp_path / "o.csv"]
    ran = headcount("release", url, *args)
    assert (ran.code in (2, 4), ran.out) == (True, "")
    assert PASSWORD not in ran.err
    assert not list(tmp_path.iterdir())
    with pytest.raises(hc.HeadcountError) as caught:
        hc.release(url, table="t", user="u", item="i", budget=BUDGET)
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.parametrize("wrong", ["password", "database"])
def test_a_login_that_is_refused(tables, headcount, wrong):
    """The server of the tests asks nobody for a password; a user that is not there is refused."""
    secret = tables.replace("postgres:@", f"nobody:{PASSWORD}@")
    url = secret if wrong == "password" else tables.replace("/postgres?", f"/{PASSWORD}?")
    ran = headcount("release", url, "--table", "plain", *OPTIONS)
    assert (ran.code, ran.out) == (4, "")
    assert "refused the login or has no such database" in ran.err
    assert PASSWORD not in ran.err


def test_spark_that_does_not_start(tmp_path, parquet, spill):
    """A setting that Spark refuses, and quotes in its error."""
    conf = ["--spark-conf", f"spark.ui.enabled={PASSWORD}"]
    output = tmp_path / "o.csv"
    ran = subprocess.run(
        [HEADCOUNT, "release", parquet, "--engine", "spark", *conf, *OPTIONS, "--output", output],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    assert (ran.returncode, ran.stdout) == (4, "")
    assert ran.stderr.startswith("headcount: Spark cannot be started: ")
    assert PASSWORD not in ran.stderr
    assert not list(tmp_path.iterdir())
    assert not list(spill.iterdir())


def test_items_that_are_numbers_in_a_frame_of_spark(spark):
    frame = spark.createDataFrame([(n % 50, n % 2) for n in range(100)], ["who", "what"])
    ours = hc.release(frame, user="who", item="what", budget=BUDGET, unsafe_seed=1)
    table = pa.table({"who": [n % 50 for n in range(100)], "what": [n % 2 for n in range(100)]})
    there = hc.release(table, user="who", item="what", budget=BUDGET, unsafe_seed=1)
    assert ours.table.equals(there.table)
