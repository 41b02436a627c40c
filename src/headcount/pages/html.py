"""Templates that escape by default, and a policy that forbids the page every request.

Anybody may have written the names of items, columns and files. In a template, each passes through
`_inert` and then the escaping of HTML; data for the page's own program is JSON in which no tag can
begin; and nothing but headcount's one program and one style sheet, by their hashes, is run or
applied.
"""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from headcount.outputs.escapes import to_json_text, visible
from headcount.privacy.accounting.rounding import shown_above

_HERE = Path(__file__).parent / "templates"

#: Longer names are cut where they are shown; downloads have them whole.
LONGEST = 120


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text that fits into a cell, or into the given number of characters."""
    if len(text) <= longest:
        return text
    return f"{text[: longest - 1]}… ({len(text):,} characters)"


def tidy(text: str) -> str:
    """Return a text with 1e-06 written as 1e-6, as people write it."""
    return re.sub(r"(?<=\de)([+-])0+(?=\d)", r"\1", text)


def _inert(value: object) -> object:
    """Return what a template writes: text in which nothing steers how the rest is shown."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _json_text(text: str) -> Markup:
    r"""Return JSON for a script element, the same to any parser.

    ``<`` occurs in strings only, where ``\u003c`` means the same; so no tag or comment begins.
    """
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 (nothing is left that HTML reads)


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_inert,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "shortened": shortened,
        "tidy": tidy,
        "stated": lambda number: tidy(shown_above(number, 3)) if number else "0",
        "as_data": lambda value: _json_text(to_json_text(value)),
    }
    return made


def rendered(template: str, *, script: str | None, data: str = "null", **values: Any) -> bytes:  # noqa: ANN401
    """Return a page.

    Args:
        template: the name of its template.
        script: the name of its program, if it has one.
        data: JSON that the program reads.
        values: what the template is about.
    """
    style = _text("style.css")
    program = None if script is None else _text(script)
    # Nothing is loaded, sent, framed or run but the style and the program in the file itself.
    policy = [
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        f"script-src '{_hash(program)}'" if program is not None else "script-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    page = _environment().get_template(template)
    text = page.render(
        policy=Markup("; ".join(policy)),  # noqa: S704 (made here, of fixed words and hashes)
        style=Markup(style),  # noqa: S704 (headcount's own)
        program=None if program is None else Markup(program),  # noqa: S704
        data=_json_text(data),
        **values,
    )
    return text.encode()


@cache
def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
