"""The files that the benchmarks run on."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: 19.5 million distinct (post, word) pairs, if the file exists; it is not part of the project.
REDDIT = ROOT.parent / "shared" / "data" / "reddit_post_words.parquet"
#: The mean number of rows per user in generated files.
ROWS_PER_USER = 20


def events(folder: Path, rows: int = 20_000_000) -> tuple[Path, str]:
    """Return a file with the columns user and item, and a description of it."""
    if REDDIT.exists():
        return REDDIT, "reddit_post_words, 19.5 million rows"
    return generated(folder, rows), f"{rows:,} generated rows"


def _run(sql: str) -> None:
    """Run SQL in a separate process: a child's peak memory is at least its parent's."""
    run = "import duckdb, sys; duckdb.sql(sys.argv[1])"
    subprocess.run([sys.executable, "-c", run, sql], check=True)


def generated(folder: Path, rows: int) -> Path:
    """Make a file with long tails: a user for every 20 rows, and up to two million items."""
    path = folder / f"events-{rows}.parquet"
    if not path.exists():
        _run(
            f"""
            COPY (
                SELECT 'user' || (random() * random() * {rows} / {ROWS_PER_USER})::INT AS "user",
                       'item' || exp(random() * 14.5)::INT AS item
                FROM range({rows})
            ) TO '{path}' (FORMAT parquet)
            """
        )
    return path


def shuffled(folder: Path, path: Path) -> Path:
    """Make a file of the same events in random order."""
    made = folder / f"shuffled-{path.name}"
    if not made.exists():
        _run(f"COPY (FROM '{path}' ORDER BY random()) TO '{made}' (FORMAT parquet)")
    return made
