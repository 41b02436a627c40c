"""What a method is: a name, and what it would release from a dataset with a budget."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from headcount.evaluation.dataset import Dataset
from headcount.privacy.accounting.budget import Budget


@dataclass(frozen=True)
class Target:
    """What a method may spend and what it should aim at.

    Attributes:
        rho: ρ of the whole release.
        delta: δ of the whole release.
        r: the relative error to aim at.
        epsilon: ε, if the budget was given as that. A release then keeps more of δ for reading ρ
            as ε, and has less of it for selecting items.
    """

    rho: float
    delta: float
    r: float
    epsilon: float | None = None

    @classmethod
    def of(cls, budget: Budget, r: float) -> "Target":
        """Return what a budget allows."""
        return cls(budget.rho, budget.delta, r, budget.given.get("epsilon"))

    @property
    def budget(self) -> Budget:
        """The budget that a release has."""
        if self.epsilon is None:
            return Budget(rho=self.rho, delta=self.delta)
        return Budget(epsilon=self.epsilon, delta=self.delta)


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
