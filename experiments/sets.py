"""The sets to measure on: the paper's five, real or generated, and any Parquet files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.matched import GENERATION, generate
from experiments.paper_sets import PAPER_SETS, PaperSet
from experiments.shapes import GENERATION as SHAPED
from experiments.shapes import SHAPES
from headcount.errors import SourceError
from headcount.evaluation.dataset import Dataset, read_dataset

ROOT = Path(__file__).parents[1]
#: Parquet files with user and item, if the folder exists; they are not part of the project.
DATA = ROOT.parent / "shared" / "data"

#: The origin of a generated set of full size.
MATCHED = "generated, matched to the paper's table"
QUICK_FACTOR = 0.1
QUICK_LARGEST = 6_000_000  # bytes of a Parquet file


@dataclass(frozen=True)
class Source:
    """A set by its name, and where it comes from.

    Attributes:
        name: its name in the results.
        origin: where it comes from, in words.
        stamp: changes when the data would, so that results for different data are not mixed.
        read: reads or makes it.
    """

    name: str
    origin: str
    stamp: str
    read: Callable[[], Dataset]


def sources(files: Mapping[str, Path], data: Path | None, *, quick: bool) -> list[Source]:
    """Return all sets: the paper's first, then the Parquet files in a folder."""
    wrong = set(files) - set(PAPER_SETS)
    if wrong:
        raise SourceError(f"there is no set {', '.join(sorted(wrong))}; there are: "
                          f"{', '.join(PAPER_SETS)}")  # fmt: skip
    found = [
        _real(row, files[row.name]) if row.name in files else _matched(row, quick=quick)
        for row in PAPER_SETS.values()
    ]
    for path in sorted(data.glob("*.parquet")) if data is not None else []:
        if not quick or path.stat().st_size <= QUICK_LARGEST:
            found.append(_parquet(path))
    return found


def shapes() -> list[Source]:
    """Return the generated shapes."""
    return [Source(name, "generated", f"shape {SHAPED}", make) for name, make in SHAPES.items()]


def _real(row: PaperSet, path: Path) -> Source:
    return Source(
        row.name,
        f"the real file, {path.name}",
        _stamp(path),
        lambda: read_dataset(row.load(path), user="user", item=["item"]),
    )


def _matched(row: PaperSet, *, quick: bool) -> Source:
    if not quick:
        return Source(
            row.name, MATCHED, f"generated {GENERATION}",
            lambda: generate(row),
        )  # fmt: skip
    small = row.scaled(QUICK_FACTOR)
    return Source(
        row.name, f"generated, {small.users:,} users", f"generated {GENERATION} small",
        lambda: generate(small),
    )  # fmt: skip


def _parquet(path: Path) -> Source:
    return Source(
        path.stem,
        "a Parquet file",
        _stamp(path),
        lambda: read_dataset(path, user="user", item=["item"]),
    )


def _stamp(path: Path) -> str:
    try:
        state = path.stat()
    except OSError as error:
        raise SourceError(f"cannot read {str(path)!r}: {error.strerror}") from None
    return f"{state.st_size} bytes, {state.st_mtime_ns}"
