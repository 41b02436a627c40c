"""What a query does with rows, and which column its user column is."""

import duckdb
import pytest

from headcount.engines import Session, reader
from headcount.errors import SourceError
from headcount.inputs.lineage import unit_of_query
from headcount.inputs.sql import single_select
from headcount.inputs.unit import Unit
from tests.inputs.units import EVERY, SETUP, unit

ROW_BY_ROW = [
    "SELECT u, i FROM t",
    "SELECT u, lower(i) AS i FROM t WHERE u > 3",
    "SELECT U, i FROM T",
    "SELECT * FROM t",
    "SELECT t.* FROM t",
    "SELECT x.u, x.i FROM t AS x WHERE x.day > '2024-01-01' ORDER BY x.day",
    "SELECT u, i FROM (SELECT u, i FROM t) AS x",
    "SELECT * FROM (SELECT i, u FROM t) AS x",
    "SELECT i AS u_, u FROM t",
    "WITH x AS (SELECT * FROM t) SELECT u, i FROM x",
    "SELECT u, i FROM t AS x WHERE x.i > ''",
    "WITH t AS (SELECT u, i FROM s) SELECT u, i FROM t",
    "SELECT u, i FROM t UNION ALL SELECT u, i FROM s",
    "SELECT day AS x, u FROM t UNION ALL SELECT day, u FROM t",
    "SELECT u, CASE WHEN i = 'a' THEN 'b' ELSE coalesce(i, '') END AS i FROM t",
    "SELECT u, i || '-' || substr(i, 1, 2) AS i FROM t WHERE i IN ('a', 'b') AND NOT i LIKE 'x%'",
    "SELECT u, CAST(day AS text) AS i FROM t",
    "SELECT u, trim(upper(i)) AS i FROM t WHERE u BETWEEN 1 AND 5",
    "SELECT u, rowid AS i FROM s",  # which declares it
]
BETWEEN_ROWS = [
    "SELECT u, i FROM t LIMIT 5",
    "SELECT u, i FROM (v)",
    "SELECT u, i FROM ((v))",
    "SELECT u, i FROM (v) AS x",
    "SELECT * FROM (v)",
    "SELECT u, i FROM t ORDER BY day LIMIT 5",
    "SELECT u, i FROM (SELECT u, i FROM t ORDER BY day LIMIT 5) AS x",
    "SELECT u, i FROM t OFFSET 5",
    "SELECT DISTINCT u, i FROM t",
    "SELECT u, max(i) AS i FROM t GROUP BY u",
    "SELECT t.u, s.i FROM t JOIN s ON t.u = s.u",
    "SELECT * FROM t, s",
    "SELECT t.u, s.i FROM t, s",
    "SELECT u, i FROM t WHERE u IN (SELECT u FROM s)",
    "SELECT u, (SELECT max(i) FROM s) AS i FROM t",
    "SELECT u, (SELECT i FROM s) AS i FROM t",
    "SELECT u, CASE WHEN EXISTS (SELECT 1 FROM s) THEN i END AS i FROM t",
    "SELECT u, i FROM t ORDER BY (SELECT i FROM s)",
    "SELECT u, lag(i) OVER (ORDER BY u) AS i FROM t",
    "SELECT u, i FROM t UNION SELECT u, i FROM s",
    "SELECT u, i FROM t EXCEPT SELECT u, i FROM s",
    "SELECT u, i FROM t INTERSECT SELECT u, i FROM s",
    "WITH RECURSIVE s AS (SELECT u, i FROM t UNION ALL SELECT u, i FROM s) SELECT u, i FROM s",
    "SELECT u, random() AS i FROM t",
    "SELECT u, i FROM t WHERE random() > 5",
    "SELECT u, CURRENT_TIMESTAMP AS i FROM t",
    "SELECT u, my_function(i) AS i FROM t",
    "SELECT u, i FROM v",
    "SELECT u, i FROM (SELECT * FROM v) AS x",
    "SELECT u, i FROM my_function(1) AS x",
]
OF_DUCKDB = [
    "SELECT u, rowid AS i FROM t",
    "SELECT u, i FROM t WHERE rowid < 100",
    "SELECT u AS rowid, u, i FROM t WHERE rowid < 100",
    "SELECT u, rowid AS i FROM t UNION ALL SELECT u, rowid FROM s",
    "SELECT u, uuid() AS i FROM t",
    "SELECT u, gen_random_uuid() AS i FROM t",
    "SELECT u, now() AS i FROM t",
    "SELECT u, current_date AS i FROM t",
    "SELECT u, nextval('seq') AS i FROM t",
    "SELECT u, getvariable('x') AS i FROM t",
    "SELECT u, i FROM t QUALIFY row_number() OVER (PARTITION BY i ORDER BY u) = 1",
    "SELECT u, i FROM t USING SAMPLE 10",
    "SELECT u, any_value(i) AS i FROM t GROUP BY ALL",
    "SELECT u, i FROM read_parquet('x.parquet')",
    "SELECT u, filename AS i FROM read_parquet('x.parquet')",
    "SELECT u, i FROM 'x.parquet'",
    "SELECT u, x.i FROM t, range(5) AS x(i)",
    "SELECT u, other.lower(i) AS i FROM t",
    "SELECT u, x.i FROM t, LATERAL (SELECT i FROM s) AS x",
    "SELECT u, i FROM t POSITIONAL JOIN s",
]
OF_SQLITE = [
    "SELECT u, _rowid_ AS i FROM t",
    "SELECT u, oid AS i FROM t",
    "SELECT u, i FROM t WHERE u IN s",
    "SELECT u, i FROM t WHERE i IN day",  # which would be a table, not the column
    "SELECT u, total_changes() AS i FROM t",
    "SELECT u, last_insert_rowid() AS i FROM t",
    "SELECT u, i FROM pragma_table_info('t')",
]
OF_POSTGRES = [
    *(f"SELECT u, {name} AS i FROM t" for name in ("ctid", "xmin", "cmin", "xmax", "cmax")),
    "SELECT u, tableoid AS i FROM t",
    "SELECT u, t.CTID AS i FROM t",
    "SELECT u, i FROM t WHERE ctid < '(0,9)'",
    "SELECT u, i FROM t ORDER BY xmin",
    "SELECT u, user AS i FROM t",
    "SELECT u, nextval('seq') AS i FROM t",
    "SELECT u, clock_timestamp() AS i FROM t",
    "SELECT u, gen_random_uuid() AS i FROM t",
    "SELECT DISTINCT ON (u) u, i FROM t",
    "SELECT u, i FROM t TABLESAMPLE SYSTEM (10)",
    "SELECT u, i FROM t FETCH FIRST 5 ROWS ONLY",
    "SELECT u, x AS i FROM t, generate_series(1, 2) AS x",
    "SELECT u, t.my_function AS i FROM t",
    "SELECT u, CAST(i AS my_type) AS i FROM t",
    "SELECT u, initcap(u) AS i FROM t",
    "SELECT u, i FROM m",
    "SELECT u, i FROM secured",
]
COMPUTED = [
    "SELECT concat(i, day) AS u, i FROM t",
    "SELECT u || '' AS u, i FROM t",
    "SELECT lower(u) AS u, i FROM t",
    "SELECT CAST(u AS text) AS u, i FROM t",
    "SELECT u + 0 AS u, i FROM t",
    "SELECT 1 AS u, i FROM t",
    "SELECT NULL AS u, i FROM t",
    "SELECT random() AS u, i FROM t",
    "SELECT CASE WHEN u > 1 THEN u END AS u, i FROM t",
    "SELECT u, i FROM (SELECT concat(u, day) AS u, i FROM t) AS x",
    "WITH x AS (SELECT concat(u, day) AS u, i FROM t) SELECT * FROM x",
    "WITH x(u, i) AS (SELECT concat(u, day), i FROM t) SELECT * FROM x",
    "WITH t AS (SELECT concat(u, day) AS u, i FROM s) SELECT u, i FROM t",
    "SELECT u, i FROM t UNION ALL SELECT u + 10, i FROM t",
    "SELECT u, i FROM t UNION ALL SELECT 1 AS i, u FROM t",
    "SELECT * FROM (SELECT i, u FROM t) AS x JOIN (SELECT u, day FROM t) AS y USING (u) UNION ALL "
    "SELECT * FROM (SELECT u + 1 AS z, i FROM t) AS x JOIN (SELECT day, u + 1 AS z FROM t) AS y "
    "USING (z)",
    "SELECT max(u) AS u, i FROM t GROUP BY i",
    "SELECT x.u, t.i FROM t JOIN (SELECT u + 1 AS u FROM s) AS x ON t.u = x.u",
    "SELECT (SELECT u FROM s) AS u, i FROM t",
]


def on(dialects, *lists):
    return [(dialect, sql) for dialect in dialects for sqls in lists for sql in sqls]


# Not every version of sqlglot keeps the names of columns for SQLite.
RENAMED = ["WITH x(a, b) AS (SELECT u, i FROM t) SELECT y.c AS u, d AS i FROM x AS y(c, d)"]


@pytest.mark.parametrize(
    ("dialect", "sql"), on(EVERY, ROW_BY_ROW) + on(["duckdb", "postgres"], RENAMED)
)
def test_queries_that_read_row_by_row(catalogs, dialect, sql):
    catalog, select = catalogs(dialect), single_select(sql, dialect)
    assert unit_of_query(select, dialect, "u", catalog)[0] == Unit.USER
    catalog._connection.execute(select)  # the database understands it, too


@pytest.mark.parametrize(
    ("dialect", "sql"),
    on(EVERY, BETWEEN_ROWS)
    + on(["duckdb"], OF_DUCKDB)
    + on(["sqlite"], OF_SQLITE)
    + on(["postgres"], OF_POSTGRES),
)
def test_queries_that_may_look_at_several_rows(catalogs, dialect, sql):
    assert unit_of_query(sql, dialect, "u", catalogs(dialect))[0] == Unit.QUERY


COMPUTED_BY_DUCKDB = [
    "SELECT uuid() AS u, i FROM t",
    "SELECT rowid AS u, i FROM t",
    "SELECT filename AS u, i FROM read_parquet('x.parquet')",
    "SELECT * REPLACE (u + 1 AS u) FROM t",
    "SELECT * RENAME (i AS u, u AS i) FROM (SELECT i || 'a' AS i, u FROM t)",
    "SELECT u, i FROM t UNION ALL BY NAME SELECT i, 1 AS u FROM t",
    "SELECT x.u, i FROM t, read_parquet('x.parquet') AS x(u)",
    "SELECT * FROM 'x.parquet' UNION ALL SELECT u + 1, i FROM t",
]


@pytest.mark.parametrize(
    ("dialect", "sql"), on(EVERY, COMPUTED) + on(["duckdb"], COMPUTED_BY_DUCKDB)
)
def test_user_columns_that_are_computed(catalogs, dialect, sql):
    assert unit_of_query(sql, dialect, "u", catalogs(dialect))[0] == Unit.COMPUTED


def test_a_macro_of_duckdb_makes_a_query_more_than_rows_of_a_table(tmp_path):
    file = tmp_path / "e.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(SETUP)
        connection.execute("CREATE MACRO Other(x) AS (SELECT max(i) FROM t)")
    with Session() as session:
        catalog = reader("duckdb").open_database(session, file, {}).catalog
        for sql, unit in {"lower(i)": Unit.USER, "other(i)": Unit.QUERY}.items():
            sql = f"SELECT u, {sql} AS i FROM t"
            assert unit_of_query(sql, "duckdb", "u", catalog)[0] == unit


@pytest.mark.parametrize(
    "relation",
    [
        *("read_csv('{}')", "read_csv_auto('{}')", "READ_JSON('{}')", "read_ndjson_auto('{}')"),
        *("sniff_csv('{}')", "'{}'", '"{}"'),
    ],
)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM {}",
        "WITH x AS (FROM {}) SELECT * FROM x",
        "SELECT u, (SELECT max(i) FROM {}) AS i FROM t",
    ],
)
def test_sql_infers_no_types_from_a_text_file(files, tmp_path, sql, relation):
    """One person's row could change the type of a column, and so the schema of the release."""
    (tmp_path / "e.csv").write_text("u,i\n1,2\n")
    given = sql.format(relation.format(tmp_path / "e.csv"))
    with pytest.raises(SourceError, match="the file itself as the source"):
        unit(files["duckdb"], sql=given)


def test_a_table_may_be_called_like_a_file(files):
    assert unit(files["duckdb"], sql='SELECT u, i FROM "x.csv"') == Unit.USER


@pytest.mark.parametrize("dialect", EVERY)
@pytest.mark.parametrize(
    ("sql", "origin"),
    [
        ("SELECT u, i FROM t", "u"),
        ("SELECT U AS u, i FROM t", "u"),
        ("SELECT i AS u, u AS i FROM t", "i"),
        ("SELECT day AS u, i FROM t", "day"),
        ("WITH x AS (SELECT i AS a, u AS b FROM t) SELECT b AS u, a AS i FROM x", "u"),
        ("SELECT u, i FROM t UNION ALL SELECT u, i FROM s", "u"),
        ("SELECT x.u, x.i FROM (SELECT i AS u, u AS i FROM t) AS x", "i"),
        ("SELECT i AS u, day AS i FROM t UNION ALL SELECT day, i FROM t", None),
        ("SELECT u + 0 AS u, i FROM t", None),
    ],
)
def test_the_column_that_identifies_users_is_followed_to_its_table(dialect, sql, origin, catalogs):
    select = single_select(sql, dialect)
    assert unit_of_query(select, dialect, "u", catalogs(dialect))[1] == origin
