"""What is said when a release does not fit: what is left, and what would."""

from fractions import Fraction

from headcount.errors import BudgetRefusedError
from headcount.ledger.amounts import charge_of, was_given_as_rho, what_fits
from headcount.ledger.balance import Books
from headcount.privacy.budget import Budget
from headcount.privacy.filter import Cost


def refused(books: Books, dataset: str, actor: str, budget: Budget) -> None:
    """Do nothing if the budget fits; else refuse it with what is left and what would fit."""
    cost = charge_of(budget)
    books.known(dataset)
    if dataset not in books.retired and not cost.fits(books.left(dataset, actor)):
        raise BudgetRefusedError(_sentence(books, dataset, actor, budget, cost))
    books.may_reserve(dataset, actor, cost)


def _sentence(books: Books, dataset: str, actor: str, budget: Budget, cost: Cost) -> str:
    left, left_to_actor = books.left(dataset), books.left(dataset, actor)
    parts = [
        f"the budget of {dataset!r} does not allow this release, which asks for {shown(cost)}: "
        f"it has {shown(left)} left"
    ]
    reserved = books.balance(books.known(dataset)).reserved
    if reserved.rho or reserved.delta:
        parts.append(f", and {shown(reserved)} is reserved by releases that have not ended")
    if left_to_actor != left:
        parts.append(f", and the cap of {actor!r} leaves {shown(left_to_actor)}")
    fits = what_fits(budget, left_to_actor)
    if fits is None:
        parts.append(". Nothing would fit")
    elif was_given_as_rho(budget):
        parts.append(f". This would fit: rho {fits.rho:.12g}, delta {fits.delta:.12g}")
    else:
        parts.append(f". This would fit: epsilon {fits.epsilon:.12g}, delta {fits.delta:.12g}")
    return "".join(parts)


def shown(cost: Cost) -> str:
    """Write a cost with few digits."""
    return f"ρ = {short(cost.rho)} and δ = {short(cost.delta)}"


def short(value: Fraction | float) -> str:
    """Write a number with few digits."""
    return f"{float(value):.6g}"
