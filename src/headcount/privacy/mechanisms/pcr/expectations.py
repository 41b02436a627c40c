"""What a budget can be expected to give, without any data."""

from collections.abc import Iterator
from dataclasses import dataclass

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.mechanisms.pcr.schedule import Level, levels
from headcount.privacy.mechanisms.pcr.settings import Settings

#: The sizes that a plan speaks about: users per item.
SIZES = tuple(digit * 10**power for power in range(1, 7) for digit in (1, 3))


@dataclass(frozen=True)
class Expectation:
    """How many items could be released if each of them had so many users."""

    users: int
    items: int
    std_error: float


def _levels_without_a_find(settings: Settings, budget: Budget) -> Iterator[tuple[Level, int]]:
    """Yield each level that a run gets to if all before gave ⊥, and the picks it can afford."""
    left = Cost(budget.rho_for_filter, budget.delta_selection)
    for plain in levels(settings, budget):
        level = plain.with_noise(settings.noise)
        picks = level.most_picks(left)
        if picks == 0:
            return
        yield level, picks
        bottom = level.cost(picks=1, items=0)
        left = Cost(left.rho - bottom.rho, left.delta - bottom.delta)


def expect(users: int, settings: Settings, budget: Budget) -> Expectation | None:
    """Walk the levels as a run on items of one size would.

    They are found at the level whose threshold T comes down to their count, where ε is about
    ln(k̄/δ*)/users and σ about m·(r/1.5)·users, m being the settings' ``noise``: each costs
    (ln(k̄/δ*)²/8 + 1/(2(m·r/1.5)²))/users² of ρ. The levels before gave ⊥, which cost a pick each.
    Estimated from all of them, a count is off by about (r/1.5)·users whatever m is.
    """
    for level, picks in _levels_without_a_find(settings, budget):
        if level.threshold <= users:
            return Expectation(users, min(picks, settings.k_bar), level.sigma / settings.noise)
    return None


def smallest_item(settings: Settings, budget: Budget) -> int | None:
    """About how many users an item needs to be released at all, if it were the only one."""
    walk = _levels_without_a_find(settings, budget)
    return min((round(level.threshold) for level, _ in walk), default=None)


def expectations(settings: Settings, budget: Budget) -> list[Expectation]:
    """Return what to expect for items of various sizes, up to where no more can be released."""
    found: list[Expectation] = []
    for users in SIZES:
        expected = expect(users, settings, budget)
        if expected is not None:
            found.append(expected)
            if len(found) > 1 and found[-2].items == expected.items:
                return found[:-1]
    return found
