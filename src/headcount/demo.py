"""Made-up events, a release of them, and how close its counts are."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headcount.api import release
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.mechanisms import Progress
from headcount.privacy.randomness import SeededEntropy
from headcount.results.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

USERS = 150_000
MOST_ITEMS_PER_USER = 1_000
FILMS = 50_000


@dataclass(frozen=True)
class Demo:
    """A release of made-up events, with the truth next to it.

    Attributes:
        release: the release.
        true_counts: the true count of each released item, in the release's order.
    """

    release: Release
    true_counts: NDArray[np.int64]

    @property
    def target(self) -> float:
        """The target relative error of the release."""
        return float(str(self.release.settings["r"]))

    @property
    def relative_errors(self) -> NDArray[np.float64]:
        """How far each released count is off, relative to the truth."""
        noisy = self.release.table["count"].to_numpy()
        errors: NDArray[np.float64] = np.abs(noisy - self.true_counts) / self.true_counts
        return errors


def made_up_events(seed: int = 1) -> "pa.Table":
    """Return about a million rows that say who watched which film.

    Users have 1 to 1,000 rows, most of them few (n with probability about 1/n²), and the film of
    rank j is watched with probability about 1/j. Both distributions have long tails.
    """
    import pyarrow as pa

    uniform = _uniforms(seed)
    rows_per_user = (1 / (1 / MOST_ITEMS_PER_USER + uniform(USERS))).astype(np.int64).clip(1)
    user = np.repeat(np.arange(USERS), rows_per_user)
    film = np.exp(uniform(user.size) * np.log(FILMS)).astype(np.int64)
    names = pa.array([f"film {rank}" for rank in range(FILMS + 1)])
    return pa.table({"user_id": user, "film": names.take(pa.array(film))})


def run_demo(budget: Budget, progress: Progress) -> Demo:
    """Make events, release their counts, and compare these with the truth."""
    progress("making up events")
    events = made_up_events()
    result = release(events, user="user_id", item="film", budget=budget, progress=progress)
    distinct = events.group_by(["user_id", "film"]).aggregate([])
    counted = distinct.group_by("film").aggregate([([], "count_all")])
    truth = dict(zip(counted["film"].to_pylist(), counted["count_all"].to_pylist(), strict=True))
    true_counts = np.array(
        [truth[film] for film in result.table["film"].to_pylist()], dtype=np.int64
    )
    return Demo(result, true_counts)


def _uniforms(seed: int):  # type: ignore[no-untyped-def]  # noqa: ANN202
    words = SeededEntropy(seed).words
    return lambda count: words(count) * 2.0**-64
