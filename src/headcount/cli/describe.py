"""headcount describe: a description of a published release, for others to read."""

from pathlib import Path

import click

from headcount.cli.command import Command, examples
from headcount.cli.options import force_option
from headcount.cli.stderr import say
from headcount.cli.stdout import write_stdout


@click.command(
    cls=Command,
    epilog=examples(
        "headcount describe counts.parquet",
        "headcount describe counts.parquet -f yaml -o counts.yaml",
    ),
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["markdown", "yaml"]),
    default="markdown",
    show_default=True,
    help="A datasheet in Markdown, or an entry for OpenDP's registry of deployments.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write to a file instead of stdout.")  # fmt: skip
@force_option
def describe(file: Path, form: str, output: Path | None, force: bool) -> None:
    """Write a datasheet or registry entry for a release.

    FILE is a .parquet or .json file that headcount wrote. What only a person can fill in is left
    blank.
    """
    from headcount.ledger.published import account_of_file
    from headcount.outputs.datasheet import to_datasheet
    from headcount.outputs.files import AtomicFile
    from headcount.outputs.registry import to_registry_entry

    write = to_registry_entry if form == "yaml" else to_datasheet
    if output is None:
        write_stdout(write(account_of_file(file)))
        return
    with AtomicFile(output, source=str(file), force=force) as place:
        place.commit(write(account_of_file(file)))
    say(f"Wrote {str(output)!r}.")
