"""A folder of results: one line for each run, so that an interrupted run can resume.

Results hold only numbers, no names of users or items.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headcount.evaluation.dataset import Dataset
from headcount.evaluation.methods import Target
from headcount.evaluation.trials import TrialOutcome


@dataclass(frozen=True)
class Description:
    """What a set is like, in true figures."""

    name: str
    origin: str
    stamp: str
    users: int
    items: int
    rows: int
    percentiles: tuple[int, ...]
    most_items: int

    @classmethod
    def of(cls, name: str, origin: str, stamp: str, dataset: Dataset) -> "Description":
        """Describe a dataset."""
        return cls(
            name,
            origin,
            stamp,
            dataset.number_of_users,
            dataset.number_of_items,
            int(dataset.users.size),
            tuple(dataset.percentile(percent) for percent in (50, 75, 95, 99)),
            dataset.max_items_per_user,
        )


class ResultStore:
    """The folder of results."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._outcomes = folder / "outcomes.jsonl"
        self._sets = folder / "sets.jsonl"

    def description(self, name: str, stamp: str) -> Description | None:
        """Return the stored description of a set, if the set has not changed."""
        for line in reversed(_lines(self._sets)):
            if line["name"] == name and line["stamp"] == stamp:
                return Description(**{**line, "percentiles": tuple(line["percentiles"])})
        return None

    def describe(self, description: Description) -> None:
        """Store a description."""
        _append(self._sets, [asdict(description)])

    def outcomes(self, description: Description, target: Target) -> list[TrialOutcome]:
        """Return the outcomes on a set with a target, each once, in the order they were stored."""
        found: dict[tuple[str, int], TrialOutcome] = {}
        wanted = _key(description, target)
        for line in _lines(self._outcomes):
            if wanted.items() <= line.items():
                fields = {name: line[name] for name in TrialOutcome.__dataclass_fields__}
                found[line["method"], line["seed"]] = TrialOutcome(**fields)
        return list(found.values())

    def add(
        self, description: Description, target: Target, outcomes: Iterable[TrialOutcome]
    ) -> None:
        """Store outcomes."""
        key = _key(description, target)
        _append(self._outcomes, [{**key, **outcome.to_dict()} for outcome in outcomes])


def _key(description: Description, target: Target) -> dict[str, Any]:
    return {"set": description.name, "stamp": description.stamp, **asdict(target)}


def _lines(path: Path) -> list[dict[str, Any]]:
    """Return the complete lines of a file, without one cut short by an interrupted run."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def _append(path: Path, lines: list[dict[str, Any]]) -> None:
    with path.open("a+", encoding="utf-8") as file:
        file.seek(0, 2)
        cut_short = file.tell() and not path.read_bytes().endswith(b"\n")
        file.write("\n" * bool(cut_short) + "".join(json.dumps(line) + "\n" for line in lines))
