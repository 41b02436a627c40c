"""A bar on a terminal, for what takes long, that says what is done and never how far."""

import os
import sys

import pytest

from headcount.cli import progress
from headcount.cli.progress import ProgressBar


class Terminal:
    """A terminal that can be read."""

    def __init__(self):
        self._reader, writer = os.openpty()
        self.stream = os.fdopen(writer, "w")
        self._seen = ""

    def shown(self) -> str:
        """Return what was shown since this was asked last."""
        self.stream.write("<end>")
        self.stream.flush()
        while "<end>" not in self._seen:
            self._seen += os.read(self._reader, 4096).decode(errors="replace")
        seen, _, self._seen = self._seen.partition("<end>")
        return seen


@pytest.fixture
def on_terminal(monkeypatch):
    """Make stderr a terminal from the moment that this is called."""

    def install() -> Terminal:
        terminal = Terminal()
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stderr", terminal.stream)
        return terminal

    return install


def test_a_bar_after_a_while(on_terminal, monkeypatch):
    terminal = on_terminal()
    monkeypatch.setattr(progress, "SECONDS_BEFORE_SHOWN", 0)
    with ProgressBar() as bar:
        bar("counting distinct users per item")
        bar._timer.join()
        bar._bar.refresh()
        bar("choosing and measuring items")
        bar._bar.refresh()
        seen = terminal.shown()
    assert "counting distinct users per item" in seen
    assert "choosing and measuring items" in seen
    assert "%" not in seen
    assert terminal.shown().endswith("\x1b[2K")  # and away it is


def test_none_before_that(on_terminal, monkeypatch):
    terminal = on_terminal()
    monkeypatch.setattr(progress, "SECONDS_BEFORE_SHOWN", 3600)
    with ProgressBar() as bar:
        bar("counting")
    bar._timer.join()
    assert terminal.shown() == ""


def test_none_once_the_run_is_over(on_terminal):
    terminal = on_terminal()
    with ProgressBar() as bar:
        bar("counting")
    bar._show()  # the timer had gone off just before
    assert terminal.shown() == ""
    assert bar._bar is None


def test_none_without_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BEFORE_SHOWN", 0)
    with ProgressBar() as bar:
        bar("counting")
        assert not bar._timer.is_alive()
    assert capsys.readouterr() == ("", "")


def test_markup_in_a_message_is_text(on_terminal, monkeypatch):
    terminal = on_terminal()
    monkeypatch.setattr(progress, "SECONDS_BEFORE_SHOWN", 0)
    with ProgressBar() as bar:
        bar("[red]text[/red]")
        bar._timer.join()
        bar._bar.refresh()
        assert "[red]text[/red]" in terminal.shown()


READING = ["numbering the items", "reading who has what"]
STEPS = {
    "auto": ["collecting user–item pairs", *READING, "finding and counting items"],
    "rationed": ["collecting user–item pairs", *READING, "finding and counting items"],
    "pcr": ["counting distinct users per item", *READING, "choosing and measuring items"],
}


@pytest.mark.parametrize("rho", ["0.001", "1", "1000"])
@pytest.mark.parametrize("method", STEPS)
def test_a_release_says_what_it_does(on_terminal, monkeypatch, parquet, method, rho):
    """The same whatever comes out: a run that then dies has told nothing that was not paid for."""
    on_terminal()
    said = []
    monkeypatch.setattr(ProgressBar, "__call__", lambda self, message: said.append(message))
    args = ["release", str(parquet), "--user", "uid", "--item", "item", "--rho", rho]
    args += ["--method", method]
    monkeypatch.setattr(sys, "argv", ["headcount", *args])
    from headcount.cli import cli

    cli.main(args, standalone_mode=False)
    assert said == ["opening the source", *STEPS[method]]
