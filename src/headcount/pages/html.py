"""Templates that escape by default, and a policy that forbids the page all requests.

Anyone may have written the names of items, columns and files. In a template, each name passes
through `_inert` and then through HTML escaping. Data for the page's own script is JSON in which no
tag can begin. The policy allows only headcount's own script and style sheet, by their hashes.
"""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from headcount.outputs.escapes import to_json_text, visible
from headcount.privacy.accounting.rounding import shown_above
from headcount.results.provenance import shortened

_HERE = Path(__file__).parent / "templates"


def tidy(text: str) -> str:
    """Return a text with numbers such as 1e-06 written as 1e-6, as people do."""
    return re.sub(r"(?<=\de)([+-])0+(?=\d)", r"\1", text)


def unbroken(text: str) -> Markup:
    """Return a text, escaped, in which no line is broken within a number such as 1e-6."""
    escaped = str(escape(visible(text)))
    whole = re.sub(r"\d[\d.]*e-\d+", r'<span class="whole">\g<0></span>', escaped)
    return Markup(whole)  # noqa: S704 (escaped above)


def _stated(number: float) -> Markup:
    return unbroken(tidy(shown_above(number, 3)) if number else "0")


def _inert(value: object) -> object:
    """Return what a template writes: text without characters that steer how other text is shown."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _json_text(text: str) -> Markup:
    r"""Return JSON for a script element, with the same meaning to a JSON parser.

    ``<`` occurs only in strings, where ``\u003c`` means the same. So no tag or comment can begin.
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
        "unbroken": unbroken,
        "stated": _stated,
        "as_data": lambda value: _json_text(to_json_text(value)),
    }
    return made


def rendered(template: str, *, script: str | None, data: str = "null", **values: Any) -> bytes:  # noqa: ANN401
    """Return a page.

    Args:
        template: the name of its template.
        script: the name of its script, if it has one.
        data: JSON that the script reads.
        values: the variables of the template.
    """
    style = _text("style.css")
    program = None if script is None else _text(script)
    # Nothing is loaded, sent, framed or run except the style and the script in the file itself.
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
