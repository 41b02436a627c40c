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
) -> None:
    """Say how many items of which size a budget can release. Reads no data."""
    from headcount.plan import expectations, smallest_item
    from headcount.privacy.rounding import shown_above
    from headcount.privacy.settings import settings_for
    from headcount.writers.table import aligned

    budget = budget_from(rho, epsilon, delta)
    settings = settings_for(method, r=relative_error, k_bar=candidates)
    rows = [
        [f"{e.users:,}", f"{e.items:,}", f"± {e.std_error:,.0f}"]
        for e in expectations(settings, budget)
    ]
    click.echo(
        f"Budget: ρ = {shown_above(budget.rho)}, δ = {shown_above(budget.delta)}, which is "
        f"(ε = {shown_above(budget.epsilon)}, δ = {shown_above(budget.delta)})-differential "
        "privacy.\n"
        f"Target: each count within {100 * settings.r:g} % of the truth, most of the time.\n\n"
        f"{_least(smallest_item(settings, budget))}\n"
        "If all items had the same number of users, the budget would be enough for:\n",
        err=True,
    )
    write_stdout(aligned(["users per item", "items", "std error"], rows, [True] * 3).encode())
    click.echo(
        "\nReal data has a few large items and many small ones: what the large ones cost is "
        "small,\nso expect about as many items as the row of the smallest count that you see "
        "released.",
        err=True,
    )


def _least(users: int | None) -> str:
    if users is None:
        return "This budget is too small to release anything."
    return f"An item needs about {users:,} users to be released at all."
