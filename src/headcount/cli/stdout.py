"""stdout, which carries data only."""

import os
import signal
import sys

import click

from headcount.errors import OutputError


def write_stdout(content: bytes) -> None:
    """Write all of the content, or say why it cannot be written."""
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _drop_stdout()
        raise click.exceptions.Exit(128 + signal.SIGPIPE) from None
    except (AttributeError, OSError) as error:  # it is None if it was closed before the start
        _drop_stdout()
        why = getattr(error, "strerror", None) or "it is closed"
        raise OutputError(f"cannot write to stdout: {why}") from None


def _drop_stdout() -> None:
    """Forget what could not be written, which Python would try to write again at its end."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
