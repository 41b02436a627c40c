"""The paper's five sets: what its table says about them, and how their real files are read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from experiments import loaders

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class PaperSet:
    """A row of the paper's table of datasets.

    Attributes:
        name: its name in the results.
        users: the table's number of users.
        items: the table's domain size.
        percentiles: the table's 50th, 75th, 95th and 99th percentiles of items per user.
        least: the fewest items that a user has.
        popularity: q and s of the generated set, in which the item of rank j is chosen with weight
            (j + q)^−s. This is a guess, as the paper does not say how popular items are.
        file: the name of the real file.
        load: reads the real file.
    """

    name: str
    users: int
    items: int
    percentiles: tuple[int, int, int, int]
    least: int
    popularity: tuple[float, float]
    file: str
    load: "Callable[[Path], pa.Table]"

    def scaled(self, factor: float) -> "PaperSet":
        """Return a set with fewer users and items, but as many items per user."""
        items = max(round(self.items * factor), 20 * self.percentiles[-1])
        users = max(round(self.users * factor), min(self.users, 341))
        return replace(self, users=users, items=min(items, self.items))


# The popularity of words falls a little faster than 1/rank. Tickers and films have no such head:
# the thousand most popular ones are within a factor of ten of each other.
_WORDS = (5.0, 1.2)
_CATALOGUE = (500.0, 2.0)

PAPER_SETS = {
    row.name: row
    for row in (
        PaperSet("finance", 1_400_469, 6_193, (1, 1, 1, 1), 1, _CATALOGUE,
                 "raw_analyst_ratings.csv", loaders.finance),
        PaperSet("reddit-sample", 341, 10_575, (23, 50, 128, 330), 1, _WORDS,
                 "clean_askreddit.csv", loaders.reddit_sample),
        PaperSet("reddit-full", 223_388, 153_704, (23, 56, 194, 450), 1, _WORDS,
                 "clean_askreddit.csv", loaders.reddit),
        PaperSet("wikipedia", 245_103, 631_855, (84, 164, 390, 589), 1, _WORDS,
                 "wikipedia_abstracts.pkl", loaders.wikipedia),
        PaperSet("movielens", 162_541, 59_047, (71, 162, 554, 1228), 20, _CATALOGUE,
                 "ratings.csv", loaders.movielens),
    )
}  # fmt: skip
