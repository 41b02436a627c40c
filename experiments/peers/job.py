"""What every tool is asked to do. It runs in the tool's environment: standard library only."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path


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


def answer(release: Callable[[Job], dict[str, float]], package: str) -> None:
    """Do the job given as the first argument, and write counts to the file that is the second."""
    job = Job(**json.loads(sys.argv[1]))
    counts = release(job)
    made = {"version": version(package), "counts": counts}
    Path(sys.argv[2]).write_text(json.dumps(made), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # some leave threads behind that are never joined
