"""headcount compare: methods side by side on data that you own, as unsafe diagnostics."""

import os
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headcount.cli.command import Command, examples
from headcount.cli.numbers import Float, Whole
from headcount.cli.options import force_option, memory_option, source_options
from headcount.cli.stderr import say
from headcount.cli.stdout import write_stdout
from headcount.cli.talk import Talk, talk_options
from headcount.errors import OutputError, SettingsError
from headcount.privacy.accounting.budget import DEFAULT_DELTA, Budget

if TYPE_CHECKING:
    from headcount.engines.layout import InputFormat

WARNING = (
    "unsafe diagnostics, made from true counts with seeded noise. Anyone who sees the figures "
    "learns about people in the data. Do not publish them, and do not use them to choose a method "
    "or budget for a release of the same data: use a stand-in, such as made-up or public data."
)
DEFAULT_RHOS = (0.1, 0.5, 1.0)
#: With fewer users, nothing can be released, and the figures say nothing about the methods.
FEW_USERS = 10


@click.command(
    cls=Command,
    epilog=examples(
        "headcount compare made_up.parquet -u user_id -i query --i-own-this-data",
        "headcount compare made_up.parquet -u user_id -i query -e 1 -e 3 --i-own-this-data",
    ),
)
@source_options
@click.option(
    "--rho",
    "rhos",
    type=Float(above=0),
    multiple=True,
    help="ρ of each method; repeat it for several [default: 0.1, 0.5 and 1].",
)
@click.option(
    "-e",
    "--epsilon",
    "epsilons",
    type=Float(above=0),
    multiple=True,
    help="ε of each method, instead of ρ; repeat it for several.",
)
@click.option("--delta", type=Float(above=0, below=1),
              default=DEFAULT_DELTA, show_default=True, help="δ of each method.")  # fmt: skip
@click.option(
    "--relative-error",
    type=Float(),
    metavar="R",
    help="Counts within this relative error are called close [default: 0.1].",
)
@click.option(
    "--trials",
    type=Whole(least=1),
    metavar="N",
    default=10,
    show_default=True,
    help="Independent runs of each method.",
)
@click.option(
    "--selection",
    type=click.Choice(["weighted", "gaussian", "sips"]),
    default="weighted",
    show_default=True,
    help="How Plume finds items.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a .csv file instead, in a folder without a release.",
)
@force_option
@memory_option
@click.option(
    "--i-own-this-data",
    is_flag=True,
    help="Confirm that you are allowed to see the true counts of this data. Required.",
)
@talk_options
def compare(
    source: str,
    user: str,
    items: tuple[str, ...],
    table: str | None,
    sql: str | None,
    input_format: "InputFormat | None",
    delimiter: str | None,
    rhos: tuple[float, ...],
    epsilons: tuple[float, ...],
    delta: float,
    relative_error: float | None,
    trials: int,
    selection: str,
    output: Path | None,
    force: bool,
    memory: str,
    i_own_this_data: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Compare methods on SOURCE. What it prints is NOT PRIVATE.

    Runs the methods of a release, Plume with true percentiles and, where no one has more than
    a few items, thresholding. Shows how many counts each would release, and how many are close.
    """
    if not i_own_this_data:
        raise SettingsError(
            "compare shows true figures, with no privacy at all; if you are allowed to see "
            "them, add --i-own-this-data"
        )
    from headcount.evaluation.dataset import read_dataset
    from headcount.evaluation.methods import Target
    from headcount.evaluation.report import to_csv, to_table
    from headcount.evaluation.summary import summarise
    from headcount.evaluation.trials import TrialOutcome, run_trial, standard_methods
    from headcount.outputs import AtomicFile, holds_release
    from headcount.privacy.mechanisms.pcr.settings import Settings

    talk = Talk(quiet=quiet, verbose=verbose)
    budgets = [Budget(rho=rho, delta=delta) for rho in rhos]
    budgets += [Budget(epsilon=epsilon, delta=delta) for epsilon in epsilons]
    budgets = budgets or [Budget(rho=rho, delta=delta) for rho in DEFAULT_RHOS]
    r = Settings().changed(r=relative_error).r
    if output is not None:
        if output.suffix.lower() != ".csv":
            raise OutputError("a comparison can only be written to a .csv file")
        folder = Path(os.path.realpath(output)).parent
        if holds_release(folder):
            raise OutputError(
                f"the folder {str(folder)!r} holds a release, and true figures next to it "
                "would undo its noise; name another folder"
            )
    place = None if output is None else AtomicFile(output, source=source, force=force)
    with place or nullcontext() as file:
        # The table on stdout says NOT PRIVATE itself.
        mark = "These are" if file is None else "NOT PRIVATE:"
        say(f"{mark} {WARNING}")
        with talk.steps() as progress:
            progress("reading the events")
            dataset = read_dataset(
                source,
                user=user,
                item=items,
                table=table,
                sql=sql,
                input_format=input_format,
                delimiter=delimiter,
                memory=memory,
            )
            if dataset.number_of_users < FEW_USERS:
                # Allowed here, where the truth is shown anyway.
                say(
                    f"There is very little data: {dataset.number_of_users:,} users with "
                    f"{dataset.number_of_items:,} items. Rows without a user or an item are not "
                    "counted."
                )
            methods = standard_methods(dataset.max_items_per_user, selection)
            outcomes: list[TrialOutcome] = []
            for budget in budgets:
                for seed in range(trials):
                    for outcome in run_trial(dataset, methods, Target.of(budget, r), seed):
                        outcomes.append(outcome)
                        done = f"{len(outcomes)} of {len(budgets) * trials * len(methods)} runs"
                        progress(f"ρ = {budget.rho:g}, trial {seed + 1} of {trials}: {done} done")
        for budget in budgets if epsilons else ():
            talk.say(f"ε = {budget.epsilon:g} is ρ = {budget.rho:g} here, with δ = {delta:g}.")
        rows = summarise(outcomes)
        rows.sort(key=lambda row: row.rho)
        if file is None:
            asked = {budget.rho: budget.epsilon for budget in budgets} if epsilons else {}
            write_stdout(to_table(rows, asked).encode())
        else:
            file.commit(to_csv(rows).encode())
