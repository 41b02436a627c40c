"""Every way a release is written down. All of them read the one `Release`."""

from collections.abc import Callable, Sequence
from os import PathLike, fspath
from pathlib import Path

from headcount.errors import OutputError
from headcount.outputs.csv import to_csv
from headcount.outputs.files import RELEASE_ENDINGS, AtomicFile
from headcount.outputs.json import to_json
from headcount.outputs.parquet import to_parquet
from headcount.outputs.past_releases import holds_release
from headcount.outputs.table import to_table
from headcount.results.release import Release

__all__ = [
    "FORMATS",
    "AtomicFile",
    "agreed_format",
    "format_of",
    "holds_release",
    "render",
    "write",
]

FORMATS: dict[str, Callable[[Release], bytes]] = {
    "table": to_table,
    "csv": to_csv,
    "json": to_json,
    "parquet": to_parquet,
}


def format_of(path: Path, *, others: Sequence[str] = ()) -> str:
    """Return the format that a file's ending asks for.

    Args:
        path: the file.
        others: further endings that the caller knows what to do with.
    """
    ending = path.suffix.lower()
    if ending not in RELEASE_ENDINGS:
        raise OutputError(
            f"cannot tell the format of {str(path)!r} from its ending; "
            f"known endings: {', '.join([*RELEASE_ENDINGS, *others])}"
        )
    return RELEASE_ENDINGS[ending]


def agreed_format(form: str | None, output: Path | None) -> str:
    """Return the format that was asked for, by name or by a file's ending, if they agree."""
    if output is None:
        return form or "table"
    by_ending = format_of(output)
    if form not in (None, by_ending):
        raise OutputError(
            f"--format says {form}, and the ending of {str(output)!r} says {by_ending}; leave "
            "--format out, or name another file"
        )
    return by_ending


def render(
    release: Release,
    form: str,
    *,
    for_terminal: bool = False,
    limit: int | None = None,
    colours: bool = False,
    width: int | None = None,
) -> bytes:
    """Return a release in one of the formats; if it is for a terminal, nothing in it steers it.

    Args:
        release: the release.
        form: one of `FORMATS`.
        for_terminal: whether people read it on a terminal.
        limit: how many rows of a table to show; all if not given.
        colours: whether the terminal has them.
        width: how many columns the terminal has, if a table is to fit into them.
    """
    if form == "table":
        return to_table(release, limit, colours=colours, width=width)
    if for_terminal and form == "csv":
        return to_csv(release, for_terminal=True)
    return FORMATS[form](release)


def write(release: Release, path: str | PathLike[str], *, force: bool = False) -> None:
    """Write a release to a file whose ending sets the format, whole or not at all.

    Pages are written elsewhere, but a caller who gets here may ask for one.
    """
    place = Path(fspath(path))
    form = format_of(place, others=[".html"])
    with AtomicFile(place, force=force) as file:
        file.commit(render(release, form))
