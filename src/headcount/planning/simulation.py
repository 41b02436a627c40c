"""Simulated releases of a stand-in, by the mechanism itself with seeded noise."""

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headcount.errors import SourceError
from headcount.evaluation.dataset import Dataset
from headcount.evaluation.release import simulated
from headcount.evaluation.standin import (
    Habits,
    Shape,
    common_exponent,
    made_up,
    sampled,
    work_per_user,
)
from headcount.planning.forecast import Basis, Estimate, Forecast
from headcount.privacy.accounting.budget import LARGEST_RHO, Budget
from headcount.privacy.mechanisms import Mechanism, Options, Progress, mechanism

#: How much the number of items differs between users, which a guess does not say. In 13 real sets,
#: σ of its logarithm was 0.4 to 1.8, with 1 in the middle.
SPREAD = 1.0
#: Changes to the exponent and to the spread, for the range: more comes out if popularity falls more
#: slowly and users are more alike, and less in the opposite case.
OTHERS = ((-0.2, -0.5), (0.2, 0.5))
#: How many times the common habits, or a stand-in, are simulated.
RUNS = 3
#: The most user-item pairs in one simulation (half a second of work), and of a stand-in.
MOST_PAIRS, MOST_PAIRS_READ = 500_000, 4_000_000
#: The fewest users in one simulation, whatever they have.
LEAST_USERS = 300
#: If each simulated user stands for several and the smallest count is below this many simulated
#: users, less comes out than with all users: a fifth less at 10, half at 2. Above it, as much comes
#: out, within 4 % for pcr and 12 % for auto. Measured on gowalla and on made-up data.
LEAST_COUNT = 12
#: At a higher ρ, even items of only a few simulated users come out (measured on 5,000 users with
#: ten items each), so others are missing because too few users are simulated.
FINEST_RHO = 1000.0
#: The ranks whose counts are shown, so that the guess can be judged.
RANKS = (1, 10, 100, 1000, 10_000)


@dataclass(frozen=True)
class Run:
    """How one simulation came out.

    Attributes:
        users: how many users were simulated.
        released: how many items came out.
        smallest: the smallest count, scaled up to all users that the simulated ones stand for.
        within: the share of counts within the target.
        std_error: the median relative standard error.
        chosen: the mechanism chosen, if there was a choice.
        limited: whether too few users were simulated for counts as small as these.
    """

    users: int
    released: int
    smallest: float
    within: float
    std_error: float
    chosen: str | None
    limited: bool


@dataclass(frozen=True)
class Planner:
    """What is to be forecast, on any data."""

    budget: Budget
    method: str
    options: Options
    progress: Progress

    def mechanism(self, scale: float = 1.0) -> Mechanism:
        """Return the mechanism for simulated users, each of whom stands for ``scale`` users.

        Their counts are smaller by that factor. So is all noise, because ρ is larger by its square.
        δ and the way it is split stay as they are.
        """
        budget = copy.copy(self.budget)  # one made from ρ could split δ differently
        rho = min(budget.rho * scale**2, LARGEST_RHO)
        object.__setattr__(budget, "rho", rho)
        return mechanism(self.method).of(self.options, budget)

    def from_guess(self, shape: Shape, others: Sequence[tuple[float, float]] = OTHERS) -> Forecast:
        """Simulate made-up data of a shape, with the common habits and with others."""
        exponent = common_exponent(shape, SPREAD)
        changes = [*[(0.0, 0.0)] * RUNS, *others]
        tried = [Habits(exponent + steeper, SPREAD + wider) for steeper, wider in changes]
        runs: list[Run] = []
        counts: dict[int, int] = {}
        for number, habits in enumerate(tried):
            self.progress(f"simulation {number + 1} of {len(tried)}")
            affordable = int(MOST_PAIRS / work_per_user(shape, habits))
            users = min(shape.users, max(LEAST_USERS, affordable))
            dataset = made_up(shape, habits, users, seed=number)
            runs.append(self._run(dataset, shape.users, seed=number))
            counts = counts or _counts(dataset, shape.users)
        return self._forecast(
            runs,
            basis="guess",
            users=shape.users,
            items_per_user=shape.items_per_user,
            items=shape.items,
            counts=counts,
        )

    def from_stand_in(self, dataset: Dataset) -> Forecast:
        """Simulate on a stand-in, or on a sample of its users if there are too many."""
        users, pairs = dataset.number_of_users, dataset.users.size
        if not pairs:
            raise SourceError("the stand-in has no row with a user and an item")
        enough = max(LEAST_USERS, users * MOST_PAIRS_READ // pairs)
        runs = []
        for number in range(RUNS):
            self.progress(f"simulation {number + 1} of {RUNS}")
            runs.append(self._run(sampled(dataset, enough, number), users, seed=number))
        return self._forecast(
            runs,
            basis="stand-in",
            users=users,
            items_per_user=pairs / users,
            items=dataset.number_of_items,
            counts=_counts(dataset, users),
        )

    def _run(self, dataset: Dataset, users: int, seed: int) -> Run:
        scale = users / dataset.number_of_users
        too_fine = scale > 1 and self.budget.rho * scale**2 > FINEST_RHO
        chosen = self.mechanism(scale)
        result = simulated(chosen, dataset, seed)
        truth, counts = dataset.counts[result.items], result.counts
        released = truth.size
        if not released:
            return Run(dataset.number_of_users, 0, 0.0, 0.0, 0.0, None, too_fine)
        smallest = max(float(counts.estimates.min()), 1.0)
        return Run(
            users=dataset.number_of_users,
            released=released,
            smallest=smallest * scale,
            within=float(np.mean(np.abs(counts.estimates - truth) <= chosen.r * truth)),
            std_error=float(np.median(counts.errors / np.maximum(counts.estimates, 1.0))),
            chosen=str(result.settings["chosen"]) if "chosen" in result.settings else None,
            limited=too_fine or (scale > 1 and smallest < LEAST_COUNT),
        )

    def _forecast(
        self,
        runs: Sequence[Run],
        *,
        basis: Basis,
        users: int,
        items_per_user: float,
        items: int,
        counts: dict[int, int],
    ) -> Forecast:
        some = [run for run in runs if run.released]
        common = [run for run in runs[:RUNS] if run.released] or some
        released = Estimate.of(
            [run.released for run in runs[:RUNS]], [run.released for run in runs]
        )
        chosen = Counter(run.chosen for run in some if run.chosen is not None)

        def figure(name: str) -> Estimate | None:
            if not some:
                return None
            return Estimate.of([getattr(r, name) for r in common], [getattr(r, name) for r in some])

        return Forecast(
            basis=basis,
            budget=self.budget,
            method=self.method,
            chosen=tuple(name for name, _ in chosen.most_common()),
            relative_error=self.mechanism().r,
            users=users,
            items_per_user=items_per_user,
            items=items,
            counts=counts,
            runs=len(runs),
            simulated_users=min(run.users for run in runs),
            released=released,
            smallest=figure("smallest"),
            within=figure("within"),
            std_error=figure("std_error"),
            at_least=any(run.limited for run in runs[:RUNS]) and released.typical < items,
            max_items_per_user=self.options.max_items_per_user,
        )


def _counts(dataset: Dataset, users: int) -> dict[int, int]:
    """Return the counts at some ranks, scaled to this number of users."""
    scale = users / dataset.number_of_users
    ranks = [rank for rank in RANKS if rank <= dataset.number_of_items]
    return {rank: round(scale * int(dataset.counts[rank - 1])) for rank in ranks}
