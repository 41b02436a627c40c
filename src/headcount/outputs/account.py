"""What a published file says about itself, without its rows."""

from dataclasses import dataclass

from headcount.errors import NotPrivateError
from headcount.results.guarantee import Guarantee


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
                "this release was made with a seed: it is not private, and there is nothing to "
                "tell the world about it"
            )

    def columns_in_words(self) -> str:
        """Return the item columns, as one reads them out."""
        if not self.columns:  # JSON names them in its rows, of which there are none
            return "the item columns"
        *others, last = map(repr, self.columns)
        return f"{', '.join(others)} and {last}" if others else last

    def method(self) -> str:
        """Return how the release was made, with what was chosen on the way."""
        chosen = self.guarantee.settings.get("chosen")
        method = self.guarantee.method
        return method if chosen in (None, method) else f"{method}, which chose {chosen}"
