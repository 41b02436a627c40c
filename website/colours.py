"""Charts that follow the page's colour scheme, light or dark.

Matplotlib draws for a white page and knows no other. What it drew stays as it is; in the dark, a
style sheet inside the picture repaints each of its colours.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What each colour becomes in the dark. The first two are paper and ink; the paper is that of the
#: site's own dark pages. Letters have no colour of their own, and get that of the ink.
PAPER, INK = "#ffffff", "#000000"
DARK = {
    PAPER: "#1e2129",
    INK: "#e2e4e9",
    "#37474f": "#b0bec5",  # arrows
    "#e0f2f1": "#12403b",  # boxes with text in them
    "#00796b": "#4db6ac",
    "#8a8d91": "#9aa0a6",
    "#c2410c": "#ff8a50",
    "#1f77b4": "#6cb4ee",
    "#ff7f0e": "#ffa14f",
    "#2ca02c": "#6fcf6f",
    "#d62728": "#ff8080",
    "#9467bd": "#c3a3e8",
}
_END_OF_STYLE = "</style>"


def save_svg(figure: "Figure", path: Path, about: Mapping[str, str | None]) -> None:
    """Write a figure as SVG in both colour schemes, with what is said about it."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg", metadata=dict(about))
    path.write_text(in_both_schemes(drawn.getvalue().decode()), encoding="utf-8")


def in_both_schemes(svg: str) -> str:
    """Return a picture of Matplotlib's with a style sheet for dark pages."""
    rules = [f"svg{{fill: {DARK[INK]}}}"]
    rules += [
        f'[style*="{kind}: {colour}"]{{{kind}: {other} !important}}'
        for colour, other in DARK.items()
        for kind in ("fill", "stroke")
        if f"{kind}: {colour}" in svg
    ]
    dark = "\n".join(["", "@media (prefers-color-scheme: dark) {", *rules, "}"])
    return svg.replace(_END_OF_STYLE, dark + _END_OF_STYLE, 1)
