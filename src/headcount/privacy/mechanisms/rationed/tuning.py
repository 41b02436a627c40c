"""Every number that a rationed release was tuned with, in one place.

None of them depends on data, and none is part of the proof: they decide how much comes out.
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Tuning:
    """The tuning values, each with where it comes from."""

    sizes: Fraction = Fraction(3, 1000)
    first_round: Fraction = Fraction(8, 100)
    second_rounds: tuple[Fraction, ...] = tuple(Fraction(n, 100) for n in (3, 5, 7, 10, 14, 20))
    forecast_aim: float = 0.5
    forecast_loss: float = 0.03
    coarse: Fraction = Fraction(6, 100)
    questions: int = 4
    users_asked: Fraction = Fraction(11, 1000)
    features_asked: Fraction = Fraction(3, 100)

    coarse_noise: float = 0.4
    aim: float = 0.60
    popularity: float = 1 / 8
    least_precision: float = 0.6
    cut_step: float = 1.15
    cuts: int = 16
    scale_step: float = 1.25
    within: float = 0.91
    unexplained: float = 0.6
    bias: float = 0.12
    caution: float = 3.0
    lean: float = 0.45
    lean_spread: float = 0.3
    trend: float = 0.25
    scales: tuple[float, ...] = (1.1, 1.0, 0.92, 0.85)
    tail: float = 0.25
    misfit: float = 0.1
    power: float = 2.0
    power_spread: float = 0.4
    part: int = 40

    @property
    def fixed(self) -> Fraction:
        """What is spent beside discovery and the final counts."""
        asked = self.questions * self.users_asked + self.features_asked
        return 2 * self.sizes + self.coarse + asked


TUNING = Tuning()
