"""The parameters of Private Count Release, named as in the paper."""

import math
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from numbers import Real
from typing import Any

from headcount.errors import SettingsError

#: The paper's σ(ε) leaves room for this many standard deviations within the target error.
SIGMAS_WITHIN_TARGET = 1.5

#: Below this, costs would leave the range of floating point.
SMALLEST_ERROR = 1e-9


class Charging(StrEnum):
    """What is charged for, and what is held back before a pick."""

    #: The true cost of each pick and each measurement; δ* once per level (pcr.md).
    TRUE_COST = "true-cost"
    #: As the paper prints it: δ* for every pick, ε²/4 held back, hence σ ≥ 2/ε.
    PAPER = "paper"


@dataclass(frozen=True)
class Settings:
    """One frozen value that fixes the mechanism; nothing in it depends on the data.

    Attributes:
        epsilon_star: ε*, the selection parameter of the first level.
        delta_star: δ*, the part of δ that one level (or, as the paper charges, one pick)
            may use; None divides the selection's δ evenly over all levels.
        k_bar: k̄, how many items with the highest counts are candidates, at most.
        ranks: whose counts are bought first, to choose k̄ among them; with none, k̄ stays as it is.
        r: the target relative error of a released count.
        growth: the factor from one level's ε to the next.
        noise: how many times the paper's σ(ε) the noise of a count is, once enough items have
            been released to estimate each from all of them.
        charging: what is charged for.
        in_steps: whether a count is measured in steps, until σ is small enough compared with it,
            instead of once with the level's σ.
    """

    epsilon_star: float = 0.0005
    delta_star: float | None = None
    k_bar: int = 10_000
    ranks: tuple[int, ...] = ()
    r: float = 0.1
    growth: float = 1.05
    noise: float = 1.0
    charging: Charging = Charging.TRUE_COST
    in_steps: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.k_bar, bool) or not isinstance(self.k_bar, int) or self.k_bar < 1:
            raise SettingsError(
                f"the number of candidates (k̄) must be a whole number of at least 1, "
                f"got {self.k_bar!r}"
            )
        if isinstance(self.r, bool) or not isinstance(self.r, Real):
            raise SettingsError(f"the relative error must be a number, got {type(self.r).__name__}")
        if not 0 < self.r < 1:
            raise SettingsError(
                f"the relative error must lie strictly between 0 and 1, got {self.r:g}"
            )
        if self.r < SMALLEST_ERROR:
            raise SettingsError(
                f"a relative error below {SMALLEST_ERROR:g} cannot be aimed at, got {self.r:g}"
            )
        if not (self.epsilon_star > 0 and math.isfinite(self.epsilon_star)):
            raise SettingsError(f"ε* must be a finite number above 0, got {self.epsilon_star:g}")
        if not (self.growth > 1 and math.isfinite(self.growth)):
            raise SettingsError(f"growth must be a finite number above 1, got {self.growth:g}")
        if not (self.noise >= 1 and math.isfinite(self.noise)):
            raise SettingsError(f"noise must be a finite number of at least 1, got {self.noise:g}")
        if any(isinstance(rank, bool) or not isinstance(rank, int) for rank in self.ranks) or (
            self.ranks and min(self.ranks) < 1
        ):
            raise SettingsError("ranks to look at must be whole numbers of at least 1")
        if self.ranks and self.k_bar != max(self.ranks):
            raise SettingsError("the most candidates (k̄) are the largest of the ranks looked at")
        if self.delta_star is not None and not 0 < self.delta_star < 1:
            raise SettingsError(f"δ* must lie strictly between 0 and 1, got {self.delta_star:g}")
        if self.charging is Charging.PAPER and self.delta_star is None:
            raise SettingsError("the paper's charging needs a δ* for each pick")
        if self.charging is Charging.TRUE_COST and self.delta_star is not None:
            raise SettingsError("δ* follows from δ and the number of levels here; leave it out")

    def factor(self, released: int) -> float:
        """How many times the paper's σ(ε) to use after that many items were released.

        The first items have only themselves to be estimated from.
        """
        return min(self.noise, max(1.0, math.sqrt(released) / 4))

    def changed(self, **changes: float | None) -> "Settings":
        """Return the settings, changed in the parameters that are not None."""
        given: dict[str, Any] = {
            name: value for name, value in changes.items() if value is not None
        }
        if "k_bar" in given:
            given["ranks"] = ()  # k̄ as it was asked for
        return replace(self, **given)

    def to_dict(self) -> dict[str, object]:
        """Return the settings as plain values.

        A ledger recognises questions by them, so what was added later is left out where it makes no
        difference.
        """
        plain = {**asdict(self), "ranks": list(self.ranks), "charging": str(self.charging)}
        if not self.in_steps:
            del plain["in_steps"]
        return plain


#: Each variant of Private Count Release is a preset of the settings.
PRESETS: dict[str, Settings] = {
    "pcr": Settings(
        k_bar=100_000,
        ranks=(10, 100, 1000, 10_000, 30_000, 100_000),
        growth=1.07,
        noise=2.0,
    ),
    "pcr-paper": Settings(
        growth=math.sqrt(2), epsilon_star=0.0005, delta_star=1e-11, charging=Charging.PAPER
    ),
}
PRESETS["pcr-noise-reduction"] = replace(PRESETS["pcr-paper"], in_steps=True)


def settings_for(method: str, **changes: float | None) -> Settings:
    """Return a preset, changed in the parameters that were given."""
    return PRESETS[method].changed(**changes)
