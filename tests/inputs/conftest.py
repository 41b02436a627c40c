"""Databases of every engine that SQL is read on."""

import functools

import pytest

from headcount.engines import Session, reader
from tests.engines import servers
from tests.inputs.units import SERVER, databases


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return databases(tmp_path_factory.mktemp("units"))


@pytest.fixture(scope="module")
def server(postgres_url):
    """Return the URL of a server with the tables in its search path."""
    with servers.needs("psycopg").connect(postgres_url, autocommit=True) as connection:
        connection.execute(SERVER)
    options = "options=-csearch_path%3Dunits%20-crole%3Dunits_reader"  # who owns tables sees all
    return f"{postgres_url}{'&' if '?' in postgres_url else '?'}{options}"


@pytest.fixture(scope="module")
def catalogs(tmp_path_factory, request):
    """Return the catalog of a database by its dialect."""
    # Files of their own: DuckDB opens a file only once with each set of settings.
    files = databases(tmp_path_factory.mktemp("catalogs"))
    with Session() as session:

        @functools.cache
        def of(dialect):
            postgres = dialect == "postgres"
            where = request.getfixturevalue("server") if postgres else files[dialect]
            return reader(dialect).open_database(session, where, {}).catalog

        yield of


@pytest.fixture
def source(files, request):
    """Return what is given as a source to reach a database."""
    return lambda dialect: files.get(dialect) or request.getfixturevalue("server")
