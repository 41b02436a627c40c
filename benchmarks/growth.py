"""How time and memory grow with the rows, as a picture for docs/explanation/speed.md.

python -m benchmarks.growth                    10⁵ to 10⁷ generated rows, into speed.svg there
python -m benchmarks.growth 100000 100000000   other sizes
"""

import sys
import tempfile
from pathlib import Path

from benchmarks.aggregation import YARDSTICK, Run, in_turns, release
from benchmarks.data import ROOT, generated

PICTURE = ROOT / "docs" / "explanation" / "speed.svg"
SIZES = (10**5, 10**6, 10**7)


def measure(sizes: list[int], rounds: int = 1) -> dict[int, dict[str, Run]]:
    """Return what the plain query, the default method and pcr take at each size."""
    took = {}
    with tempfile.TemporaryDirectory(prefix="headcount-bench-") as folder:
        for rows in sizes:
            path = generated(Path(folder), rows)
            commands = {
                "COUNT(DISTINCT) in DuckDB": [sys.executable, "-c", YARDSTICK, str(path)],
                "headcount release": release(path),
                "headcount release --method pcr": release(path, "--method", "pcr"),
            }
            took[rows] = in_turns(commands, rounds)
            for name, run in took[rows].items():
                print(f"{rows:>13,}  {name}: {run.processor:.2f} s, {run.memory / 1e9:.2f} GB")
    return took


def draw(took: dict[int, dict[str, Run]], path: Path) -> None:
    """Draw processor time and memory over the rows, both logarithmic."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "headcount"  # the same picture for the same numbers
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    sizes = sorted(took)
    for name in took[sizes[0]]:
        left.loglog(sizes, [took[rows][name].processor for rows in sizes], "o-", label=name)
        right.loglog(sizes, [took[rows][name].memory / 1e9 for rows in sizes], "o-")
    left.set(xlabel="rows", ylabel="seconds of processors")
    right.set(xlabel="rows", ylabel="peak memory, GB")
    left.legend(frameon=False, fontsize="small")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    draw(measure([int(size) for size in sys.argv[1:]] or list(SIZES)), PICTURE)
