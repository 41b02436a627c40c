"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from click.shell_completion import CompletionItem

from headcount.cli.numbers import Float, Whole
from headcount.engines.layout import InputFormat
from headcount.engines.session import DEFAULT_MEMORY
from headcount.errors import SourceError
from headcount.inputs.unit import PROTECTED_PERIODS
from headcount.privacy.accounting.budget import DEFAULT_DELTA, Budget
from headcount.privacy.mechanisms import DEFAULT, names

_Command = TypeVar("_Command", bound=Callable[..., Any])


def budget_options(command: _Command) -> _Command:
    """Add --rho, --epsilon and --delta."""
    for option in (
        click.option("--delta", type=Float(), default=DEFAULT_DELTA, show_default=True,
                     help="δ of the whole release."),
        click.option("-e", "--epsilon", type=Float(),
                     help="ε of the whole release, as in (ε, δ)-DP."),
        click.option("--rho", type=Float(), help="ρ of the whole release, as in zCDP."),
    ):  # fmt: skip
        command = option(command)
    return command


def layout_options(source: str) -> Callable[[_Command], _Command]:
    """Return a decorator that adds --input-format and --delimiter, for an argument or option."""
    options = (
        click.option("--delimiter", metavar="CHARACTER",
                     help="The character between the fields of a CSV file, such as ';', or the "
                          "word tab [default: a comma; a tab in TSV]."),
        click.option("--input-format", type=click.Choice(get_args(InputFormat)),
                     help=f"The format of {source}; needed for stdin and unknown file endings."),
    )  # fmt: skip

    def add(command: _Command) -> _Command:
        for option in options:
            command = option(command)
        return command

    return add


def source_options(command: _Command, *, item_required: bool = True) -> _Command:
    """Add SOURCE, --user, --item (as items), --table, --sql, --input-format and --delimiter."""
    for option in (
        layout_options("SOURCE"),
        click.option("--sql", metavar="SELECT",
                     help="A SELECT instead of a table; it refers to files as the table events."),
        click.option("-t", "--table", metavar="NAME", help="A table of a database or catalog."),
        click.option("-i", "--item", "items", required=item_required, multiple=True,
                     metavar="COLUMN",
                     help="The column whose values are counted; repeat it for several."),
        click.option("-u", "--user", required=True, metavar="COLUMN",
                     help="The column that identifies the user."),
        click.argument("source", metavar="SOURCE", nargs=-1, required=True, callback=_one_source,
                       shell_complete=_file_names),
    ):  # fmt: skip
        command = option(command)
    return command


def _file_names(
    context: click.Context, argument: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def _one_source(context: click.Context, argument: click.Parameter, given: tuple[str, ...]) -> str:
    if len(given) > 1:
        raise SourceError("give one SOURCE; put a glob in quotes, or the shell will expand it")
    return given[0]


def period_options(command: _Command) -> _Command:
    """Add --by, --timezone, --between and --protect."""
    for option in (
        click.option("--protect", type=click.Choice(list(PROTECTED_PERIODS)), default="user",
                     show_default=True,
                     help="What is protected: all rows of a user, or only those within one period, "
                          "which promises less to each person."),
        click.option("--between", nargs=2, metavar="FIRST LAST",
                     help="Count only rows of the days from FIRST to LAST, such as 2026-01-31. "
                          "This makes the periods public: with --items-from, or without --item, "
                          "exactly these periods are released."),
        click.option("--timezone", metavar="NAME",
                     help="The time zone that decides which day a timestamp with a zone falls "
                          "on, by its IANA name [default: UTC]."),
        click.option("--by", nargs=2, metavar="PERIOD COLUMN",
                     help="Count within each day, week (from Monday), month or year, by a "
                          "column of dates or timestamps. Without --item, count all users of "
                          "each period."),
    ):  # fmt: skip
        command = option(command)
    return command


def mechanism_options(command: _Command) -> _Command:
    """Add --method, --relative-error, --candidates and --max-items-per-user."""
    for option in (
        click.option("--max-items-per-user", type=Whole(), metavar="M",
                     help="Count at most M items of each user, with the method threshold or "
                          "--items-from."),
        click.option("--candidates", type=Whole(), metavar="K",
                     help="k̄, how many of the most frequent items are considered [default: "
                          "chosen automatically]."),
        click.option("--relative-error", type=Float(), metavar="R",
                     help="The relative error to aim at for each count [default: 0.1]."),
        click.option("--method", type=click.Choice(names()), default=DEFAULT, show_default=True,
                     help="auto chooses between pcr and rationed; pcr-paper uses the paper's "
                          "settings, pcr-noise-reduction also measures in steps; threshold needs "
                          "--max-items-per-user."),
    ):  # fmt: skip
        command = option(command)
    return command


def row_options(command: _Command) -> _Command:
    """Add the options for which rows are read (--where), counted and shown."""
    for option in (
        click.option("--top", type=Whole(), metavar="N",
                     help="Keep the N highest released counts. It does not change the cost."),
        click.option("--min-users", type=Whole(), metavar="N",
                     help="Leave out released counts below N. It does not change the cost."),
        click.option("--per", multiple=True, metavar="COLUMN",
                     help="Release the items within each value of this column; repeat it for "
                          "several. --top then applies to each value."),
        click.option("--items-from", metavar="FILE",
                     help="A public list of items, .csv or .parquet: exactly these are "
                          "released, including items with no users."),
        click.option("--where", metavar="CONDITION",
                     help="Count only rows for which this is true, such as \"country = 'DE'\"."),
    ):  # fmt: skip
        command = option(command)
    return command


def further_options(command: _Command) -> _Command:
    """Add the options for what is asked besides counts: --total, --other, rows, sums, means."""
    for option in (
        click.option("--max-rows-per-user-item", type=Whole(), metavar="M",
                     help="In --count rows, --sum and --mean, count at most M rows of each user "
                          "for each item, if you know such a bound."),
        click.option("--bounds", multiple=True, nargs=3, type=(str, Float(), Float()),
                     metavar="COLUMN LO HI",
                     help="Clip the values of a --sum or --mean column to between LO and HI, if "
                          "you know such bounds; repeat it for several columns."),
        click.option("--mean", multiple=True, metavar="COLUMN",
                     help="Also release the mean of this column for each item; repeat it for "
                          "several."),
        click.option("--sum", multiple=True, metavar="COLUMN",
                     help="Also release the sum of this column for each item; repeat it for "
                          "several."),
        click.option("--count", type=click.Choice(["rows"]),
                     help="Also release how many rows each item has."),
        click.option("--other", is_flag=True,
                     help="Also release how many users have an item that is not listed."),
        click.option("--total", is_flag=True,
                     help="Also release how many users there are in all."),
    ):  # fmt: skip
        command = option(command)
    return command


def ledger_options(command: _Command) -> _Command:
    """Add --ledger, --dataset, --data-version, --actor and --again."""
    for option in (
        click.option("--again", is_flag=True,
                     help="Count and pay again, even if the question has been answered before."),
        click.option("--data-version", metavar="NAME",
                     help="Your name for the state of the data, such as a date. Asking the same "
                          "question about the same version again costs nothing."),
        click.option("--actor", metavar="NAME", envvar="HEADCOUNT_ACTOR", show_envvar=True,
                     help="Who is acting [default: the operating system's user name]."),
        click.option("--dataset", metavar="NAME", envvar="HEADCOUNT_DATASET", show_envvar=True,
                     help="The dataset in the ledger to charge."),
        click.option("--ledger", metavar="LEDGER", envvar="HEADCOUNT_LEDGER", show_envvar=True,
                     help="The ledger to charge: a SQLite file or a postgres:// URL."),
    ):  # fmt: skip
        command = option(command)
    return command


format_option = click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    help="The format of what goes to stdout [default: table].",
)
output_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write to a file instead: .csv, .json or .parquet.",
)
memory_option = click.option(
    "--memory",
    default=DEFAULT_MEMORY,
    show_default=True,
    metavar="SIZE",
    envvar="HEADCOUNT_MEMORY",
    show_envvar=True,
    help="The memory that the engine may use before it spills to disk.",
)
force_option = click.option(
    "--force",
    is_flag=True,
    help="Overwrite existing files, except a source or a database.",
)


def budget_from(rho: float | None, epsilon: float | None, delta: float) -> Budget:
    """Return the budget that the options ask for."""
    return Budget(rho=rho, epsilon=epsilon, delta=delta)
