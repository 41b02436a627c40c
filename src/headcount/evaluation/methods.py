"""What a method is: a name, and what it would release from a dataset with a budget."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from headcount.evaluation.dataset import Dataset


@dataclass(frozen=True)
class Target:
    """What a method may spend and what it should aim at.

    Attributes:
        rho: ρ of the whole release.
        delta: δ of the whole release.
        r: the relative error to aim at.
    """

    rho: float
    delta: float
    r: float


@dataclass(frozen=True)
class Released:
    """What a method would have released.

    Attributes:
        items: the codes of the items.
        counts: their noisy counts.
        sigma: the standard deviation of the noise, where it is the same for all.
        errors: the standard error that each count is released with, where it has its own.
    """

    items: NDArray[np.integer]
    counts: NDArray[np.float64]
    sigma: float = float("nan")
    errors: NDArray[np.float64] | None = None


class Method(Protocol):
    """A frozen value that can be run on any dataset. What it returns is not private."""

    @property
    def name(self) -> str:
        """What tables and figures call it."""

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Release what can be released from the dataset, with noise from the generator."""
