"""The choices of --engine, looked up when they are needed: finding engines takes a while."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    _Choice = click.Choice[str]  # generic in stubs; not so in every version of click
else:
    _Choice = click.Choice


class FileEngine(_Choice):
    """One of the engines that files can be read with."""

    def __init__(self) -> None:
        self.case_sensitive = True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the engines that are installed."""
        from headcount.engines import file_engines

        return tuple(file_engines())
