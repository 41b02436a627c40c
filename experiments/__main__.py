"""Run the comparison and write its tables, figures and takeaways."""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

from experiments import figures, run, tables, takeaways
from experiments.paper_sets import PAPER_SETS
from experiments.sets import DATA, ROOT, sources
from experiments.store import ResultStore
from headcount.errors import HeadcountError, SettingsError
from headcount.evaluation.methods import Method
from headcount.evaluation.partition_selection import SELECTIONS
from headcount.evaluation.summary import summarise
from headcount.evaluation.trials import standard_methods


def main() -> None:
    """Read the options and run the comparison."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("sets", nargs="*",
                        help=f"names of sets: {', '.join(PAPER_SETS)}, and the files of --data "
                        "without their ending [default: all]")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="small sets and few trials")
    parser.add_argument("--file", action="append", default=[], metavar="SET=PATH",
                        help="the real file of one of the paper's sets")  # fmt: skip
    parser.add_argument("--data", type=Path, help="a folder of Parquet files with user and item")
    parser.add_argument("--selection", choices=list(SELECTIONS), default="weighted",
                        help="how Plume finds items")  # fmt: skip
    parser.add_argument("--trials", type=int,
                        help=f"independent trials of each method [default: {run.TRIALS}, with "
                        f"--quick {run.QUICK_TRIALS}]")  # fmt: skip
    parser.add_argument("--output", type=Path,
                        help="a folder for the results [default: results/paper, with --quick "
                        "results/paper-quick]")  # fmt: skip
    options = parser.parse_args()
    if find_spec("matplotlib") is None:
        parser.error("the figures need matplotlib; `make paper` installs it")
    if options.data is not None and not options.data.is_dir():
        parser.error(f"there is no folder {str(options.data)!r}")
    if options.trials is not None and options.trials < 1:
        parser.error("--trials must be at least 1")
    if not all("=" in one for one in options.file):
        parser.error("--file takes SET=PATH, for instance finance=finance.csv")
    try:
        experiment(options)
    except HeadcountError as error:
        parser.error(str(error))


def experiment(options: argparse.Namespace) -> None:
    """Run what is missing, then write all results."""
    data = options.data or (DATA if DATA.is_dir() else None)
    files = {name: Path(path) for name, _, path in (one.partition("=") for one in options.file)}
    found = sources(files, data, quick=options.quick)
    unknown = set(options.sets) - {source.name for source in found}
    if unknown:
        raise SettingsError(f"there is no set {', '.join(sorted(unknown))}; "
                            f"there are: {', '.join(source.name for source in found)}")  # fmt: skip
    found = [source for source in found if not options.sets or source.name in options.sets]
    for source in found:
        print(f"{source.name}: {source.origin}", file=sys.stderr)
    output = options.output or ROOT / "results" / ("paper-quick" if options.quick else "paper")
    trials = options.trials or (run.QUICK_TRIALS if options.quick else run.TRIALS)
    store = ResultStore(output)

    def methods_for(most_items: int) -> list[Method]:
        return standard_methods(most_items, options.selection)

    descriptions = run.run_all(found, store, trials, methods_for)
    results = {}
    for description in descriptions:
        names = [method.name for method in methods_for(description.most_items)]
        outcomes = [
            outcome
            for target in run.targets()
            for outcome in sorted(store.outcomes(description, target), key=lambda o: o.seed)
            if outcome.seed < trials and outcome.method in names
        ]
        outcomes.sort(key=lambda o: (o.rho, names.index(o.method)))
        results[description.name] = summarise(outcomes)
        figures.draw(description.name, description.origin, results[description.name], output)
    (output / "results.csv").write_text(tables.to_csv(results), encoding="utf-8")
    table = tables.to_markdown(descriptions, results)
    (output / "results.md").write_text(table, encoding="utf-8")
    page = takeaways.page(descriptions, results, options.selection)
    (output / "takeaways.md").write_text(page, encoding="utf-8")
    print(f"Written to {output}: results.csv, results.md, takeaways.md and a figure for each set.")


if __name__ == "__main__":
    main()
