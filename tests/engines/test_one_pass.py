"""Where nothing can be kept between passes, the default still releases."""

import pyarrow as pa
import pytest

import headcount
from headcount.engines.duckdb.count import DuckDB

EVENTS = pa.table({"who": list(range(3000)), "what": ["tea"] * 3000})


def chosen(source, method="auto", **where):
    budget = headcount.Budget(rho=10)
    made = headcount.release(
        source, user="who", item="what", budget=budget, method=method, unsafe_seed=1, **where
    )
    assert made.table["what"].to_pylist() == ["tea"]
    return made.settings.get("chosen")


def test_an_engine_that_keeps_nothing(monkeypatch):
    monkeypatch.setattr(DuckDB, "several_passes", False)
    monkeypatch.delattr(DuckDB, "materialise")
    assert chosen(EVENTS) == "pcr"
    with pytest.raises(headcount.SourceError, match="several passes do not run on duckdb"):
        chosen(EVENTS, "rationed")


def test_a_postgresql_that_is_only_read(on_engine):
    call = on_engine("postgres", EVENTS)
    only_read = "options=-c%20default_transaction_read_only%3Don"
    source = call.pop("source")
    source += ("&" if "?" in source else "?") + only_read
    assert chosen(source, **call) == "pcr"
    with pytest.raises(headcount.EngineError):
        chosen(source, "rationed", **call)


def test_a_login_without_temporary_tables(on_engine, postgres_url):
    import psycopg

    call = on_engine("postgres", EVENTS)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN")
        connection.execute(f"GRANT SELECT ON {call['table']} TO reader")
        connection.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
    try:
        call["source"] = call["source"].replace("postgres:@", "reader:@")
        assert chosen(**call) == "pcr"
    finally:
        with psycopg.connect(postgres_url) as connection:
            connection.execute("GRANT TEMPORARY ON DATABASE postgres TO PUBLIC")
            connection.execute(f"REVOKE ALL ON {call['table']} FROM reader")


def test_a_spark_whose_sums_wrap_around(on_engine, spark):
    call = on_engine("spark", EVENTS)
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        assert chosen(**call) == "pcr"
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "true")
