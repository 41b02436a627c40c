"""Databases with the same tables, and the unit that a source is protected by."""

import sqlite3

import duckdb

from headcount.engines import Session
from headcount.inputs import Request, open_source
from headcount.inputs.unit import Unit

EVERY = ["duckdb", "sqlite", "postgres"]

SETUP = """
CREATE TABLE t (u integer, i varchar, day date);
CREATE TABLE s (u integer, i varchar, "rowid" integer);
INSERT INTO t VALUES (1, 'a', '2024-01-01');
CREATE VIEW v AS SELECT u, max(i) AS i FROM t GROUP BY u;
CREATE TABLE "x.csv" (u integer, i varchar);
"""
SERVER = """
DROP SCHEMA IF EXISTS units CASCADE; CREATE SCHEMA units; SET search_path = units;
DROP ROLE IF EXISTS units_reader; CREATE ROLE units_reader;
GRANT USAGE ON SCHEMA units TO units_reader;
CREATE TABLE t (u integer, i varchar, day date, "user" text, "ctid " text);
CREATE TABLE s (u integer, i varchar, "rowid" integer);
CREATE VIEW v AS SELECT u, max(i) AS i FROM t GROUP BY u;
CREATE MATERIALIZED VIEW m AS SELECT u, i FROM t;
CREATE TABLE secured (u integer, i varchar); ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE TABLE parts (u integer, i varchar) PARTITION BY RANGE (u);
GRANT SELECT ON ALL TABLES IN SCHEMA units TO units_reader;
CREATE FUNCTION initcap(integer) RETURNS text LANGUAGE sql AS $$ SELECT max(i) FROM units.t $$;
"""


def databases(folder):
    """Return the paths of two databases with the same tables."""
    with duckdb.connect(str(folder / "e.duckdb")) as connection:
        connection.execute(SETUP)
    connection = sqlite3.connect(folder / "e.sqlite")
    connection.executescript(SETUP)
    connection.close()
    return {"duckdb": folder / "e.duckdb", "sqlite": folder / "e.sqlite"}


def unit(source, user="u", **options) -> Unit:
    with Session() as session:
        return open_source(session, source, Request(user=user, **options)).unit
