"""What MkDocs does not do by itself: pages from outside `docs/`, and the menu.

The pages link to proofs, source files and the changelog, which lie elsewhere in the repository.
Each file that is linked becomes a page of the site, and links are rewritten to it, so that the
site needs no code host. The notebook becomes a page too. A link that leads nowhere is a warning,
and `--strict` fails on it. The menu follows the index, `docs/README.md`.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from website.notebook import NOTEBOOK, as_markdown

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
API = "reference/api.md"
LINK = re.compile(r"(?<=\]\()(?!https?://|#)([^)#\s]+)")
FENCED = re.compile(r"^(```+).*?^\1$", flags=re.M | re.S)
log = get_plugin_logger("headcount")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Make the menu from the index: a heading is a section, and a link is a page."""
    sections = re.split(r"^## (.+)$", (DOCS / "README.md").read_text(encoding="utf-8"), flags=re.M)
    menu: list[dict[str, Any]] = [{"Home": "README.md"}]
    for heading, text in zip(sections[1::2], sections[2::2], strict=True):
        pages = [
            {title.replace("`", ""): site_path(DOCS / link)}
            for title, link in re.findall(r"\[([^\]]+)\]\(([^)#]+)\)", text.replace("\n", " "))
        ]
        if heading == "Reference":
            pages.append({"Python, generated from the code": API})
        menu.append({re.sub(r"\s+", " ", heading): pages})
    config.nav = menu
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each linked file outside of `docs/`, and one for the Python interface."""
    waiting, added = [DOCS / file.src_uri for file in files.documentation_pages()], set[Path]()
    while waiting:
        page = waiting.pop()
        for target in linked(page):
            if target.is_file() and not target.is_relative_to(DOCS) and target not in added:
                added.add(target)
                waiting += [target] if target.suffix == ".md" else []
                path = site_path(target)
                files.append(File.generated(config, path, content=content_of(target)))
    files.append(File.generated(config, API, content=api_page()))
    files.append(File.generated(config, site_path(NOTEBOOK), content=as_markdown(NOTEBOOK)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Let links lead to the pages that stand for files."""
    source = ORIGINALS.get(page.file.src_uri, DOCS / page.file.src_uri)

    def rewritten(match: re.Match[str]) -> str:
        target = resolved(source, match[1])
        if not target.is_file():
            if match[1] not in (API.rpartition("/")[2], API):
                log.warning("%s links to %s, which is not there", page.file.src_uri, match[1])
            return match[1]
        here = PurePosixPath(page.file.src_uri).parent
        return os.path.relpath(site_path(target), here)

    parts, end = [], 0
    for block in FENCED.finditer(markdown):  # what looks like a link in code is code
        parts += [LINK.sub(rewritten, markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, LINK.sub(rewritten, markdown[end:])])


#: The file that a page stands for, by the page's path in the site.
ORIGINALS: dict[str, Path] = {}


def site_path(file: Path) -> str:
    """Return where a file of the repository is in the site."""
    file = Path(os.path.normpath(file))
    if file == NOTEBOOK:
        ORIGINALS["notebook.md"] = file
        return "notebook.md"
    if file.is_relative_to(DOCS):
        return file.relative_to(DOCS).as_posix()
    inner = file.relative_to(ROOT).as_posix()
    if inner == "README.md":
        path = "about.md"
    elif file.suffix == ".md":
        stem = file.stem if file.stem != "README" else file.parent.name
        path = f"{'proofs' if inner.startswith('src/') else 'project'}/{stem.lower()}.md"
    else:
        path = f"source/{inner}.md"
    ORIGINALS[path] = file
    return path


def content_of(file: Path) -> str:
    """Return the page that stands for a file."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return text
    inner = file.relative_to(ROOT).as_posix()
    return f"---\nsearch:\n  exclude: true\n---\n\n# {inner}\n\n````python\n{text}````\n"


def api_page() -> str:
    """Return a page with the docstrings of all that is public."""
    import headcount

    named = [name for name in headcount.__all__ if not name.startswith("_")]
    parts = [f"## headcount.{name}\n\n::: headcount.{name}\n" for name in named]
    return "# Python, generated from the code\n\n" + "\n".join(parts)


def linked(page: Path) -> Iterator[Path]:
    """Return the files that a page links to."""
    for target in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        yield resolved(page, target)


def resolved(page: Path, target: str) -> Path:
    """Return the file that a link of a page leads to."""
    return Path(os.path.normpath(page.parent / target))
