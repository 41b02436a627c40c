"""Run the comparison and write its table, figures and takeaways."""

import argparse
import sys
from pathlib import Path

from experiments import figures, run, tables, takeaways
from experiments.sets import DATA, ROOT, sources
from experiments.store import Store
from headcount.compare.partition_selection import SELECTIONS
from headcount.compare.summary import summarise
from headcount.compare.trials import standard_methods
from headcount.errors import HeadcountError


def main() -> None:
    """Read the options and do what they ask for."""
    parser = argparse.ArgumentParser(prog="python -m experiments")
    parser.add_argument("sets", nargs="*", help="names of sets; all if none is given")
    parser.add_argument("--quick", action="store_true", help="small sets and few trials")
    parser.add_argument("--file", action="append", default=[], metavar="SET=PATH",
                        help="the real file of one of the paper's sets")  # fmt: skip
    parser.add_argument("--data", type=Path, help="a folder of Parquet files with user and item")
    parser.add_argument("--selection", choices=list(SELECTIONS), default="weighted",
                        help="how Plume finds items")  # fmt: skip
    parser.add_argument("--trials", type=int, help="independent trials of each method")
    parser.add_argument("--output", type=Path, help="a folder for the results")
    options = parser.parse_args()
    try:
        experiment(options)
    except HeadcountError as error:
        sys.exit(f"experiments: {error}")


def experiment(options: argparse.Namespace) -> None:
    """Run what is missing, then write everything down."""
    data = options.data or (DATA if DATA.is_dir() else None)
    files = {name: Path(path) for name, _, path in (one.partition("=") for one in options.file)}
    found = sources(files, data, quick=options.quick)
    unknown = set(options.sets) - {source.name for source in found}
    if unknown:
        sys.exit(f"experiments: there is no set {', '.join(sorted(unknown))}; "
                 f"there are: {', '.join(source.name for source in found)}")  # fmt: skip
    found = [source for source in found if not options.sets or source.name in options.sets]
    for source in found:
        print(f"{source.name}: {source.origin}", file=sys.stderr)
    output = options.output or ROOT / "results" / ("paper-quick" if options.quick else "paper")
    trials = options.trials or (run.QUICK_TRIALS if options.quick else run.TRIALS)
    store = Store(output)
    descriptions = run.run_all(found, store, trials, options.selection)
    results = {}
    for description in descriptions:
        names = [m.name for m in standard_methods(description.most_items, options.selection)]
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
