"""Install the tools, run what was not run yet, and write the table into the page."""

import argparse
import sys
from pathlib import Path

from experiments.peers import measure, page
from experiments.peers.tools import TOOLS


def main() -> None:
    """Read the options and do what they ask for."""
    parser = argparse.ArgumentParser(prog="python -m experiments.peers")
    parser.add_argument("tools", nargs="*", metavar="TOOL",
                        help=f"some of {', '.join(t.runner for t in TOOLS)}; all if none is "
                        "given. Runs that are there already are kept")  # fmt: skip
    parser.add_argument("--folder", type=Path, default=measure.ROOT / "results" / "peers",
                        help="for environments and results [default: results/peers]")  # fmt: skip
    parser.add_argument("--bounds", type=int, nargs="+", default=measure.BOUNDS, metavar="N",
                        choices=measure.BOUNDS, help="fewer bounds, for a slow tool")  # fmt: skip
    parser.add_argument("--runs", type=int, default=measure.RUNS, metavar="N",
                        help="how often the guess and the best bound are run "
                        f"[default: {measure.RUNS}]")  # fmt: skip
    parser.add_argument("--table", action="store_true", help="run nothing; only write the table")
    options = parser.parse_args()
    unknown = set(options.tools) - {tool.runner for tool in TOOLS}
    if unknown:
        parser.error(f"no such tool: {', '.join(sorted(unknown))}")
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    events = measure.make_events(folder)
    results = measure.Results(folder / "results.json")
    for tool in TOOLS:
        if options.table or (options.tools and tool.runner not in options.tools):
            continue
        for bound in measure.plan(tool, results, events, options.bounds, options.runs):
            done = measure.run(tool, bound, events, folder / "environments")
            results.add(done)
            print(done, file=sys.stderr)
    if all(any(run.tool == tool.name for run in results.runs) for tool in TOOLS):
        page.write(results, events)


if __name__ == "__main__":
    main()
