"""An engine as another package would bring it: a URL scheme, a file engine and a kind of object.

It is no part of headcount, and nothing in headcount knows of it.
"""

import ibis
import pyarrow.csv
import pyarrow.parquet as pq

from headcount.engines import Engine, Opened, Reader
from headcount.engines.files import of_form
from headcount.engines.guard import opening
from headcount.errors import SourceError

#: The tables of the one shop there is, by name.
TABLES = {}


class Basket:
    """A kind of table in memory."""

    def __init__(self, rows):
        self.rows = rows


class ShopEngine(Engine):
    """Counts in a DuckDB of its own, with what every Ibis backend can do."""


def opened(session, rows):
    backend = ibis.duckdb.connect()
    session.at_end(backend.disconnect)
    backend.con.register("goods", rows)
    return Opened(backend.table("goods"), ShopEngine(backend, session))


class Shop:
    def __init__(self, session):
        self._session = session

    def table(self, name):
        if name not in TABLES:
            raise SourceError(f"the shop has no table {name!r}")
        found = opened(self._session, TABLES[name])
        self.engine = found.engine
        return found.table, True


class ShopReader(Reader):
    name = "shop"
    title = "The shop"
    url_schemes = ("shop",)
    file_forms = ("csv", "parquet")
    objects = ("tests.Basket",)

    def open_database(self, session, where, settings):
        return Shop(session)

    def read_files(self, session, name, columns, settings):
        form, paths = of_form(name, self)
        read = pyarrow.csv.read_csv if form == "csv" else pq.read_table
        return opened(session, opening(lambda: read(paths[0]), "the shop cannot read the file"))

    def read_object(self, session, source, columns):
        return opened(session, source.rows)


reader = ShopReader()
