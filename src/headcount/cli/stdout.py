"""stdout, which carries data only."""

import signal
import sys

import click

from headcount.errors import OutputError


def stdout_is_terminal() -> bool:
    """Whether people read stdout, and no program."""
    return sys.stdout is not None and sys.stdout.isatty()


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
