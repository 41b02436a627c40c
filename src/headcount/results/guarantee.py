"""What may be told to the world about a release."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from headcount.errors import NotPrivateError
from headcount.inputs.unit import Unit
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.rounding import shown_above
from headcount.results.canonical import FIRST_FORMAT, FORMAT, ensure_known
from headcount.results.provenance import Provenance

#: The variant of differential privacy that every release satisfies, besides (ε, δ)-DP.
VARIANT = "approximate zCDP"
#: Neighbouring datasets differ by the rows of one privacy unit, which are present or absent.
ADJACENCY = "add or remove"
#: Whose rows those are, in a word; `Unit` has the sentence. Other units, such as a user within a
#: period, get words of their own.
PRIVACY_UNIT = "user"
#: The setting that says what was spent on what.
SPENT_ON = "spent_on"


@dataclass(frozen=True)
class Guarantee:
    """What may be told to the world about a release: nothing in it depends on unreleased data.

    The release is ``delta``-approximate ``rho``-CDP and (``epsilon``, ``delta``)-DP.
    ``private`` is False for a run with a seed, of which none of this is true.

    Attributes:
        unit: whose privacy is protected.
        rho: ρ of the whole release.
        delta: δ of the whole release.
        epsilon: ε of the whole release.
        private: whether all this is true.
        method: how the release was made.
        spent: how much of the budget was used: {"rho", "delta"}, rounded up.
        settings: the mechanism's parameters.
        totals: what was released about all users: by name, the count, standard error and interval.
        version: of headcount.
        variant: the variant of differential privacy; None in releases of the first form, as is
            all that follows.
        adjacency: how neighbouring datasets differ.
        privacy_unit: whose rows they differ by, in a word.
        delta_split: what δ pays for: {"selection", "conversion"} (budget.md).
        provenance: how the release came about.
        format: the form in which it is written down.
    """

    unit: str
    rho: float
    delta: float
    epsilon: float
    private: bool
    method: str
    spent: dict[str, float] = field(default_factory=dict)
    settings: dict[str, object] = field(default_factory=dict)
    totals: dict[str, dict[str, float]] = field(default_factory=dict)
    version: str = field(default_factory=lambda: version("headcount"))
    variant: str | None = VARIANT
    adjacency: str | None = ADJACENCY
    privacy_unit: str | None = PRIVACY_UNIT
    delta_split: dict[str, float] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)
    format: str | None = FORMAT

    @classmethod
    def of(
        cls,
        budget: Budget,
        *,
        method: str,
        private: bool,
        unit: Unit = Unit.USER,
        within: str | None = None,
        settings: Mapping[str, object] | None = None,
        provenance: Provenance | None = None,
    ) -> "Guarantee":
        """State what a budget promises.

        Args:
            budget: what may be spent.
            method: how the release is made.
            private: whether it is made without a seed.
            unit: what is protected.
            within: the period within which a user's rows are protected; None if all of them are.
            settings: what is known before the mechanism adds its own.
            provenance: where the release comes from.
        """
        selection = budget.delta_selection
        return cls(
            unit=unit.stated(within),
            rho=budget.rho,
            delta=budget.delta,
            epsilon=budget.epsilon,
            private=private,
            method=method,
            settings=dict(settings or {}),
            privacy_unit=PRIVACY_UNIT if within is None else f"{PRIVACY_UNIT}-{within}",
            delta_split={
                "selection": float(selection),
                "conversion": float(Fraction(budget.delta) - selection),
            },
            provenance=provenance or Provenance(),
        )

    @classmethod
    def from_account(cls, account: Mapping[str, Any]) -> "Guarantee":
        """Return the guarantee that a published account states, in any form so far.

        Raises:
            ValueError: only a newer headcount knows the form.
        """
        form = account.get("format")
        ensure_known(form)
        stated = {**account["guarantee"], "spent": account["spent"], "format": form}
        if form == FORMAT:
            stated["provenance"] = Provenance.from_dict(account["provenance"])
        else:
            stated |= {"variant": None, "adjacency": None, "privacy_unit": None}
        totals = account.get("totals", {})
        return cls(**stated, settings=account["settings"], totals=totals)

    @property
    def spent_on(self) -> dict[str, dict[str, float]]:
        """What was spent, as in ``spent``, by what it was for; empty if that is not stated."""
        parts = self.settings.get(SPENT_ON, {})
        if not isinstance(parts, dict):
            raise TypeError("what was spent on what is a table")
        return parts

    @property
    def protected_period(self) -> str | None:
        """The period within which one user's rows are protected; None if all of them are."""
        _, _, within = (self.privacy_unit or "").partition(f"{PRIVACY_UNIT}-")
        return within or None

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
        totals = {"totals": self.totals} if self.totals else {}
        rest = {"spent": self.spent, "settings": self.settings, **totals}
        if self.format is None:
            return {"guarantee": promise, **rest}
        if self.format == FIRST_FORMAT:
            return {"format": self.format, "guarantee": promise, **rest}
        promise |= {
            "variant": self.variant,
            "adjacency": self.adjacency,
            "privacy_unit": self.privacy_unit,
            "delta_split": self.delta_split,
        }
        made = self.provenance.to_dict()
        return {"format": self.format, "guarantee": promise, **rest, "provenance": made}

    def __str__(self) -> str:
        if not self.private:
            return "NOT PRIVATE: made with a seed, for experiments only. Do not publish."
        # δ is then only for reading ρ as an ε.
        pure = self.settings.get("pure_zcdp") is True
        approximate = "" if pure else f"{shown_above(self.delta)}-approximate "
        return (
            f"(ε = {shown_above(self.epsilon)}, δ = {shown_above(self.delta)})-differential "
            f"privacy, from {approximate}{shown_above(self.rho)}-zCDP. "
            f"Protects {self.unit}."
        )
