"""How time and memory grow with the rows, as a picture for docs/explanation/speed.md.

python -m benchmarks.growth 100000 1000000   measure these sizes, and draw all that were measured
python -m benchmarks.growth                  draw

What was measured is kept in growth.json, so that a size that takes hours is measured once.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from website.colours import save_svg

from benchmarks.aggregation import YARDSTICK, in_turns, measured, release
from benchmarks.data import ROOT, generated

PICTURE = ROOT / "docs" / "explanation" / "speed.svg"
MEASURED = Path(__file__).with_suffix(".json")
#: From here on one run says enough, and a warm-up takes too long.
_LARGE = 10**7

#: By name and by the number of rows: seconds of processors, and GB of memory.
Growth = dict[str, dict[str, dict[str, float]]]


def measure(growth: Growth, rows: int) -> None:
    """Add what the plain query, the default method and pcr take at a size."""
    with tempfile.TemporaryDirectory(prefix="headcount-bench-") as folder:
        path = generated(Path(folder), rows)
        commands = {
            "COUNT(DISTINCT) in DuckDB": [sys.executable, "-c", YARDSTICK, str(path)],
            "headcount release": release(path),
            "headcount release --method pcr": release(path, "--method", "pcr"),
        }
        if rows < _LARGE:
            took = in_turns(commands, 3)
        else:
            took = {name: measured(command) for name, command in commands.items()}
    for name, run in took.items():
        figures = {"seconds": round(run.processor, 2), "gigabytes": round(run.memory / 1e9, 2)}
        growth.setdefault(name, {})[str(rows)] = figures
        print(f"{rows:>13,}  {name}: {figures}", flush=True)


def draw(growth: Growth, path: Path) -> None:
    """Draw processor time and memory over the rows, both logarithmic."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "headcount"  # the same picture for the same numbers
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes: dict[str, Any] = dict(zip(("seconds", "gigabytes"), figure.subplots(1, 2), strict=True))
    for name, sizes in growth.items():
        rows = sorted(map(int, sizes))
        for what, axis in axes.items():
            axis.loglog(rows, [sizes[str(size)][what] for size in rows], "o-", label=name)
    axes["seconds"].set(xlabel="rows", ylabel="seconds of processors")
    axes["gigabytes"].set(xlabel="rows", ylabel="peak memory, GB")
    axes["seconds"].legend(frameon=False, fontsize="small")
    save_svg(figure, path, {"Date": None})


def main() -> None:
    """Measure the sizes that were given, and draw."""
    growth: Growth = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}
    for size in map(int, sys.argv[1:]):
        measure(growth, size)
        MEASURED.write_text(json.dumps(growth, indent=1) + "\n", "utf-8")
    draw(growth, PICTURE)


if __name__ == "__main__":
    main()
