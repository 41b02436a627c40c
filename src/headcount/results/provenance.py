"""How a release came about: what a registry of deployments asks for besides the guarantee."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

#: What every release takes as public: it is named or decided without looking at any row.
ALWAYS_PUBLIC = (
    "the names and types of the columns",
    "the budget, the method and its settings",
)
#: What some take as public besides that.
CHOICE_OF_ROWS = "the choice of rows"
LIST_OF_ITEMS, RANGE_OF_DAYS = "the list of items", "the range of days"
#: What is done to the numbers of every release once they are noisy.
ALWAYS_AFTERWARDS = (
    "intervals from each estimate and its standard error",
    "counts rounded to whole numbers, with negative ones set to 0",
    "rows sorted by their estimates, highest first",
)

#: Longer texts are cut off where people read them, but not in files and downloads.
LONGEST = 120
#: The same for conditions and SQL in a terminal or a notebook.
LONGEST_ASKED = 400


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text cut off after this many characters, and how many it has."""
    if len(text) <= longest:
        return text
    return f"{text[: longest - 1]}… ({len(text):,} characters)"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which rows and items were asked for; None where that leaves nothing out.

    All of it is public, and part of what the counts mean.

    Attributes:
        where: the condition on rows, as it was written.
        sql: the query whose result was counted, as it was written.
        between: the first and the last of the days that count.
        items_from: the list of items: how many it has, and a hash of them.
        minimum: the fewest users of an item in a histogram that leaves out the others.

    Raises:
        TypeError, ValueError, KeyError: a value is of another type, as anybody may have written it.
    """

    where: str | None = None
    sql: str | None = None
    between: Sequence[str] | None = None
    items_from: Mapping[str, Any] | None = None
    minimum: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.between, str):
            raise TypeError("the days that count are two texts")
        first, last = (None, None) if self.between is None else self.between
        number = None if self.items_from is None else self.items_from["items"]
        if not all(isinstance(text, str | None) for text in (self.where, self.sql, first, last)):
            raise TypeError("what was asked is text")
        numbers = [] if self.items_from is None else [number]
        numbers += [] if self.minimum is None else [self.minimum]
        if not all(type(each) is int and each >= 0 for each in numbers):
            raise TypeError("how many items there are, or users, is a whole number")

    @property
    def public(self) -> list[str]:
        """What of it was taken as public."""
        named = {
            CHOICE_OF_ROWS: self.where is not None or self.sql is not None,
            LIST_OF_ITEMS: self.items_from is not None,
            RANGE_OF_DAYS: self.between is not None,
            f"items below {self.minimum or 0:,} users were left out before": self.minimum,
        }
        return [name for name, is_public in named.items() if is_public]

    def in_words(self) -> dict[str, str]:
        """Return which rows and items were counted, if not all.

        Whoever shows it makes it harmless there, as for any text that others wrote.
        """
        rows = []
        if self.where is not None:
            rows.append(_on_one_line(self.where))
        if self.sql is not None:
            rows.append(f"the result of {_on_one_line(self.sql)}")
        said = {"Rows counted": " in ".join(rows)} if rows else {}
        if self.between is not None:
            said["Period"] = " to ".join(self.between)
        if self.items_from is not None:
            said["Items"] = f"a given list of {self.items_from['items']:,}"
        if self.minimum is not None:
            said["Items"] = f"only those of at least {self.minimum:,} users were given"
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, of what was asked for."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


def _on_one_line(text: str) -> str:
    """Return a text with spaces for line breaks, unless one of them may end a comment."""
    lines = [text] if "--" in text else text.split("\n")
    return " ".join(filter(None, map(str.strip, lines)))


@dataclass(frozen=True)
class Provenance:
    """How a release came about; nothing in it depends on unreleased data.

    Attributes:
        mechanisms: the differentially private steps, in the order in which they ran.
        post_processing: what was done to their answers, which costs no privacy.
        public: what was taken as public, so nothing was paid for it.
        date: the day on which it was asked for, in UTC, as YYYY-MM-DD; None for a run with a seed,
            which is a function of its seed alone.
        ledger: where it was charged: the dataset, and the entry that reserved the budget.
        asked: which rows and items were asked for.
    """

    mechanisms: tuple[str, ...] = ()
    post_processing: tuple[str, ...] = ALWAYS_AFTERWARDS
    public: tuple[str, ...] = ALWAYS_PUBLIC
    date: str | None = None
    ledger: Mapping[str, object] | None = None
    asked: Asked = field(default_factory=Asked)

    def after(self, mechanisms: tuple[str, ...], post_processing: tuple[str, ...]) -> Self:
        """Return it with what the mechanism says it did."""
        afterwards = (*post_processing, *self.post_processing)
        return replace(self, mechanisms=mechanisms, post_processing=afterwards)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        asked = self.asked.to_dict()
        return {
            "mechanisms": list(self.mechanisms),
            "post_processing": list(self.post_processing),
            "public": list(self.public),
            "date": self.date,
            "period": self.asked.in_words().get("Period"),
            "ledger": None if self.ledger is None else dict(self.ledger),
            **({"asked": asked} if asked else {}),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return what plain values describe."""
        given = {name: value for name, value in values.items() if name != "period"}
        given |= {name: tuple(values[name]) for name in ("mechanisms", "post_processing", "public")}
        return cls(**{**given, "asked": Asked(**values.get("asked", {}))})
