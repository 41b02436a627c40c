"""README.md as a package index shows it, where links into the repository lead nowhere.

With HEADCOUNT_URL set to where the repository's files can be read, links and images are completed
with it. Without it, a link is its text, and an image is left out.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = r"(?!https?://|#|mailto:)([^)\s]+)\)"


def for_index(text: str, url: str | None) -> str:
    """Return the text of README.md without a link that depends on where it lies."""
    if url:
        base = url.rstrip("/")
        return re.sub(rf"(\[[^\]]*\]\(){RELATIVE}", rf"\g<1>{base}/\g<2>)", text)
    text = re.sub(rf"!\[[^\]]*\]\({RELATIVE}\n*", "", text)
    return re.sub(rf"\[([^\]]*)\]\({RELATIVE}", r"\g<1>", text)


class CustomMetadataHook(MetadataHookInterface):
    """Hatchling's way to fill in what pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": for_index(text, os.environ.get("HEADCOUNT_URL")),
        }
