"""The table of the comparison, in the page about it."""

import re
from collections.abc import Iterator, Sequence

from experiments.peers.measure import BOUNDS, ROOT, Events, Results, Run
from experiments.peers.tools import TOOLS, Tool

PAGE = ROOT / "docs" / "explanation" / "compared.md"
MARKED = re.compile(r"(?<=<!-- measured -->\n).*(?=<!-- end -->)", flags=re.S)


def write(results: Results, events: Events) -> None:
    """Replace what stands between the marks of the page."""
    lines = [*summary(results, events), "", *choices(), "", *every_bound(results, events)]
    text = PAGE.read_text(encoding="utf-8")
    new, times = MARKED.subn(lambda _: "\n" + "\n".join(lines) + "\n\n", text)
    if times != 1:
        raise ValueError(f"{PAGE.name} has no place for the table")
    PAGE.write_text(new, encoding="utf-8")


def summary(results: Results, events: Events) -> Iterator[str]:
    """Yield the main table: each tool with the guess and with its best bound."""
    dates = sorted({run.date for run in results.runs})
    measured = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    yield f"Measured on {measured}. The data: {events.shape}."
    yield ""
    yield "| Tool | Bound | Released | Within 10 % | Processor seconds | Choices |"
    yield "|---|---|--:|--:|--:|--:|"
    for tool in TOOLS:
        if failure := results.failed(tool):
            yield f"| {tool.name} | | {failure} | | | {len(tool.choices)} |"
        elif not tool.requirements:
            yield row(tool, "none", results.of(tool, None))
        else:
            yield row(tool, f"{events.guess}, a guess", results.of(tool, events.guess))
            if best := results.best_bound(tool):
                yield row(tool, f"{best}, the best in hindsight", results.of(tool, best))


def row(tool: Tool, bound: str, runs: Sequence[Run]) -> str:
    """Return a row: means of the counts, and the shortest time."""
    good = [run for run in runs if not run.failure]
    if not good:
        return f"| {tool.name} | {bound} | {runs[0].failure} | | | {len(tool.choices)} |"
    released = sum(run.released for run in good) / len(good)
    accurate = sum(run.accurate for run in good) / len(good)
    times = "1 run" if len(good) == 1 else f"{len(good)} runs"
    seconds = min((run.seconds for run in good if run.seconds), default=None)
    time = "not measured" if seconds is None else f"{seconds:.0f}"
    share = f" ({accurate / released:.0%})" if released else ""
    return (
        f"| {tool.name} {good[0].version} | {bound} ({times}) | {released:,.0f} "
        f"| {accurate:,.0f}{share} | {time} | {len(tool.choices)} |"
    )


def choices() -> Iterator[str]:
    """Yield what the user of each tool decides besides ε and δ, and how the tool was used."""
    yield "What a user decides besides ε, δ and the columns, and how each tool was used:"
    yield ""
    for tool in TOOLS:
        decided = ", ".join(tool.choices) or "nothing"
        yield f"- **{tool.name}**: {decided}. Used with {tool.noise}."


def every_bound(results: Results, events: Events) -> Iterator[str]:
    """Yield the second table: how many counts are accurate with each bound."""
    bounds = sorted({events.guess, *BOUNDS})
    yield "How many counts were accurate with each bound, in the first run with it:"
    yield ""
    yield f"| Tool | {' | '.join(map(str, bounds))} |"
    yield f"|---|{'--:|' * len(bounds)}"
    for tool in TOOLS:
        if tool.requirements and not results.failed(tool):
            cells = [first_of(results.of(tool, bound)) for bound in bounds]
            yield f"| {tool.name} | {' | '.join(cells)} |"


def first_of(runs: Sequence[Run]) -> str:
    """Return how many counts were accurate in the first run, as a cell."""
    if not runs:
        return "not run"
    return "failed" if runs[0].failure else f"{runs[0].accurate:,}"
