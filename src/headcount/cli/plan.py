"""headcount plan: a forecast of what a budget will give."""

from typing import TYPE_CHECKING

import click

from headcount.cli.command import Command, examples
from headcount.cli.numbers import Float, Whole
from headcount.cli.options import (
    budget_from,
    budget_options,
    layout_options,
    mechanism_options,
)
from headcount.cli.stderr import say
from headcount.cli.stdout import write_stdout
from headcount.cli.talk import Talk, talk_options

if TYPE_CHECKING:
    from headcount.engines.layout import InputFormat
    from headcount.question import Method

NO_GUESS = (
    "What comes out depends on the data. These are forecasts for made-up data of three shapes; for "
    "yours, guess its shape (--users, --items-per-user and --items) or name data like it that is "
    "not secret (--like). No data was read, nothing was charged and nothing was released."
)


@click.command(
    "plan",
    cls=Command,
    epilog=examples(
        "headcount plan -e 3",
        "headcount plan -e 3 --users 100000 --items-per-user 20 --items 5000",
        "headcount plan -e 3 --like last_year.parquet -u user_id -i query",
    ),
)
@budget_options
@click.option("--users", type=Whole(), metavar="N", help="A guess: how many users there are.")
@click.option("--items-per-user", type=Float(), metavar="MEAN",
              help="A guess: how many different items a user has on average.")  # fmt: skip
@click.option("--items", type=Whole(), metavar="N",
              help="A guess: how many different items there are.")  # fmt: skip
@click.option("--like", metavar="SOURCE",
              help="Instead of a guess: data like yours that is NOT secret.")  # fmt: skip
@click.option(
    "-u", "--user", metavar="COLUMN", help="The column of --like that identifies the user."
)
@click.option("-i", "--item", multiple=True, metavar="COLUMN",
              help="The column of --like whose values are counted; repeat it for "
                   "several.")  # fmt: skip
@click.option("-t", "--table", metavar="NAME", help="The table, if --like is a database.")
@click.option("--sql", metavar="SELECT", help="One SELECT on --like, instead of a table.")
@layout_options("--like")
@mechanism_options
@talk_options
def plan(
    rho: float | None,
    epsilon: float | None,
    delta: float,
    users: int | None,
    items_per_user: float | None,
    items: int | None,
    like: str | None,
    user: str | None,
    item: tuple[str, ...],
    table: str | None,
    sql: str | None,
    input_format: "InputFormat | None",
    delimiter: str | None,
    method: "Method",
    relative_error: float | None,
    candidates: int | None,
    max_items_per_user: int | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Forecast what a budget will give.

    The forecast comes from a guess of what the data is like. It reads no data except what --like
    names, and charges nothing. Without a guess it shows forecasts for a few typical shapes of data.
    """
    from headcount.planning import compared, plan, typical_forecasts
    from headcount.privacy.accounting.rounding import shown_above
    from headcount.privacy.mechanisms import Options, mechanism
    from headcount.results.notices import WEAK_BUDGET, is_weak

    talk = Talk(quiet=quiet, verbose=verbose)
    budget = budget_from(rho, epsilon, delta)
    if is_weak(budget.epsilon, budget.delta):
        say(str(WEAK_BUDGET))
    options = Options(relative_error, candidates, max_items_per_user)
    chosen = mechanism(method).of(options, budget)
    columns = item or None
    basis = (users, items_per_user, items, like, user, columns, table, sql, input_format, delimiter)
    with talk.steps() as progress:
        if all(part is None for part in basis):
            forecasts = typical_forecasts(budget, method, options, progress)
            origin, figures, remarks = NO_GUESS, compared(forecasts), []
        else:
            forecast = plan(
                budget=budget,
                users=users,
                items_per_user=items_per_user,
                items=items,
                like=like,
                user=user,
                item=columns,
                table=table,
                sql=sql,
                input_format=input_format,
                delimiter=delimiter,
                method=method,
                relative_error=relative_error,
                candidates=candidates,
                max_items_per_user=max_items_per_user,
                progress=progress,
            )
            origin, figures, remarks = forecast.origin(), forecast.table, forecast.summary()
    talk.say(
        f"Budget: ρ = {shown_above(budget.rho)}, δ = {shown_above(budget.delta)}, which is "
        f"(ε = {shown_above(budget.epsilon)}, δ = {shown_above(budget.delta)})-differential "
        "privacy."
    )
    talk.say(origin)
    write_stdout(figures.encode())
    for line in (*chosen.known_in_advance(), *remarks):
        talk.say(line)
