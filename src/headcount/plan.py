"""What a budget can be expected to give, without any data."""

import math
from dataclasses import dataclass
from fractions import Fraction

from headcount.privacy.budget import Budget
from headcount.privacy.rounding import log_above
from headcount.privacy.schedule import SIGMAS_WITHIN_TARGET, delta_star, levels
from headcount.privacy.settings import Charging, Settings

#: The sizes that a plan speaks about: users per item.
SIZES = tuple(digit * 10**power for power in range(1, 7) for digit in (1, 3))


@dataclass(frozen=True)
class Expectation:
    """How many items could be released if each of them had so many users."""

    users: int
    items: int
    std_error: float


def item_cost(users: float, settings: Settings, budget: Budget) -> float:
    """About what an item with so many users costs of ρ.

    It is found at the level whose threshold is its count, ε = ln(k̄/δ*)/users, where a pick
    costs ε²/8 and a count at the target error 1/(2σ²) with σ = (r/1.5)·users.
    """
    log_ratio = log_above(settings.k_bar / delta_star(settings, budget))
    pick = log_ratio**2 / 8
    measure = 1 / (2 * (settings.r / SIGMAS_WITHIN_TARGET) ** 2)
    return (pick + measure) / users**2


def smallest_item(settings: Settings, budget: Budget) -> int:
    """About how many users an item needs to be released at all, if it were the only one."""
    return math.ceil(math.sqrt(item_cost(1, settings, budget) / budget.rho))


def expectations(settings: Settings, budget: Budget) -> list[Expectation]:
    """Return what to expect for items of various sizes, up to where no more can be released."""
    next(levels(settings, budget))  # refuses a δ that is too small
    most = settings.k_bar
    if settings.charging is Charging.PAPER:
        most = min(most, int(budget.delta_selection / delta_star(settings, budget)))
    found = []
    for users in SIZES:
        items = int(Fraction(budget.rho) / Fraction(item_cost(users, settings, budget)))
        if items:
            sigma = settings.r / SIGMAS_WITHIN_TARGET * users
            found.append(Expectation(users, min(items, most), sigma))
        if items >= most:
            break
    return found
