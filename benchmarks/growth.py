"""How time and memory grow with the rows, as a picture for docs/explanation/speed.md.

python -m benchmarks.growth 100000 1000000    measure these sizes, and draw all measured sizes
python -m benchmarks.growth 100000 --by opendp tumult    the same for other libraries
python -m benchmarks.growth                   only draw

Measurements are kept in growth.json, so that a size that takes hours is measured once. Other
libraries do the job of `experiments.peers`, in the environments that it makes for them.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from website.colours import save_svg

from benchmarks.aggregation import YARDSTICK, Run, in_turns, measured, release
from benchmarks.data import ROOT, ROWS_PER_USER, generated

PICTURE = ROOT / "docs" / "explanation" / "speed.svg"
MEASURED = Path(__file__).with_suffix(".json")
ENVIRONMENTS = ROOT / "results" / "peers" / "environments"
#: From this size on, one run is enough, and a warm-up would take too long.
_LARGE = 10**7
#: How many items of a user count, where a bound is needed: one user in twenty has more rows.
#: `generated` chooses the user of a row by the product of two uniform numbers, so the user at the
#: share u of all users has about ROWS_PER_USER·ln(1/u) rows.
BOUND = round(ROWS_PER_USER * math.log(20))

#: By name and by number of rows: processor seconds, and GB of memory.
Growth = dict[str, dict[str, dict[str, float]]]
#: The label of each line in the picture, in the order of colours.
LINES = {
    "query": "COUNT(DISTINCT) in DuckDB",
    "headcount": "headcount release",
    "pcr": "headcount release --method pcr",
    "opendp": "OpenDP, Polars context",
    "tumult": "Tumult Analytics, local Spark",
}
OURS = ("query", "headcount", "pcr")
#: The marker of each line, for readers who cannot tell the colours apart.
_MARKS = "os^Dv"


def measure(growth: Growth, rows: int, who: Sequence[str]) -> None:
    """Measure some of the lines at a size, and add the figures."""
    with tempfile.TemporaryDirectory(prefix="headcount-bench-") as folder:
        path = generated(Path(folder), rows)
        commands = {
            "query": [sys.executable, "-c", YARDSTICK, str(path)],
            "headcount": release(path),
            "pcr": release(path, "--method", "pcr"),
        }
        mine = {name: commands[name] for name in who if name in OURS}
        if rows < _LARGE:
            took = in_turns(mine, 3)
        else:
            took = {name: measured(words) for name, words in mine.items()}
        for name in who:
            if name not in OURS:
                took[name] = by_another(name, path)
    for name, run in took.items():
        figures = {"seconds": round(run.processor, 2), "gigabytes": round(run.memory / 1e9, 2)}
        growth.setdefault(LINES[name], {})[str(rows)] = figures
        print(f"{rows:>13,}  {LINES[name]}: {figures}", flush=True)


def by_another(runner: str, path: Path) -> Run:
    """Return what another library takes with the same budget as `release`."""
    # Imported late: a child's peak memory is at least its parent's, and the query takes little.
    from experiments.peers.measure import command, job_on
    from experiments.peers.tools import TOOLS

    from headcount import Budget

    (tool,) = (tool for tool in TOOLS if tool.runner == runner)
    job = job_on(path, Budget(rho=1), BOUND)
    asked = command(tool, runner, job, path.with_suffix(".json"), ENVIRONMENTS)
    return measured(*asked, folder=path.parent)  # Spark leaves files behind where it runs


def draw(growth: Growth, path: Path) -> None:
    """Draw processor time and memory against rows, on logarithmic axes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "headcount"  # the same numbers give the same picture
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes: dict[str, Any] = dict(zip(("seconds", "gigabytes"), figure.subplots(1, 2), strict=True))
    for place, name in enumerate(LINES.values()):
        sizes = growth.get(name, {})
        rows = sorted(map(int, sizes))
        if not rows:
            continue
        for what, axis in axes.items():
            figures = [sizes[str(size)][what] for size in rows]
            axis.loglog(rows, figures, f"C{place}{_MARKS[place]}-", label=name)
    axes["seconds"].set(xlabel="rows", ylabel="seconds of processors")
    axes["gigabytes"].set(xlabel="rows", ylabel="peak memory, GB")
    lines = axes["seconds"].get_lines()
    figure.legend(handles=lines, loc="outside upper center", ncols=3, frameon=False)
    save_svg(figure, path, {"Date": None})


def main() -> None:
    """Measure the given sizes, and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("sizes", nargs="*", type=int, metavar="ROWS")
    known = f"some of {', '.join(LINES)} [default: {', '.join(OURS)}]"
    parser.add_argument("--by", nargs="+", choices=LINES, default=OURS, metavar="LINE", help=known)
    options = parser.parse_args()
    growth: Growth = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}
    for size in options.sizes:
        measure(growth, size, options.by)
        MEASURED.write_text(json.dumps(growth, indent=1) + "\n", "utf-8")
    draw(growth, PICTURE)


if __name__ == "__main__":
    main()
