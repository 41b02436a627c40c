"""The charts of the pages: `make charts` measures what they show, and draws them.

    python -m website.charts            # measure again (two minutes), then draw
    python -m website.charts --draw     # draw what was measured

What is measured is kept beside the charts, as CSV, and each chart carries the hash of the table
that it is drawn from: a test compares them. All data is made up and seeded; nothing here is a
release.
"""

import argparse
import csv
import hashlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from website.colours import save_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from headcount.evaluation.dataset import Dataset

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SHOWN = 25
SEEDS = 3
PAPER, AUTO, TRUTH = "#8a8d91", "#00796b", "#c2410c"
Table = list[dict[str, str]]


# --- what is measured -----------------------------------------------------------------------------


def measure_demo() -> Iterator[dict[str, object]]:
    """Yield the first films of a seeded run of the demo, with the truth."""
    import headcount
    from headcount.demo import made_up_events

    events = made_up_events()
    budget = headcount.Budget(rho=1)
    made = headcount.release(events, user="user_id", item="film", budget=budget, unsafe_seed=1)
    first = made.table.slice(0, SHOWN).to_pylist()
    distinct = events.group_by(["user_id", "film"]).aggregate([])
    counted = distinct.group_by("film").aggregate([([], "count_all")])
    truth = dict(zip(counted["film"].to_pylist(), counted["count_all"].to_pylist(), strict=True))
    for row in first:
        lower, upper = round(row["lower"]), round(row["upper"])
        yield {"film": row["film"], "count": row["count"], "lower": lower, "upper": upper,
               "true": truth[row["film"]]}  # fmt: skip


def measure_accurate() -> Iterator[dict[str, object]]:
    """Yield how many accurate counts the paper's settings and the default release."""
    from experiments.shapes import SHAPES

    from headcount.demo import made_up_events
    from headcount.evaluation.dataset import read_dataset
    from headcount.evaluation.methods import Target
    from headcount.evaluation.release import ReleaseMethod

    demo = read_dataset(made_up_events(), user="user_id", item=["film"])
    asked: list[tuple[str, Dataset, float]] = [
        *((f"the demo, ρ = {rho:g}", demo, rho) for rho in (0.1, 0.5, 1.0)),
        ("300 people, ρ = 1", SHAPES["few_users"](), 1.0),
        ("light and heavy users, ρ = 1", SHAPES["two_populations"](), 1.0),
        ("50,000 people, ρ = 1", SHAPES["tastes_by_size"](), 1.0),
    ]
    for name, dataset, rho in asked:
        for method in ("pcr-paper", "auto"):
            released, within = [], []
            for seed in range(SEEDS):
                rng = np.random.default_rng(seed)
                made = ReleaseMethod(method).run(dataset, Target(rho, 1e-6, 0.1), rng)
                true = dataset.counts[made.items]
                released.append(len(made.items))
                within.append(int((np.abs(made.counts - true) <= 0.1 * true).sum()))
            yield {"data": name, "method": method, "released": round(np.mean(released)),
                   "accurate": round(np.mean(within))}  # fmt: skip


# --- what is drawn --------------------------------------------------------------------------------


def draw_demo(axes: "Axes", rows: Table) -> None:
    """Draw released counts with their intervals, and the truth."""
    place = np.arange(len(rows))
    counts = np.array([int(row["count"]) for row in rows])
    low = counts - np.array([int(row["lower"]) for row in rows])
    high = np.array([int(row["upper"]) for row in rows]) - counts
    axes.errorbar(place, counts, [low, high], fmt="o", color=AUTO, markersize=3, linewidth=2,
                  label="released, with its 95 % interval")  # fmt: skip
    truth = [int(row["true"]) for row in rows]
    axes.scatter(place, truth, marker="_", s=130, color=TRUTH, zorder=3, label="true count")
    axes.set_yscale("log")
    axes.set_yticks([3000, 10_000, 30_000], ["3,000", "10,000", "30,000"])
    axes.set_ylim(2400, 34_000)
    axes.minorticks_off()
    axes.set_xticks(place, [row["film"].removeprefix("film ") for row in rows], fontsize=8)
    axes.set_xlabel("film")
    axes.set_ylabel("people who watched it")
    axes.legend(frameon=False)


def draw_accurate(axes: "Axes", rows: Table) -> None:
    """Draw how many counts are within 10 % of the truth, by method."""
    names = list(dict.fromkeys(row["data"] for row in rows))[::-1]
    for shift, method, colour, label in (
        (0.2, "pcr-paper", PAPER, "the paper's settings"),
        (-0.2, "auto", AUTO, "headcount's default"),
    ):
        found = {row["data"]: int(row["accurate"]) for row in rows if row["method"] == method}
        values = [found[name] for name in names]
        bars = axes.barh(np.arange(len(names)) + shift, values, 0.38, color=colour, label=label)
        axes.bar_label(bars, [f"{value:,}" for value in values], padding=3, fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("released counts within 10 % of the truth (mean of 3 runs)")
    axes.margins(x=0.12)
    axes.legend(frameon=False, loc="upper right")


def draw_ration(axes: "Axes", _: Table) -> None:
    """Draw for how much one person counts, by how many items they have (rationed.md)."""
    items = np.geomspace(1, 1000, 200)
    for allowed, style in ((10, "-"), (50, "--"), (200, ":")):
        share = np.minimum(1, np.sqrt(allowed / items))
        axes.plot(items, share, style, color=AUTO, label=f"a ration of {allowed} items")
    bound = np.where(items <= 50, 1, 50 / items)
    axes.plot(items, bound, color=PAPER, label="a contribution bound of 50: items are dropped")
    axes.set_xscale("log")
    axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    axes.set_xlabel("items that a person has")
    axes.set_ylabel("for how much each of them counts")
    axes.set_ylim(0, 1.05)
    axes.legend(frameon=False)


def draw_default(axes: "Axes", _: Table) -> None:
    """Draw what the default does, step by step."""
    steps = {
        (0.13, 0.5): "A look\n\nnoisy counts at a few ranks,\nnoisy sizes of people's lists",
        (0.42, 0.5): "A choice\n\nforecast both methods\nfrom the look alone",
        (
            0.72,
            0.8,
        ): "Vetted selection (pcr)\n\nnominate in secret,\nname what passes a noisy test,\n"
        "measure around N/2",
        (0.72, 0.2): "Rationed release\n\nfind items by weights,\ngive each person one ration,\n"
        "count, put back what was lost",
        (0.94, 0.5): "A table\n\nestimates,\nintervals",
    }
    box = {"boxstyle": "round,pad=0.6", "facecolor": "#e0f2f1", "edgecolor": AUTO}
    for (x, y), text in steps.items():
        axes.text(x, y, text, ha="center", va="center", fontsize=9, bbox=box)
    arrow = {"arrowstyle": "->", "color": "#37474f"}
    for start, end in (((0.255, 0.5), (0.315, 0.5)), ((0.525, 0.58), (0.585, 0.75)),
                       ((0.525, 0.42), (0.585, 0.25)), ((0.85, 0.75), (0.905, 0.62)),
                       ((0.85, 0.25), (0.905, 0.38))):  # fmt: skip
        axes.annotate("", end, start, arrowprops=arrow)
    axes.set_axis_off()
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)


Drawing = tuple[Callable[["Axes", Table], None], tuple[float, float], str]
#: Each chart: what draws it, its size in inches, and its title.
CHARTS: dict[str, Drawing] = {
    "demo": (draw_demo, (8, 3.6), "The 25 most watched films of the demo, ρ = 1"),
    "accurate": (draw_accurate, (8, 3.8), "How many accurate counts the same budget buys"),
    "ration": (draw_ration, (6.5, 3.2), "A ration keeps all of a person's items"),
    "default": (draw_default, (10, 3.4), ""),
}
MEASURED = {"demo": measure_demo, "accurate": measure_accurate}


def table_of(name: str) -> tuple[Table, str]:
    """Return what a chart shows, and the hash of it."""
    text = (IMAGES / f"{name}.csv").read_text(encoding="utf-8") if name in MEASURED else ""
    return list(csv.DictReader(io.StringIO(text))), hashlib.sha256(text.encode()).hexdigest()[:16]


def draw(name: str) -> None:
    """Draw a chart as SVG, the same file for the same table."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = name
    mpl.rcParams["svg.fonttype"] = "path"  # it looks the same everywhere
    drawn, size, title = CHARTS[name]
    rows, known_by = table_of(name)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    drawn(axes, rows)
    if title:
        axes.set_title(title, fontsize="medium", loc="left")
    about = {"Date": None, "Creator": None, "Description": f"drawn from {known_by}"}
    save_svg(figure, IMAGES / f"{name}.svg", about)


def measure(name: str) -> None:
    """Measure what a chart shows, and keep it."""
    rows = list(MEASURED[name]())
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    (IMAGES / f"{name}.csv").write_text(out.getvalue(), encoding="utf-8")


def main() -> None:
    """Measure, unless told not to, and draw."""
    parser = argparse.ArgumentParser(prog="python -m website.charts")
    parser.add_argument("--draw", action="store_true", help="draw what was measured before")
    if not parser.parse_args().draw:
        for name in MEASURED:
            measure(name)
    for name in CHARTS:
        draw(name)


if __name__ == "__main__":
    main()
