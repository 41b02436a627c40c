"""PostgreSQL from the command line: what it reads, refuses and never says."""

import traceback

import ibis
import pytest

import headcount as hc
from headcount.inputs.unit import Unit
from headcount.results.notices import ABOUT_UNITS
from tests.conftest import RHO
from tests.engines.servers import copied_to_postgres, needs

BUDGET = hc.Budget(rho=20.0)
OPTIONS = ["--user", "uid", "--item", "item", "--rho", RHO]
SEEDED = [*OPTIONS, "--unsafe-seed", "4", "--format", "csv"]
PASSWORD = "hunter2-4f1c"


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
        view = f"{ABOUT_UNITS[Unit.VIEW]}\n" if option[1] == "seen" else ""
        about_rows = [line for line in ours.err.splitlines() if line.startswith("Rows counted:")]
        assert len(about_rows) == (option[0] == "--sql")
        said = "".join(line for line in ours.err.splitlines(True) if line[:-1] not in about_rows)
        assert (ours.code, ours.out, said) == (0, duckdb.out, duckdb.err + view)


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
        (("--sql", "SELECT uid, ARRAY[item] AS item FROM plain"), "holds lists"),
        (("--sql", "SELECT uid, int4(item) AS item FROM plain"), "SQLSTATE 22P02"),
        (
            ("--sql", "SELECT uid AS whom, item FROM plain"),
            "no column 'uid'; the columns are: 'whom'",
        ),
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


@pytest.mark.parametrize("name", ["div", "convert_to", "count"])
def test_a_function_by_the_name_of_one_of_postgresql_is_refused(tables, name):
    """PostgreSQL would call the one whose types fit best, in what headcount asks too."""
    import psycopg

    kinds = {"div": "bigint, bigint", "convert_to": "text, text", "count": "integer"}[name]
    with psycopg.connect(tables, autocommit=True) as connection:
        connection.execute(
            f"CREATE FUNCTION public.{name}({kinds}) RETURNS bigint LANGUAGE sql AS 'SELECT 1'"
        )
        try:
            with pytest.raises(hc.SourceError, match="with the name of one of PostgreSQL's own"):
                hc.release(tables, table="plain", user="uid", item="item", budget=BUDGET)
            events = ibis.connect(tables.replace("postgres://", "postgresql://", 1)).table("plain")
            with pytest.raises(hc.SourceError, match="with the name of one of PostgreSQL's own"):
                hc.release(events, user="uid", item="item", budget=BUDGET)
        finally:
            connection.execute(f"DROP FUNCTION public.{name}({kinds})")


@pytest.fixture
def meddling(tables):
    """Return a server with functions that change something when a row is read."""
    import psycopg

    with psycopg.connect(tables, autocommit=True) as connection:
        connection.execute("CREATE TABLE seen_by (who text)")
        connection.execute("CREATE SEQUENCE calls")
        connection.execute(
            "CREATE FUNCTION told(who text) RETURNS text LANGUAGE sql VOLATILE AS "
            "$$ INSERT INTO seen_by VALUES (who) RETURNING who $$"
        )
        yield tables, connection
        connection.execute("DROP FUNCTION told; DROP TABLE seen_by; DROP SEQUENCE calls")


@pytest.mark.parametrize("method", ["pcr", "auto", "rationed"])
@pytest.mark.parametrize(
    "item",
    [
        "told(item)",
        "nextval('calls')",
        "set_config('transaction_read_only', 'off', true) || told(item)",
    ],
)
def test_sql_changes_nothing_on_the_server(meddling, item, method):
    url, connection = meddling
    sql = f"SELECT uid, {item} AS item FROM plain"
    with pytest.raises(hc.HeadcountError) as caught:
        hc.release(url, sql=sql, user="uid", item="item", budget=BUDGET, method=method)
    assert "bread" not in str(caught.value)
    if not item.startswith("set"):
        assert "the connection only reads: SQL cannot change anything" in str(caught.value)
    assert connection.execute("SELECT count(*) FROM seen_by").fetchone() == (0,)
    assert connection.execute("SELECT is_called FROM calls").fetchone() == (False,)


@pytest.mark.parametrize("method", ["pcr", "auto", "rationed", "threshold"])
def test_sql_is_still_read_in_several_passes(tables, method):
    ask = {"user": "uid", "item": "item", "budget": BUDGET, "unsafe_seed": 3, "method": method}
    ask |= {"max_items_per_user": 3} if method == "threshold" else {}
    of_table = hc.release(tables, table="plain", **ask)
    of_sql = hc.release(tables, sql="SELECT uid, item FROM plain", **ask)
    assert of_sql.table.to_pylist() == of_table.table.to_pylist()
