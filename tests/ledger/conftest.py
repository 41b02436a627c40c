"""Ledgers in SQLite and in a real PostgreSQL: the same tests on both."""

import itertools
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
COUNTS = {"bread": 4000, "milk": 1500}
_numbers = itertools.count()


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path) -> str:
    """Return where a new ledger is to be."""
    if request.param == "sqlite":
        return str(tmp_path / "budget.db")
    return schema_of(request.getfixturevalue("postgres_url"))


def schema_of(url: str) -> str:
    """Return the address of an empty schema of a server."""
    import psycopg

    name = f"ledger_{next(_numbers)}"
    with psycopg.connect(url) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    sign = "&" if "?" in url else "?"
    return f"{url}{sign}options={quote(f'-csearch_path={name}')}"


@pytest.fixture
def opened(where) -> Callable[..., hc.Ledger]:
    """Return a ledger with a budget of ρ = 1 for the dataset "shop", once it is called."""

    def make(rho: float = 1.0, delta: float = 1e-5, **options) -> hc.Ledger:
        ledger = hc.Ledger(where, clock=lambda: NOON, **{"actor": "owner", **options})
        ledger.init("shop", budget=hc.Budget(rho=rho, delta=delta))
        return ledger

    return make


def release(ledger: hc.Ledger | str, rho: float = 0.1, dataset: str = "shop") -> hc.Release:
    budget = hc.Budget(rho=rho, delta=1e-6)
    return hc.release_counts(COUNTS, budget=budget, ledger=ledger, dataset=dataset, user="u")


@pytest.fixture
def parquet_of(tmp_path):
    def write(users=3000, name="events.parquet"):
        path = tmp_path / name
        pq.write_table(pa.table({"u": range(users), "q": ["tea"] * users}), path)
        return path

    return write


def ask(ledger, path, **options):
    budget = hc.Budget(rho=0.1, delta=1e-6)
    given = {"user": "u", "item": "q", "budget": budget, "dataset": "shop", **options}
    return hc.release(path, ledger=ledger, **given)


def change(where, statement):
    """Run one statement on the database behind the ledger's back."""
    if where.startswith("postgres"):
        import psycopg

        with psycopg.connect(where) as connection:
            connection.execute(statement)
    else:
        with sqlite3.connect(where) as connection:
            connection.execute(statement)
        connection.close()


def kinds(ledger):
    return [str(entry.kind) for entry in ledger.log()]


def made_of(items, rho=0.1):
    counts = {f"item {n}": 9000 for n in range(items)}
    return hc.release_counts(counts, budget=hc.Budget(rho=rho, delta=1e-6))
