"""How many rows of a table are shown."""

from typing import Any

import click

from headcount.cli.numbers import Whole
from headcount.cli.stdout import stdout_is_terminal
from headcount.errors import SettingsError

#: What fits on a screen, together with what is said below it.
ROWS_ON_A_TERMINAL = 20


class RowLimit(Whole):
    """A number of rows; 0 or all for every row."""

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """Return the number of rows, 0 for all."""
        return 0 if value == "all" else super().convert(value, param, ctx)


limit_option = click.option(
    "-n",
    "--limit",
    type=RowLimit(least=0),
    metavar="N",
    help=f"How many rows of the table to show, 0 for all [default: {ROWS_ON_A_TERMINAL} on a "
    "terminal, else all].",
)


def rows_shown(limit: int | None, form: str) -> int | None:
    """Return how many rows stdout gets; None for all of them."""
    if limit is not None and form != "table":
        raise SettingsError(
            "--limit only applies to the table on stdout; CSV, JSON and files always have every "
            "row, so that a release stays whole"
        )
    if limit is None:
        limit = ROWS_ON_A_TERMINAL if form == "table" and stdout_is_terminal() else 0
    return limit or None
