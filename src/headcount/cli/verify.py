"""headcount verify: whether a published release was charged to a ledger."""

from pathlib import Path

import click


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--ledger", "where", required=True, metavar="LEDGER",
              help="The ledger: a SQLite file or a postgres:// URL.")  # fmt: skip
def verify(file: Path, where: str) -> None:
    """Check that FILE is a release that a ledger was charged for, unchanged.

    FILE is a .parquet or .json file that headcount wrote.
    """
    from headcount.ledger import Ledger

    ledger = Ledger(where)
    ledger.verify()
    entry = ledger.find(file)
    click.echo(
        f"This is the release of {entry.time} from {entry.dataset!r}, by {entry.actor!r} (entry "
        f"{entry.number}). The ledger was charged for it, and is unchanged as far as it can tell.",
        err=True,
    )
