"""headcount demo: made-up events, a release, and how close it came."""

import click

from headcount.cli.command import Command, examples
from headcount.cli.options import budget_from, budget_options
from headcount.cli.stdout import write_stdout
from headcount.cli.talk import Talk, talk_options

SHOWN = 10


@click.command(cls=Command, epilog=examples("headcount demo", "headcount demo -e 1"))
@budget_options
@talk_options
def demo(
    rho: float | None, epsilon: float | None, delta: float, quiet: bool, verbose: bool
) -> None:
    """Release counts of made-up events, next to the true counts."""
    from headcount.demo import run_demo
    from headcount.outputs.table import aligned

    talk = Talk(quiet=quiet, verbose=verbose)
    if rho is None and epsilon is None:
        rho = 1.0
    with talk.steps() as progress:
        result = run_demo(budget_from(rho, epsilon, delta), progress)
    header = ["film", "count", "95 % interval", "true count", "error"]
    rows = [
        [
            row["film"],
            f"{row['count']:,}",
            f"{row['lower']:,.0f} to {row['upper']:,.0f}",
            f"{truth:,}",
            f"{row['count'] / truth - 1:+.1%}",
        ]
        for row, truth in zip(
            result.release.table.slice(0, SHOWN).to_pylist(), result.true_counts, strict=False
        )
    ]
    write_stdout(aligned(header, rows, [False, True, True, True, True]).encode())
    talk.about(result.release)
    errors = result.relative_errors
    if len(errors):
        talk.say(
            f"Of the {len(errors):,} released counts, {(errors <= result.target).mean():.1%} are "
            f"within {result.target:.0%} of the truth."
        )
    talk.say(
        "The truth can be shown only because the data is made up: with real data it stays private."
    )
