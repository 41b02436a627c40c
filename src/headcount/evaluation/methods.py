"""What a method is: a name, and what it would release from a dataset within a budget."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from headcount.evaluation.dataset import Dataset
from headcount.privacy.accounting.budget import Budget


@dataclass(frozen=True)
class Target:
    """What a method may spend, and the error that it aims for.

    Attributes:
        rho: ρ of the whole release.
        delta: δ of the whole release.
        r: the target relative error.
        epsilon: ε, if the budget was given as ε. A release then keeps more of δ for converting ρ
            to ε, and has less of it for selecting items.
    """

    rho: float
    delta: float
    r: float
    epsilon: float | None = None

    @classmethod
    def of(cls, budget: Budget, r: float) -> "Target":
        """Return the target for a budget."""
        return cls(budget.rho, budget.delta, r, budget.given.get("epsilon"))

    @property
    def budget(self) -> Budget:
        """The budget of the release."""
        if self.epsilon is None:
            return Budget(rho=self.rho, delta=self.delta)
        return Budget(epsilon=self.epsilon, delta=self.delta)


@dataclass(frozen=True)
class Released:
    """What a method would have released.

    Attributes:
        items: the codes of the items.
        counts: their noisy counts.
        sigma: the standard deviation of the noise, if it is the same for all counts.
        errors: the standard error released with each count, if each has its own.
    """

    items: NDArray[np.integer]
    counts: NDArray[np.float64]
    sigma: float = float("nan")
    errors: NDArray[np.float64] | None = None


class Method(Protocol):
    """A frozen value that can be run on any dataset. Its result is not private."""

    @property
    def name(self) -> str:
        """Its name in tables and figures."""

    def run(self, dataset: Dataset, target: Target, rng: np.random.Generator) -> Released:
        """Release counts from the dataset, with noise drawn from the generator."""
