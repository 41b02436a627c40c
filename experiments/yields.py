"""How many accurate counts each method gets out of a budget: `make yield`.

One table over the generated shapes and the Parquet files in a folder, and the bars that the methods
have to clear. A cell shows the items released · the share of them within the target, in per cent ·
the share whose interval contains the truth · the mean relative error, in per cent, of the fifth of
items whose users have the fewest items, and of the fifth whose users have the most.
"""

import argparse
from pathlib import Path

from experiments import run
from experiments.bars import bars
from experiments.cells import Cells, cells
from experiments.hindsight import BestThreshold, Oracle
from experiments.sets import DATA, ROOT, shapes, sources
from experiments.store import ResultStore
from headcount.evaluation.methods import Method
from headcount.evaluation.plume import Plume, WithThreshold
from headcount.evaluation.release import ReleaseMethod

PLUMES = [WithThreshold(Plume(percentile, "weighted")) for percentile in (95, 99)]
PAPER, *OURS = (ReleaseMethod(name) for name in ("pcr-paper", "pcr", "rationed", "auto"))
ORACLE = Oracle()
METHODS: list[Method] = [PAPER, *PLUMES, BestThreshold(), *OURS, ORACLE]

#: The sets on which constants were chosen. The others served to check them; yelp_5core, steam_games
#: and quotes_author_words did so more than once.
CHOSEN_ON = {
    "book_crossing",
    "debian_description_words",
    "gowalla",
    "imdb_review_words",
    "movielens_1m",
    "movielens_small",
    "one_item_each_1000",
    "one_item_each_30",
    "spamassassin_sender_words",
    "stocktweets_tweet_ticker",
    "two_populations",
}


def table(names: list[str], found: Cells) -> str:
    """Return a table with one line for each set and budget."""
    heads = [method.name for method in METHODS]
    lines = [f"| data | ρ | {' | '.join(heads)} |", f"|---|--:|{'---|' * len(heads)}"]
    for name in names:
        for rho in run.RHOS:
            row = [str(found[name, rho, head]) for head in heads[:-1]]
            row.append(f"{found[name, rho, ORACLE.name].released:,.0f}")
            lines.append(f"| {name} | {rho:g} | {' | '.join(row)} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, then write and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.yields")
    parser.add_argument("--data", type=Path, default=DATA, help="a folder of Parquet files")
    parser.add_argument("--trials", type=int, default=run.TRIALS)
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "yield")
    parser.add_argument("sets", nargs="*", help="names of sets; all if none is given")
    options = parser.parse_args()
    found = shapes()
    if options.data.is_dir():
        files = sources({}, options.data, quick=False)
        found += [source for source in files if source.name in _names(options.data)]
    found = [source for source in found if not options.sets or source.name in options.sets]
    store = ResultStore(options.output)
    descriptions = run.run_all(found, store, options.trials, lambda most_items: METHODS)
    names = [description.name for description in descriptions]
    means = cells(descriptions, store, options.trials, METHODS)
    text = "\n\n".join(
        _part(title, [name for name in names if (name in CHOSEN_ON) is chosen], means)
        for title, chosen in (("Constants were chosen on", True), ("For checking", False))
    )
    text += "\n\nAll together:\n" + _bars(names, means)
    (options.output / "yield.md").write_text(text, encoding="utf-8")
    print(text)


def _part(title: str, names: list[str], means: Cells) -> str:
    if not names:
        return f"{title}: nothing"
    return f"{title}:\n\n{table(names, means)}\n\n{_bars(names, means)}"


def _bars(names: list[str], means: Cells) -> str:
    mine = {key: cell for key, cell in means.items() if key[0] in names}
    ours = [method.name for method in OURS]
    return "".join(f"- {line}\n" for line in bars(mine, ORACLE.name, PAPER.name, ours, ours[-1]))


def _names(data: Path) -> set[str]:
    return {path.stem for path in data.glob("*.parquet")}


if __name__ == "__main__":
    main()
