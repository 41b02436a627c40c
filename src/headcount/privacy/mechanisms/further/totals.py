"""How many users there are, and how many have an item that was not released (further.md)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from headcount.privacy.accounting.gaussian import sigma_for
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import Progress, Total
from headcount.privacy.questions import ONE_USER, Everybody

#: The share of ρ that each total gets: at ρ = 1 its standard error is 7 users, and the counts have
#: hardly more noise than without it.
TOTAL_SHARE = Fraction(1, 100)


@dataclass(frozen=True)
class Totals:
    """Which numbers about all users are asked for.

    Attributes:
        total: how many users have any item.
        other: how many have an item that was not released.
    """

    total: bool = False
    other: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of those asked for."""
        return tuple(name for name in ("total", "other") if getattr(self, name))

    @property
    def steps(self) -> tuple[str, ...]:
        """What is done for them, in the field's terms."""
        whom = {"total": "all users", "other": "users with an item that is not listed"}
        return tuple(
            f"discrete Gaussian noise on the number of {whom[name]}" for name in self.names
        )

    def __bool__(self) -> bool:
        """Whether any is asked for."""
        return self.total or self.other

    def release(
        self,
        everybody: Everybody,
        released: Any,  # noqa: ANN401 (as the view has names)
        rho: Fraction,
        gate: Gate,
        progress: Progress,
    ) -> tuple[Total, ...]:
        """Release them, each for its share of ρ.

        Formal guarantee: each is 1/(2σ²)-CDP: one user moves it by 0 or 1, given what was
        released before (further.md).
        """
        made = []
        for name in self.names:
            progress("counting all users" if name == "total" else "counting users of other items")
            sigma = sigma_for(TOTAL_SHARE * rho)

            def ask(name: str = name) -> list[int]:
                all_users = name == "total"
                return [everybody.users() if all_users else everybody.with_other_items(released)]

            (noisy,) = gate.noisy(ask, ONE_USER, sigma, "totals").tolist()
            made.append(Total(name, noisy, sigma))
        return tuple(made)
