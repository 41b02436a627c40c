"""What may be told to the world about a release."""

from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from headcount.errors import NotPrivateError
from headcount.inputs.unit import Unit
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.rounding import shown_above
from headcount.results.canonical import FORMAT


@dataclass(frozen=True)
class Guarantee:
    """What may be told to the world about a release: nothing in it depends on unreleased data.

    The release is ``delta``-approximate ``rho``-CDP and (``epsilon``, ``delta``)-DP.
    ``private`` is False for a run with a seed, about which nothing of this is true.

    Attributes:
        unit: whose privacy is protected.
        rho: ρ of the whole release.
        delta: δ of the whole release.
        epsilon: ε of the whole release.
        private: whether all this is true.
        method: how the release was made.
        spent: what of the budget was used: {"rho", "delta"}, rounded up.
        settings: the mechanism's parameters.
        version: of headcount.
    """

    unit: str
    rho: float
    delta: float
    epsilon: float
    private: bool
    method: str
    spent: dict[str, float] = field(default_factory=dict)
    settings: dict[str, object] = field(default_factory=dict)
    version: str = field(default_factory=lambda: version("headcount"))

    @classmethod
    def of(
        cls, budget: Budget, *, method: str, private: bool, unit: Unit = Unit.USER
    ) -> "Guarantee":
        """State what a budget promises."""
        return cls(
            unit=unit.value,
            rho=budget.rho,
            delta=budget.delta,
            epsilon=budget.epsilon,
            private=private,
            method=method,
        )

    def require_private(self) -> None:
        """Refuse a release made with a seed."""
        if not self.private:
            raise NotPrivateError("this release was made with a seed and is not private")

    def to_dict(self) -> dict[str, Any]:
        """Return the account that is published: the guarantee, what was spent, and the settings."""
        promise = {
            "rho": self.rho,
            "delta": self.delta,
            "epsilon": self.epsilon,
            "unit": self.unit,
            "private": self.private,
            "method": self.method,
            "version": self.version,
        }
        return {
            "format": FORMAT,
            "guarantee": promise,
            "spent": self.spent,
            "settings": self.settings,
        }

    def __str__(self) -> str:
        if not self.private:
            return "NOT PRIVATE: made with a seed, for experiments only. Do not publish."
        return (
            f"(ε = {shown_above(self.epsilon)}, δ = {shown_above(self.delta)})-differential "
            f"privacy, from {shown_above(self.delta)}-approximate {shown_above(self.rho)}-zCDP. "
            f"Protects {self.unit}."
        )
