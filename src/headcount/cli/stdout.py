"""stdout, which carries data only."""

import shutil
import signal
import sys
from typing import TYPE_CHECKING

import click

from headcount.cli.stderr import has_colours
from headcount.errors import OutputError

if TYPE_CHECKING:
    from headcount.results.release import Release


def stdout_is_terminal() -> bool:
    """Whether stdout is read by people, not by a program."""
    return sys.stdout is not None and sys.stdout.isatty()


def write_release(release: "Release", form: str, limit: int | None) -> None:
    """Write a release to stdout, or the first rows of its table, as suits the reader."""
    from headcount.outputs import render

    terminal = stdout_is_terminal()
    width = shutil.get_terminal_size().columns if terminal else None
    colours = has_colours(sys.stdout)
    write_stdout(
        render(release, form, for_terminal=terminal, limit=limit, colours=colours, width=width)
    )


def write_stdout(content: bytes) -> None:
    """Write all of the content, or say why it cannot be written."""
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise click.exceptions.Exit(128 + signal.SIGPIPE) from None
    except (AttributeError, OSError) as error:  # it is None if it was closed before the start
        why = getattr(error, "strerror", None) or "it is closed"
        raise OutputError(f"cannot write to stdout: {why}") from None
