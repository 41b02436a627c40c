"""The command line: one file per command.

stdout is data, stderr is talk. Exit codes: 0 done, 1 a fault of headcount's own, 2 something
that was asked for cannot be done, 4 the engine failed, 130 interrupted, 143 terminated.
"""

import os
import signal
import sys
import traceback
from types import FrameType
from typing import NoReturn

import click

from headcount.cli.demo import demo
from headcount.cli.plan import plan
from headcount.cli.release import release
from headcount.errors import HeadcountError

UNSAFE_TRACEBACK = "HEADCOUNT_UNSAFE_TRACEBACK"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="headcount", prog_name="headcount")
def cli() -> None:
    """Publish how many distinct people have each item, with differential privacy."""


cli.add_command(release)
cli.add_command(plan)
cli.add_command(demo)


def main() -> NoReturn:
    """Run the command line and exit."""
    signal.signal(signal.SIGTERM, _terminated)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not cost a release that was paid for.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(_run())


def _run() -> int:
    try:
        cli.main(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except HeadcountError as error:
        click.echo(f"headcount: {error}", err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("headcount: interrupted; nothing was written", err=True)
        return 130
    except BrokenPipeError:
        # Whoever read stdout has gone. Python would complain once more when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        # The message or the traceback may quote data, so neither is shown unasked.
        click.echo(
            f"headcount: an unexpected {type(error).__name__}; nothing was written. Set "
            f"{UNSAFE_TRACEBACK}=1 to see more, which may show private data.",
            err=True,
        )
        if os.environ.get(UNSAFE_TRACEBACK) == "1":
            traceback.print_exc()
        return 1
    return 0


def _terminated(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)  # so that open files and folders are cleaned up
