"""headcount report: a page about a release, for people."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from headcount.cli.command import Command, examples
from headcount.cli.options import force_option
from headcount.cli.stderr import say
from headcount.errors import OutputError

if TYPE_CHECKING:
    from headcount.ledger import Ledger
    from headcount.pages import Document
    from headcount.results.release import Release

_ENDINGS = (".html", ".htm")


@click.command(
    cls=Command,
    epilog=examples(
        "headcount report counts.parquet",
        "headcount report counts.parquet --ledger budget.db -o for-the-board.html",
    ),
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
              help="The page to write [default: FILE with the ending .html].")  # fmt: skip
@click.option("--title", metavar="TEXT",
              help="The heading of the page [default: made from the columns].")  # fmt: skip
@click.option("--ledger", "where", metavar="LEDGER",
              envvar="HEADCOUNT_LEDGER", show_envvar=True,
              help="The ledger that was charged. The page then names the entry, the time and the "
                   "source; a file that was not charged to this ledger is refused.")  # fmt: skip
@force_option
@click.pass_context
def report(
    context: click.Context,
    file: Path,
    output: Path | None,
    title: str | None,
    where: str | None,
    force: bool,
) -> None:
    """Write a page about the release in FILE, at no cost.

    FILE is a .parquet or .json file that headcount wrote. The page is one .html file that needs no
    network: the promise in plain words, charts, and the whole table.
    """
    from headcount.ledger import Ledger
    from headcount.outputs import AtomicFile
    from headcount.pages import Document, Origin, release_page

    place = page_path(file.with_suffix(".html") if output is None else output, file)
    with AtomicFile(place, source=str(file), ledger=where, force=force) as page:
        document, origin = Document.of_file(file), Origin()
        if _is_meant(context, document) and where is not None:
            ledger = Ledger(where)
            origin = Origin.of_entry(ledger.find(file), ledger)
        page.commit(release_page(document, origin, title=title))
    say(f"Wrote {str(place)!r}.")


def _is_meant(context: click.Context, document: "Document") -> bool:
    """Whether to ask the ledger: one in the environment is not about files that had none."""
    uncharged = document.says_if_charged and document.guarantee.provenance.ledger is None
    from_environment = context.get_parameter_source("where") is ParameterSource.ENVIRONMENT
    return not (uncharged and from_environment)


def page_path(path: Path, other: Path | None = None) -> Path:
    """Return the path of a page; refuse other file endings, and the path of the counts."""
    if path.suffix.lower() not in _ENDINGS:
        raise OutputError(f"the name of a page must end in .html, and {str(path)!r} does not")
    if other is not None and path == other:
        raise OutputError("the page and the counts need different file names")
    return path


def page_of(
    release: "Release", ledger: "Ledger | None", asked: Mapping[str, Any], now: datetime
) -> bytes:
    """Return the page of a release that was just made, or fetched from a ledger."""
    from headcount.pages import Document, Origin, release_page

    charged = None if ledger is None else Origin.of_release(release, ledger)
    return release_page(Document.of_release(release), charged or Origin.of_asked(asked, now))
