"""What every tool is asked to do. It runs in the tool's environment: standard library only."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Job:
    """Count the distinct users of each item, with items that are not known beforehand.

    Attributes:
        events: a Parquet file with the columns `user` (whole numbers) and `item` (text).
        epsilon: ε of (ε, δ)-DP, for adding or removing one user with all their rows.
        delta: δ.
        rho: the ρ of zCDP that, with `delta_selection`, implies the same (ε, δ).
        delta_selection: the part of δ that is left to find items with, if ρ is used.
        bound: the most items of a user that count.
    """

    events: str
    epsilon: float
    delta: float
    rho: float
    delta_selection: float
    bound: int

    def to_json(self) -> str:
        """Return it as text, which `answer` reads."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Question:
    """A number for each item, where what one user adds is bounded.

    Attributes:
        what: "rows", "sum" or "mean", the last two of the values.
        most_items: the most items of a user that count.
        low: the least value; smaller ones are clipped to it.
        high: the largest value; larger ones are clipped to it.
    """

    what: str
    most_items: int
    low: float
    high: float


@dataclass(frozen=True)
class SumsJob:
    """Answer questions about items that are known beforehand, each from a budget of its own.

    Attributes:
        events: a Parquet file with `user` and `item`, whole numbers, and `value`, a float. A user
            has an item once at most.
        items: how many items there are: they are 0, 1, and so on.
        rho: what each answer may cost, in ρ of zCDP, for adding or removing one user with all
            their rows.
        questions: what is asked.
    """

    events: str
    items: int
    rho: float
    questions: tuple[Question, ...]

    def to_json(self) -> str:
        """Return it as text, which `of` reads."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, events: str, items: int, rho: float, questions: Any) -> "SumsJob":
        """Return the job that JSON describes."""
        return cls(events, items, rho, tuple(Question(**one) for one in questions))


def answer(
    release: Callable[[Any], Any], package: str, job: Callable[..., Job | SumsJob] = Job
) -> None:
    """Do the job given as the first argument, and write what came out to the file after it.

    Args:
        release: does the job.
        package: whose version is written too.
        job: makes the job of what its JSON has.
    """
    made = release(job(**json.loads(sys.argv[1])))
    text = json.dumps({"version": version(package), "made": made})
    Path(sys.argv[2]).write_text(text, encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # some leave threads behind that are never joined
