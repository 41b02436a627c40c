"""The notebook of the documentation: run again, and as a page of the site.

python -m website.notebook    # run docs/notebook.ipynb, and keep what it shows
"""

import json
import tempfile
import textwrap
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent.parent / "docs" / "notebook.ipynb"
# Pixels cannot be repainted one colour at a time: on dark pages light and dark change places, and
# hues stay. 0.87 turns white into the dark of these pages.
_DARK_PICTURE = (
    "<style>[data-md-color-scheme=slate] img.drawn{filter: invert(.87) hue-rotate(180deg)}</style>"
)


def run() -> None:
    """Run all cells in a fresh kernel, and write what they show into the notebook."""
    import nbclient

    nbformat: Any = import_module("nbformat")  # which has no types
    book = nbformat.read(NOTEBOOK, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = nbclient.NotebookClient(book, timeout=600, kernel_name="python3",
                                         resources={"metadata": {"path": folder}})  # fmt: skip
        client.execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)  # when it ran
    book.metadata.pop("language_info", None)  # and with which Python
    nbformat.write(book, NOTEBOOK)


def as_markdown(notebook: Path) -> str:
    """Return a notebook as the text of a page: its cells, and what stands below them."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    parts = [part for cell in cells for part in _parts(cell)]
    link = f'<a href="{notebook.name}" download>Download this page as a notebook.</a>'
    return "\n\n".join([parts[0], link, *parts[1:]]) + "\n"


def _parts(cell: dict[str, Any]) -> list[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [text]
    shown = [_shown(output) for output in cell["outputs"]]
    return [f"```python\n{text}\n```", *shown]


def _shown(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return _block("".join(output["text"]))
    data = output["data"]
    if "text/html" in data:
        return f"<div>{''.join(data['text/html'])}</div>"
    if "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        return (
            f'{_DARK_PICTURE}<img class="drawn" alt="A chart of the released counts" '
            f'src="data:image/png;base64,{picture}">'
        )
    return _block("".join(data["text/plain"]))


def _block(text: str) -> str:
    style = "border-left: .2rem solid var(--md-primary-fg-color)"  # unlike code
    lines = [textwrap.fill(line, 90) if len(line) > 90 else line for line in text.splitlines()]
    shown = escape("\n".join(lines))
    return f'<pre style="{style}"><code>{shown}</code></pre>'


if __name__ == "__main__":
    run()
