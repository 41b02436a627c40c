"""headcount demo: made-up events, a release, and how close it came."""

import click

from headcount.cli.options import budget_from, budget_options
from headcount.cli.progress import ProgressBar
from headcount.cli.stderr import say
from headcount.cli.stdout import write_stdout

SHOWN = 10


@click.command()
@budget_options
def demo(rho: float | None, epsilon: float | None, delta: float) -> None:
    """Release counts of made-up events and compare them with the truth."""
    from headcount.demo import run_demo
    from headcount.outputs.table import aligned

    if rho is None and epsilon is None:
        rho = 1.0
    with ProgressBar() as progress:
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
    for line in result.release.summary():
        say(line)
    errors = result.relative_errors
    if len(errors):
        click.echo(
            f"\nOf the {len(errors):,} released counts, {(errors <= result.target).mean():.1%} are "
            f"within {result.target:.0%} of the truth.",
            err=True,
        )
    click.echo(
        "The truth can be shown only because the data is made up: with real data it stays private.",
        err=True,
    )
