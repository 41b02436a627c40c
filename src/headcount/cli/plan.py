"""headcount plan: what a budget can be expected to give, without any data."""

import click

from headcount.cli.options import budget_from, budget_options, mechanism_options
from headcount.cli.stdout import write_stdout
from headcount.errors import SettingsError


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
    from headcount.methods import Method
    from headcount.outputs.table import aligned
    from headcount.plan import expectations, smallest_item
    from headcount.privacy.accounting.rounding import shown_above

    budget = budget_from(rho, epsilon, delta)
    how = Method.of(method, budget, relative_error, candidates, max_items_per_user)
    if method == "rationed":
        raise SettingsError(
            "what a rationed release gives depends on how many items each user has, which is "
            "private: there is no plan for it without data; plan for auto or pcr"
        )
    settings, columns = how.settings, ["users per item", "items", "std error"]
    click.echo(
        f"Budget: ρ = {shown_above(budget.rho)}, δ = {shown_above(budget.delta)}, which is "
        f"(ε = {shown_above(budget.epsilon)}, δ = {shown_above(budget.delta)})-differential "
        "privacy.\n"
        f"Target: each count within {100 * settings.r:g} % of the truth, most of the time.\n",
        err=True,
    )
    if how.thresholding is not None:
        click.echo("Items with more users than this come out, however many they are:\n", err=True)
        users, sigma = how.thresholding.threshold, how.thresholding.sigma
        row = [f"{users:,}", "all", f"± {sigma:,.0f}"]
        write_stdout(aligned(columns, [row], [True] * 3).encode())
        return
    rows = [
        [f"{e.users:,}", f"{e.items:,}", f"± {e.std_error:,.0f}"]
        for e in expectations(settings, budget)
    ]
    least = smallest_item(settings, budget)
    if least is None:
        click.echo("This budget is too small to release anything.", err=True)
    else:
        click.echo(
            f"By Private Count Release an item needs about {least:,} users to be released.\n"
            "If all items had the same number of users, the budget would be enough for about:\n",
            err=True,
        )
    write_stdout(aligned(columns, rows, [True] * 3).encode())
    if least is not None:
        click.echo(
            "\nReal data has a few large items and many small ones. What the large ones cost is "
            "small, so\nexpect about as many items as the row of the smallest count that you "
            "hope to see.",
            err=True,
        )
    if method == "auto" and candidates is None:
        click.echo(
            "Where there are thousands of users, auto chooses a rationed release instead. It also "
            "finds items\nwith fewer users, and often several times as many of them; how many "
            "depends on the data.",
            err=True,
        )
