"""How much is said: -q says only cautions and errors, -v says each step and the settings."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from headcount.cli.progress import ProgressBar
from headcount.cli.stderr import say
from headcount.errors import SettingsError

if TYPE_CHECKING:
    from headcount.privacy.accounting.budget import Budget
    from headcount.privacy.mechanisms import Progress
    from headcount.results.release import Release

_Command = TypeVar("_Command", bound=Callable[..., Any])


def talk_options(command: _Command) -> _Command:
    """Add -q and -v, as quiet and verbose."""
    for option in (
        click.option("-v", "--verbose", is_flag=True,
                     help="Print each step, and the settings."),
        click.option("-q", "--quiet", is_flag=True, help="Print only cautions and errors."),
    ):  # fmt: skip
        command = option(command)
    return command


class Talk:
    """What is said to the person who runs a command."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        if quiet and verbose:
            raise SettingsError("--quiet and --verbose cannot be used together")
        self._quiet, self._verbose = quiet, verbose
        self._held_back: list[str] = []
        self._said_before = ""

    def say(self, sentence: str) -> None:
        """Say something; with --quiet, hold it back, to be said only after a failure."""
        if self._quiet:
            self._held_back.append(sentence)
        else:
            say(sentence)

    def ensure_meant(self, budget: "Budget") -> None:
        """Say that a budget promises little, if it does; on a terminal, ask whether to go on."""
        from headcount.results.notices import WAS_IT_MEANT, WEAK_BUDGET, is_weak

        if not is_weak(budget.epsilon, budget.delta):
            return
        self._said_before = str(WEAK_BUDGET)
        say(f"{WEAK_BUDGET} {WAS_IT_MEANT}")
        if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
            # Not with click.confirm, which writes a space to stdout.
            click.echo("Go on? [y/N] ", nl=False, err=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                raise SettingsError("nothing was read or spent")

    def about(self, release: "Release") -> None:
        """Say what there is to know about a release and was not said before."""
        if self._quiet:
            cautions = (notice for notice in release.notices() if notice.severity == "caution")
            lines = [str(notice) for notice in cautions]
        else:
            lines = release.summary()
        for line in lines:
            if line != self._said_before:
                say(line)
        if self._verbose:
            settings = (f"{name} = {value}" for name, value in release.settings.items())
            made = f"headcount {release.guarantee.version}, {release.guarantee.method}"
            say(f"Made by {made}; settings: {', '.join(settings)}.")

    @contextmanager
    def steps(self) -> "Iterator[Progress]":
        """Yield a function that tells of each step; after a failure, say what was held back."""
        shown: AbstractContextManager[Progress] = (
            ProgressBar() if not (self._quiet or self._verbose) else _nothing_shown(self._verbose)
        )
        try:
            with shown as progress:
                yield progress
        except BaseException:
            for sentence in self._held_back:
                say(sentence)
            raise


@contextmanager
def _nothing_shown(spoken: bool) -> "Iterator[Progress]":
    """Yield a function that says each step as a line, or says nothing."""
    yield (lambda step: say(f"{step} …")) if spoken else (lambda step: None)
