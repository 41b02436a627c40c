"""headcount plan: what a budget can be expected to give, without any data."""

import click

from headcount.cli.options import budget_from, budget_options, mechanism_options
from headcount.cli.stdout import write_stdout


@click.command()
@budget_options
@mechanism_options
def plan(
    rho: float | None,
    epsilon: float | None,
    delta: float,
    method: str,
    relative_error: float | None,
    candidates: int | None,
    max_items_per_user: int | None,
) -> None:
    """Say how many items of which size a budget can release. Reads no data."""
    from headcount.outputs.table import aligned
    from headcount.privacy.accounting.rounding import shown_above
    from headcount.privacy.mechanisms import Options, mechanism

    budget = budget_from(rho, epsilon, delta)
    options = Options(relative_error, candidates, max_items_per_user)
    chosen = mechanism(method).of(options, budget)
    plan = chosen.plan()
    click.echo(
        f"Budget: ρ = {shown_above(budget.rho)}, δ = {shown_above(budget.delta)}, which is "
        f"(ε = {shown_above(budget.epsilon)}, δ = {shown_above(budget.delta)})-differential "
        "privacy.\n"
        f"Target: each count within {100 * chosen.r:g} % of the truth, most of the time.\n",
        err=True,
    )
    click.echo(plan.lead, err=True)
    rows = [
        [f"{users:,}", "all" if items is None else f"{items:,}", f"± {std_error:,.0f}"]
        for users, items, std_error in plan.rows
    ]
    columns = ["users per item", "items", "std error"]
    write_stdout(aligned(columns, rows, [True] * 3).encode())
    for remark in plan.remarks:
        click.echo(remark, err=True)
