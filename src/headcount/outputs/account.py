"""What a published file says about itself, without its rows."""

from dataclasses import dataclass

from headcount.errors import NotPrivateError
from headcount.results.guarantee import Guarantee
from headcount.results.totals import TotalInWords, totals_in_words


@dataclass(frozen=True)
class Account:
    """What is known of a published release from its file.

    Attributes:
        guarantee: what it promises.
        columns: the item columns.
        rows: how many items were released.
    """

    guarantee: Guarantee
    columns: tuple[str, ...]
    rows: int

    def __post_init__(self) -> None:
        if not self.guarantee.private:
            raise NotPrivateError(
                "this release was made with a seed: it is not private, and it must not be "
                "described for publication"
            )

    def columns_in_words(self) -> str:
        """Return the item columns, as they are read out."""
        if not self.columns:  # JSON names them in its rows, of which there are none
            return "the item columns"
        *others, last = map(repr, self.columns)
        return f"{', '.join(others)} and {last}" if others else last

    @property
    def listed(self) -> bool:
        """Whether the items are those of a public list, all of which are in the release."""
        return "known_items" in self.guarantee.settings

    def what_is_missing(self) -> str:
        """Return what a reader should know about values that are not there."""
        if self.listed:
            return "The items are those of a public list; a count may be noise alone."
        return (
            "Values with too few people for an accurate count are left out. A missing value may "
            "still have people."
        )

    def what_is_released(self) -> str:
        """Return the words that describe what each value comes with."""
        asked = self.guarantee.settings.get("aggregates")
        names = asked.get("released") if isinstance(asked, dict) else None
        more = [str(name) for name in names] if isinstance(names, list) else []
        return ", ".join(["its number of distinct people", *more])

    def totals(self) -> list[TotalInWords]:
        """Return what was released about all users together."""
        return totals_in_words(self.guarantee.totals)

    def method(self) -> str:
        """Return how the release was made, with what was chosen on the way."""
        return method_in_words(self.guarantee)


def method_in_words(guarantee: Guarantee) -> str:
    """Return how a release was made, with what was chosen on the way."""
    chosen, method = guarantee.settings.get("chosen"), guarantee.method
    return method if chosen in (None, method) else f"{method}, which chose {chosen}"
