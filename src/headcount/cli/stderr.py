"""stderr, which is talk."""

import click

from headcount.outputs.escapes import visible


def say(sentence: str) -> None:
    """Say something to whoever runs the command.

    It is one line, and no name in it, of a file or a column or a dataset, steers a terminal.
    """
    click.echo(visible(sentence), err=True)
