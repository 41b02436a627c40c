"""One seeded run of every method, and how close its counts are."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist

import numpy as np

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.methods import Method, Released, Target
from headcount.evaluation.plume import Plume, WithThreshold
from headcount.evaluation.release import ReleaseMethod
from headcount.evaluation.thresholding import ThresholdingMethod

#: Half the width of an interval, in standard errors.
Z = NormalDist().inv_cdf(0.975)
#: The methods of ``headcount release`` that are compared, in the order of tables and figures.
MECHANISMS = ("pcr-paper", "pcr", "rationed", "auto")
#: Thresholding is compared only where no user has more items than this.
SMALL_BOUND = 8


@dataclass(frozen=True)
class TrialOutcome:
    """The outcome of one run of a method: not private.

    Attributes:
        method: its name.
        rho: its budget.
        seed: the number of the trial.
        released: how many items came out.
        within: how many of their counts are within the relative error of the truth.
        covered: how many of their intervals contain the truth, if they have intervals.
        bias: the mean of (noisy − true)/true, 0 if nothing came out.
        light: the same mean over the fifth of items whose users have the fewest items on average.
        heavy: the same mean over the fifth whose users have the most.
    """

    method: str
    rho: float
    seed: int
    released: int
    within: int
    covered: int
    bias: float
    light: float = 0.0
    heavy: float = 0.0

    def to_dict(self) -> dict[str, str | float]:
        """Return the outcome as plain values."""
        return asdict(self)


def standard_methods(max_items_per_user: int, selection: str = "weighted") -> list[Method]:
    """Return the methods of the paper's figures, and thresholding if the bound is small.

    Args:
        max_items_per_user: the number of items of the user who has the most.
        selection: how Plume finds items.
    """
    methods: list[Method] = [ReleaseMethod(name) for name in MECHANISMS]
    for percentile in (95, 99):
        plume = Plume(percentile, selection)
        methods += [plume, WithThreshold(plume)]
    if 1 <= max_items_per_user <= SMALL_BOUND:
        methods += [
            ThresholdingMethod(max_items_per_user, "gaussian"),
            ThresholdingMethod(max_items_per_user, "laplace"),
        ]
    return methods


def run_trial(
    dataset: Dataset, methods: Sequence[Method], target: Target, seed: int
) -> Iterator[TrialOutcome]:
    """Run each method once. A method's outcome does not depend on which others are run."""
    drawn: dict[Method, Released] = {}
    for method in methods:
        base = method.base if isinstance(method, WithThreshold) else method
        if base not in drawn:
            stream = zlib.crc32(f"{base.name} {target.rho!r}".encode())
            drawn[base] = base.run(dataset, target, np.random.default_rng([seed, stream]))
        released = drawn[base]
        if isinstance(method, WithThreshold):
            released = method.cut(released, target)
        yield _outcome(dataset, method.name, released, target, seed)


def _outcome(
    dataset: Dataset, name: str, released: Released, target: Target, seed: int
) -> TrialOutcome:
    truth = dataset.counts[released.items]
    errors = (released.counts - truth) / truth
    by_users = np.argsort(dataset.heaviness[released.items], kind="stable")
    fifth = by_users.size // 5
    sigmas = released.sigma if released.errors is None else released.errors
    return TrialOutcome(
        method=name,
        rho=target.rho,
        seed=seed,
        released=int(errors.size),
        within=int(np.count_nonzero(np.abs(errors) <= target.r)),
        covered=int(np.count_nonzero(np.abs(errors * truth) <= Z * sigmas)),
        bias=float(errors.mean()) if errors.size else 0.0,
        light=float(errors[by_users[:fifth]].mean()) if fifth else 0.0,
        heavy=float(errors[by_users[-fifth:]].mean()) if fifth else 0.0,
    )
