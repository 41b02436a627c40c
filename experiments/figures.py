"""A figure for each set, in the paper's layout: results released, and how many are too far off."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.evaluation.summary import SummaryRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {
    "pcr-paper": "#1f4e79",
    "pcr": "#5b9bd5",
    "rationed": "#7030a0",
    "auto": "#b48ccf",
    "plume": "#c55a11",
    "plume-threshold": "#f4b183",
    "gaussian-threshold": "#548235",
    "laplace-threshold": "#a9d18e",
}


def draw(name: str, origin: str, rows: Sequence[SummaryRow], folder: Path) -> None:
    """Draw the 95th percentile above the 99th, and write the figure as SVG and PNG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "headcount"  # the same figure gives the same file
    figure = Figure(figsize=(9, 7), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey="col")
    for percentile, (left, right) in zip((95, 99), axes, strict=True):
        chosen = _chosen(rows, percentile)
        _bars(left, chosen, [(row.released, row.released_spread or 0.0) for row in chosen])
        off = [(100 * (row.beyond or 0.0), 100 * (row.beyond_spread or 0.0)) for row in chosen]
        _bars(right, chosen, off)
        left.set_yscale("symlog", linthresh=10)
        left.set_ylim(0, 2 * max(row.released for row in rows) + 10)
        left.set_ylabel("results released")
        left.set_title(f"Plume with the {percentile}th percentile", fontsize="medium", loc="left")
        right.set_ylabel("% of them beyond 10 %")
        right.axhline(10, color="grey", linewidth=0.8, linestyle=":")
        right.set_ylim(0, 100)
    for axis in axes[1]:
        axis.set_xlabel("ρ")
    figure.suptitle(f"{name} ({origin})")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=110)


def _chosen(rows: Sequence[SummaryRow], percentile: int) -> list[SummaryRow]:
    other = {95: "-99", 99: "-95"}[percentile]
    return [row for row in rows if other not in row.method]


def _bars(
    axis: "Axes", chosen: Sequence[SummaryRow], values: Sequence[tuple[float, float]]
) -> None:
    rhos = sorted({row.rho for row in chosen})
    methods = list(dict.fromkeys(row.method for row in chosen))
    width = 0.8 / len(methods)
    for number, method in enumerate(methods):
        own = [(rhos.index(row.rho), *value) for row, value in zip(chosen, values, strict=True)
               if row.method == method]  # fmt: skip
        places = [place - 0.4 + (number + 0.5) * width for place, _, _ in own]
        label = method.replace("-95", "").replace("-99", "")
        axis.bar(
            places,
            [height for _, height, _ in own],
            width,
            yerr=[spread for _, _, spread in own],
            color=_COLOURS.get(label, "grey"),
            error_kw={"linewidth": 0.8},
            label=label,
        )
    axis.set_xticks(range(len(rhos)), [f"{rho:g}" for rho in rhos])
