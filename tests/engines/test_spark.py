"""Spark from the command line: what it reads, refuses and never says."""

import datetime as dt
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
from headcount.inputs import Request, open_source
from headcount.views.engine_population import EnginePopulation
from headcount.views.histogram import count_distinct_users
from tests.conftest import HEADCOUNT, RHO, after_the_caution

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


@pytest.mark.parametrize("delimiter", [";", "|", "tab"])
def test_spark_reads_other_delimiters_as_duckdb_does(spark, headcount, tmp_path, delimiter):
    path = tmp_path / "events.txt"
    text = lines(*(f'v{n},"a;|\tb"' for n in range(20)))
    path.write_text(text.replace(",", "\t" if delimiter == "tab" else delimiter))
    said = ["--input-format", "csv", "--delimiter", delimiter]
    duckdb = headcount("release", path, *said, *SEEDED)
    ours = headcount("release", path, *said, *SEEDED, "--engine", "spark")
    assert (ours.code, ours.out, ours.err) == (0, duckdb.out, duckdb.err)


@pytest.mark.parametrize("method", ["sizes", "histogram"])
def test_ids_that_are_no_utf_8_stay_apart(spark, tmp_path, method):
    """Spark's ``encode`` replaces such bytes: three users would be one, who has three items."""
    raw = pa.array([b"\xff", b"\xfe", b"\xfd", b"ok"])
    ids = pa.Array.from_buffers(pa.string(), 4, raw.buffers())
    items = pa.array([1, 2, 3, 3])
    pq.write_table(pa.table({"who": ids, "what": items}), tmp_path / "e.parquet")
    with Session() as session:
        request = Request(engine="spark", columns=["who", "what"])
        events = open_source(session, str(tmp_path / "e.parquet"), request)
        if method == "sizes":
            assert EnginePopulation(events, "who", ["what"]).sizes([1, 2, 3]) == [4, 0, 0]
        else:
            counted = count_distinct_users(events, "who", ["what"], 9)
            assert sorted(counted.values.tolist()) == [1, 1, 2]


BROKEN = {
    "a field too many": ("e.csv", lines(f"{CANARY},{CANARY},{CANARY}")),
    "a field too few": ("e.csv", lines(CANARY)),
    "text after a quote": ("e.csv", lines(f'{CANARY},"{CANARY}"x')),
    "a column twice": ("e.csv", lines().replace("item", "item,ITEM").replace(",x", ",x,y")),
    "CSV, not UTF-8": ("e.csv", lines(f"{CANARY},\udcff{CANARY}")),
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
        assert "as many fields as the header" in ran.err
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
    assert f"as {form.lower()}: Spark needs a package to read this format" in ran.err


def test_the_names_of_folders_are_a_column_of_text(spark, headcount, tmp_path, events):
    for n in (1, 2):
        (tmp_path / f"day=0{n}").mkdir()
        pq.write_table(events, tmp_path / f"day=0{n}" / "part.parquet")
    options = ["--user", "uid", "--item", "day", "--rho", RHO, "--format", "csv"]
    ran = headcount("release", tmp_path, *options, "--engine", "spark")
    assert sorted(line.split(",")[0] for line in ran.out.splitlines()[1:]) == ['"01"', '"02"']


def test_a_spark_frame_leaves_no_trace_in_its_session(spark, events, parquet):
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    spark.conf.unset("spark.sql.mapKeyDedupPolicy")
    before = spark.catalog.listTables()
    frame = spark.read.parquet(str(parquet))
    call = {"user": "uid", "item": "item", "budget": BUDGET, "unsafe_seed": 4}
    assert hc.release(frame, **call).table.equals(hc.release(events, **call).table)
    assert spark.catalog.listTables() == before
    assert spark.conf.get("spark.sql.session.timeZone") == "Europe/Berlin"
    assert spark.conf.get("spark.sql.mapKeyDedupPolicy", None) is None
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
    assert "already running in this process, with a different spark.some.password" in ran.err
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
            "SQL on files is run by DuckDB",
        ),
        (["spark://h:1"], "name a table"),
        (["spark://h:1", "--sql", "SELECT 1"], "for Spark, name a table"),
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
    assert f"pip install '/path/to/headcount[{extra}]'" in ran.stderr


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
    said = after_the_caution(ran.stderr)
    assert said.startswith("headcount: Spark cannot be started: ")
    assert PASSWORD not in ran.stderr
    assert not list(tmp_path.iterdir())
    assert not list(spill.iterdir())


def test_items_that_are_numbers_in_a_frame_of_spark(spark):
    frame = spark.createDataFrame([(n % 50, n % 2) for n in range(100)], ["who", "what"])
    ours = hc.release(frame, user="who", item="what", budget=BUDGET, unsafe_seed=1)
    table = pa.table({"who": [n % 50 for n in range(100)], "what": [n % 2 for n in range(100)]})
    there = hc.release(table, user="who", item="what", budget=BUDGET, unsafe_seed=1)
    assert ours.table.equals(there.table)


@pytest.mark.parametrize("kind", ["frame", "ibis"])
def test_moments_have_a_time_zone_and_what_clocks_showed_has_none(spark, kind):
    import ibis

    frame = spark.sql(
        "SELECT id AS u, TIMESTAMP '2024-03-30 23:00:00Z' AS at, "
        "TIMESTAMP_NTZ '2024-03-30 23:00:00' AS clock FROM range(600)"
    )
    frame.createOrReplaceTempView("moments")
    source = frame if kind == "frame" else ibis.pyspark.connect(spark).table("moments")
    asked = {"user": "u", "budget": BUDGET, "method": "pcr-paper"}
    try:
        made = hc.release(source, **asked, by=("day", "at"), timezone="Europe/Berlin", item="clock")
        with pytest.raises(hc.SourceError, match="have no time zone"):
            hc.release(source, **asked, by=("day", "clock"), timezone="Europe/Berlin")
    finally:
        spark.catalog.dropTempView("moments")
    assert made.table["day"].to_pylist() == [dt.date(2024, 3, 31)]
    assert made.table["clock"].to_pylist() == [dt.datetime(2024, 3, 30, 23)]
