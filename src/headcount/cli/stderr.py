"""stderr, which carries talk only."""

import os
import shutil
import sys
import textwrap
from contextlib import suppress
from typing import TextIO

import click

from headcount.outputs.escapes import visible

# How sentences begin, and the style of each beginning on a terminal with colours.
_STYLES = {
    "headcount: ": {"fg": "red", "bold": True},
    "Error: ": {"fg": "red", "bold": True},
    "Caution: ": {"fg": "yellow", "bold": True},
    "Guarantee: ": {"bold": True},
}


def has_colours(stream: TextIO | None) -> bool:
    """Whether people read a stream on a terminal that shows colours, and want them (NO_COLOR)."""
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def say(sentence: str) -> None:
    """Say something to the person who runs the command.

    No name in it, of a file, a column or a dataset, can steer a terminal. It is one line, which is
    broken between words on a terminal. If it cannot be written, nothing else fails for that: what
    is talked about may have been paid for.
    """
    with suppress(OSError, ValueError):  # nobody reads it, its disk is full, or it is closed
        click.echo(_styled(visible(sentence)), err=True)


def _styled(text: str) -> str:
    if sys.stderr is not None and sys.stderr.isatty():
        # Words are never broken: a command or a path in a sentence stays what it is.
        text = textwrap.fill(
            text,
            shutil.get_terminal_size().columns,
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
        )
    if has_colours(sys.stderr):
        begins = next((start for start in _STYLES if text.startswith(start)), "")
        text = click.style(begins, **_STYLES.get(begins, {})) + text[len(begins) :]  # type: ignore[arg-type]
    return text
