"""The paper's five rows: what its table says of them, and where their real files come from."""

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
        name: what results call it.
        users: the table's number of users.
        items: the table's domain size.
        percentiles: the table's 50th, 75th, 95th and 99th percentile of items per user.
        least: the fewest items that a user has.
        popularity: q and s of the generated set, in which the item of rank j is chosen with a
            weight of (j + q)^−s. The paper does not say how popular items are: this is a guess.
        file: what the real file is called.
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
        """Return a set with fewer users and items, each user as heavy as before."""
        items = max(round(self.items * factor), 20 * self.percentiles[-1])
        users = max(round(self.users * factor), min(self.users, 341))
        return replace(self, users=users, items=min(items, self.items))


# Words fall off a little faster than 1/rank. Tickers and films have no such head: the most popular
# thousand are within a factor of ten of each other.
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
