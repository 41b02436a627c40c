"""The choices of --engine, looked up only when needed, as finding engines takes a while."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    _Choice = click.Choice[str]  # generic in the stubs, but not in every version of click
else:
    _Choice = click.Choice


class FileEngine(_Choice):
    """One of the engines that can read files."""

    def __init__(self) -> None:
        self.case_sensitive = True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the installed engines."""
        from headcount.engines import file_engines

        return tuple(file_engines())
