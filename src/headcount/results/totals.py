"""The totals of a release, over all users, in words."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from headcount.results.digits import for_people

_WORDS = {"total": "Users with an item", "other": "Users with an item that is not listed"}


@dataclass(frozen=True)
class TotalInWords:
    """One number about all users, formatted for people."""

    words: str
    count: str
    std_error: str
    interval: str

    def __str__(self) -> str:
        return f"{self.words}: {self.count} (95 % interval: {self.interval})"


def totals_in_words(totals: Mapping[str, Mapping[str, float]]) -> list[TotalInWords]:
    """Return the totals of a release, in words.

    Raises:
        KeyError, TypeError, ValueError: these are not totals, as anybody may write a file.
    """
    if not isinstance(totals, dict) or not set(totals) <= set(_WORDS):
        raise ValueError("a release has totals that are not known")
    return [_in_words(_WORDS[name], shown) for name, shown in totals.items()]


def _in_words(words: str, shown: Mapping[str, float]) -> TotalInWords:
    numbers = [shown[part] for part in ("count", "std_error", "lower", "upper")]
    if not all(type(number) in (int, float) and math.isfinite(number) for number in numbers):
        raise TypeError("a total is made of numbers")
    count, error, lower, upper = (for_people(number, numbers[1]) for number in numbers)
    return TotalInWords(words, count, error, f"{lower} to {upper}")
