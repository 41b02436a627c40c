"""The command line: one file per command.

stdout is data, stderr is talk. Exit codes: 0 done, 1 a fault of headcount's own, 2 something
that was asked for cannot be done, 3 refused by the budget of a ledger, 4 the engine or the ledger
failed, 5 a check found something that was changed, and 128 plus its number for a signal:
130 interrupted (Ctrl-C), 143 terminated, 129 hung up, 141 nobody reads the output any more.
"""

import atexit
import contextlib
import gc
import io
import logging
import os
import signal
import sys
import traceback
import warnings
from importlib import import_module
from types import FrameType
from typing import NoReturn

from headcount.starting import importing

with importing():
    import click

    from headcount.cli.command import examples
    from headcount.cli.stderr import say
    from headcount.engines.guard import MORE_MEMORY, is_out_of_memory
    from headcount.errors import EngineError, HeadcountError

UNSAFE_TRACEBACK = "HEADCOUNT_UNSAFE_TRACEBACK"
#: The variable that click looks for when a shell asks how to complete a command.
COMPLETION = "_HEADCOUNT_COMPLETE"


class _Commands(click.Group):
    """The commands, each in the module of its name, which is imported when it is needed."""

    NAMES = ("compare", "demo", "describe", "ledger", "plan", "release", "report", "verify")

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # For a name that does not exist, click suggests one of `commands`.
        for name in [cmd_name] if cmd_name in self.NAMES else self.NAMES:
            if name not in self.commands:
                self.add_command(getattr(import_module(f"headcount.cli.{name}"), name))
        return self.commands.get(cmd_name)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        "headcount demo",
        "headcount plan -e 3 --users 100000 --items-per-user 20 --items 5000",
        "headcount release events.parquet -u user_id -i query -e 3 -o counts.parquet",
    ),
)
@click.version_option(package_name="headcount", prog_name="headcount")
def cli() -> None:
    """Publish how many distinct people have each item, with differential privacy."""


# Each leads to an orderly end, which removes the folder that may hold raw data.
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_received: list[int] = []


def main() -> NoReturn:
    """Run the command line and exit."""
    gc.disable()  # one short run; looking for cycles while modules load takes a tenth of a second
    for number in _ENDING_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup and a shell's & ask for
            signal.signal(number, _end)
    # What libraries log, and errors that nobody can catch, may name hosts, users and values.
    logging.getLogger().addHandler(logging.NullHandler())
    sys.unraisablehook = lambda unraisable: None
    if sys.stderr is None:  # closed before the start; there is nobody to talk to
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character must not cost a release that was paid for.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    _leave(_run())


def _leave(code: int) -> NoReturn:
    """End the process without freeing every object first, which takes a tenth of a second."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # closed, or nobody reads
            stream.flush()
    os._exit(code)


def _run() -> int:
    try:
        from headcount.cautions import PrivacyWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # Talk says it
            return int(cli.main(prog_name="headcount", standalone_mode=False) or 0)
    except BaseException as error:
        # An engine may have turned what the signal raised into something else.
        if _received:
            _say("interrupted")
            return 128 + _received[-1]
        return _exit_code(error)


def _exit_code(error: BaseException) -> int:
    """Say what went wrong and return the exit code for it."""
    match error:
        case click.ClickException():
            shown = io.StringIO()
            error.show(shown)
            for line in shown.getvalue().rstrip("\n").split("\n"):
                say(line)  # it quotes what was given
            return error.exit_code
        case HeadcountError():
            _say(str(error))
            return error.exit_code
        case KeyboardInterrupt() | click.Abort():
            _say("interrupted")
            return 128 + signal.SIGINT
        case SystemExit() if COMPLETION in os.environ:  # it was a shell that asked, not a person
            return int(error.code or 0)
        case SystemExit():  # click's answer when nobody reads its help any more
            return 128 + signal.SIGPIPE
        case _ if is_out_of_memory(error):
            _say(f"there is not enough memory; {MORE_MEMORY}")
            return EngineError.exit_code
        case _:
            # The message or the traceback may quote data, so neither is shown unasked.
            _say(
                f"unexpected error ({type(error).__name__}). Set {UNSAFE_TRACEBACK}=1 to see "
                "more; that may show private data."
            )
            if os.environ.get(UNSAFE_TRACEBACK) == "1":
                traceback.print_exception(error)
            return 1


def _say(message: str) -> None:
    say(f"headcount: {message}")


def _end(number: int, frame: FrameType | None) -> NoReturn:
    _received.append(number)
    raise KeyboardInterrupt
