"""What is said when a release does not fit: what is short, what is left, and what would fit."""

from fractions import Fraction

from headcount.errors import BudgetRefusedError
from headcount.ledger.amounts import charge_of, was_given_as_rho, what_fits
from headcount.ledger.balance import Books
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost


def ensure_affordable(books: Books, dataset: str, actor: str, budget: Budget) -> None:
    """Do nothing if the budget fits; else refuse it, and say what is left and what would fit."""
    cost = charge_of(budget)
    books.known(dataset)
    if dataset not in books.retired and not cost.fits(books.left(dataset, actor)):
        raise BudgetRefusedError(_sentence(books, dataset, actor, budget, cost))
    books.may_reserve(dataset, actor, cost)


def _sentence(books: Books, dataset: str, actor: str, budget: Budget, cost: Cost) -> str:
    total = books.total(dataset)
    left, left_to_actor = books.left(dataset), books.left(dataset, actor)
    amounts = (("ρ", cost.rho, left_to_actor.rho), ("δ", cost.delta, left_to_actor.delta))
    scarce = " and ".join(name for name, asked, there in amounts if asked > there)
    parts = [
        f"the budget of {dataset!r} does not allow this release: too little {scarce} is left. It "
        f"needs {_asked(budget, total.as_given(cost))}; {shown(total.as_given(left))} are left"
    ]
    reserved = books.balance(books.known(dataset)).reserved
    if reserved.rho or reserved.delta:
        set_aside = shown(total.as_given(reserved))
        parts.append(f", and {set_aside} are reserved by releases that have not ended")
    if left_to_actor != left:
        parts.append(f", and the cap of {actor!r} leaves {shown(total.as_given(left_to_actor))}")
    fits = what_fits(budget, left_to_actor)
    if fits is None:
        parts.append(". Nothing would fit")
    elif was_given_as_rho(budget):
        parts.append(f". This would fit: rho {fits.rho:.12g}, delta {fits.delta:.12g}")
    else:
        parts.append(f". This would fit: epsilon {fits.epsilon:.12g}, delta {fits.delta:.12g}")
    return "".join(parts)


def _asked(budget: Budget, counted: Cost) -> str:
    """Say what was asked for as it was typed, and what it counts as, if that differs."""
    name, amount = ("ρ", budget.rho) if was_given_as_rho(budget) else ("ε", budget.epsilon)
    typed = f"{name} = {short(amount)} and δ = {short(budget.delta)}"
    return typed if typed == shown(counted) else f"{typed}, equivalent to {shown(counted)}"


def shown(cost: Cost) -> str:
    """Write a cost with few digits."""
    return f"ρ = {short(cost.rho)} and δ = {short(cost.delta)}"


def short(value: Fraction | float) -> str:
    """Write a number with few digits."""
    return f"{float(value):.6g}"
