"""headcount verify: whether a published release was charged to a ledger."""

from pathlib import Path

import click

from headcount.cli.command import Command, examples
from headcount.cli.stderr import say


@click.command(cls=Command, epilog=examples("headcount verify counts.parquet --ledger budget.db"))
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--ledger", "where", required=True, metavar="LEDGER",
              envvar="HEADCOUNT_LEDGER", show_envvar=True,
              help="The ledger: a SQLite file or a postgres:// URL.")  # fmt: skip
def verify(file: Path, where: str) -> None:
    """Check that FILE is unchanged and was charged to a ledger.

    FILE is a .parquet or .json file that headcount wrote.
    """
    from headcount.ledger import Ledger

    ledger = Ledger(where)
    ledger.verify()
    entry = ledger.find(file)
    say(
        f"Unchanged: this is the release of {entry.dataset!r} by {entry.actor!r} at {entry.time} "
        f"(entry {entry.number}). The ledger's hash chain is intact."
    )
