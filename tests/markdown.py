"""README and the docs as the tests read them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def name_of(page):
    return str(page.relative_to(ROOT))


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line where it starts."""

    language: str
    text: str
    line: int


def blocks_of(page):
    found, language, start, lines = [], None, 0, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, start, lines = line[3:].strip(), number, []
        else:
            found.append(Block(language, "\n".join(lines) + "\n", start))
            language = None
    assert language is None, f"{name_of(page)}: the block at line {start} is not closed"
    return found


def prose_of(page):
    """Return a page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def sections_of(page):
    """Return the text below each heading of level 2."""
    parts = re.split(r"^## (.+)$", prose_of(page), flags=re.M)
    return dict(zip([p.replace("`", "") for p in parts[1::2]], parts[2::2], strict=True))


def rows_of(section):
    """Return the rows of the tables in a text, without their header lines."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    rules = [n for n, row in enumerate(rows) if all(re.fullmatch(r":?-+:?", c) for c in row)]
    return [row for n, row in enumerate(rows) if n not in rules and n + 1 not in rules]


def first_name(row):
    """Return what stands in code at the beginning of a row, without its parentheses."""
    return re.match(r"`([^`]+?)(\(\))?`", row[0])[1]


def slug(heading):
    """Return the anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
